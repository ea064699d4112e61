#include "cli/input_files.h"

#include <fmt/format.h>

#include <cstdio>

#include "ingest/load.h"
#include "report/document/text.h"

namespace assay {

Result<std::vector<std::string>> input_files(const std::vector<std::string>& arguments) {
  std::vector<std::string> timelines;
  auto files = expand_inputs(arguments, &timelines);
  for (const std::string& timeline : timelines) {
    fmt::print(stderr, "assay: skipped {}: a timeline that Assay wrote; give its name to read it\n",
               clean_text(timeline));
  }
  return files;
}

}  // namespace assay
