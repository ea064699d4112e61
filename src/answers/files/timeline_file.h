#pragma once

// `--perfetto`: the file that PerfettoWriter writes, compressed if its name says so.

#include <memory>
#include <string>
#include <vector>

#include "base/deflate.h"
#include "base/output_file.h"
#include "base/result.h"
#include "report/perfetto/writer.h"

namespace assay {

class TimelineFile {
 public:
  // inputs: files that will be read. Errors: the path is one of them or `document` (the path of the
  // report), or cannot be written. Fails before any work is done.
  static Result<TimelineFile> open(const std::string& path, const std::vector<std::string>& inputs,
                                   const std::string& document);

  Status add(const Trace& trace, const Links& links, const Timeline& timeline);
  // Completes the file and renames it to its final path.
  Status finish();
  // Its content in one sentence.
  std::string describe() const;

 private:
  struct State;
  explicit TimelineFile(std::shared_ptr<State> state) : state_(std::move(state)) {}

  std::shared_ptr<State> state_;
};

}  // namespace assay
