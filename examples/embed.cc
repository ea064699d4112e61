// Assay inside another program: opens a trace, prints the verdict and one table.
//   embed examples/h100_vit_inference.json.gz
#include <cstdio>
#include <string>

#include "answers/report.h"
#include "report/writers/writers.h"

int main(int count, char** arguments) {
  assay::ReportRequest request;
  request.traces.inputs.assign(arguments + 1, arguments + count);
  request.top = 5;
  const assay::Result<assay::Answer> answer = assay::answer_report(request);
  if (!answer) {
    std::fprintf(stderr, "%s\n", answer.error().describe().c_str());
    return 1;
  }
  assay::Document brief;  // of all that the answer holds
  brief.verdict = answer->document.verdict;
  for (const assay::Section& section : answer->document.sections) {
    for (const assay::Block& block : section.blocks) {
      const auto* table = std::get_if<assay::Table>(&block);
      if (table != nullptr && table->key == "top_kernels")
        brief.sections.push_back({"", "", {*table}});
    }
  }
  std::fputs(assay::write_terminal(brief, {.width = 100, .utf8 = false}).c_str(), stdout);
}
