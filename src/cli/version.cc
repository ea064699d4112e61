#include "cli/version.h"

namespace assay {

// Only this file is recompiled for every commit.
std::string version_text() {
  const std::string commit = ASSAY_COMMIT;
  return std::string("assay ") + kVersion + (commit.empty() ? "" : " (" + commit + ")");
}

}  // namespace assay
