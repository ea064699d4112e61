#include "cli/version.h"

namespace assay {

// The one file that changes with every commit.
std::string version_text() {
  const std::string commit = ASSAY_COMMIT;
  return std::string("assay ") + kVersion + (commit.empty() ? "" : " (" + commit + ")");
}

}  // namespace assay
