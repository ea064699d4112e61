#pragma once

// `--perfetto`: the file that PerfettoWriter fills, compressed where its name says so.

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
  // inputs: files that will be read; the file must be none of them, nor `document`, where the
  // report goes. Fails before any work where nothing can be written.
  static Result<TimelineFile> open(const std::string& path, const std::vector<std::string>& inputs,
                                   const std::string& document);

  Status add(const Trace& trace, const Links& links, const Timeline& timeline);
  // The file appears under its name.
  Status finish();
  // Its content in one sentence.
  std::string describe() const;

 private:
  struct State;
  explicit TimelineFile(std::shared_ptr<State> state) : state_(std::move(state)) {}

  std::shared_ptr<State> state_;
};

}  // namespace assay
