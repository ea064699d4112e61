// For platforms that cannot run child processes.

#include "base/child_process.h"

namespace assay {

Result<ChildResult> run_child(const std::vector<std::string>& argv, bool /*keep_output*/) {
  return Error{ErrorCode::kUnsupported, "cannot be run here", argv[0], -1};
}

std::string find_on_path(const std::string& /*name*/) { return {}; }

}  // namespace assay
