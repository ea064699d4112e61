#include "cli/torch_build.h"

#include "base/files.h"
#include "base/child_process.h"
#include "cli/common.h"

namespace assay {
std::string built_folder() {
  const auto folder = user_cache_folder("assay/bin");
  return folder ? *folder : "";
}

bool is_own_program(const std::string& path) { return is_program(path) && check_trusted(path); }

std::string collected_script(const std::string& name) {
  // In a copied folder, from build/PRESET/assay, or installed.
  for (const char* place : {"collect", "../../collect", "../share/assay/collect"}) {
    const std::string script = normal_path(joined(joined(program_folder(), place), name));
    if (is_own_program(script)) return script;
  }
  return "";
}

int build_for_torch(const std::string& what, const std::string& python) {
  const std::string script = collected_script("build_for_torch.sh");
  if (script.empty()) {
    return fail({ErrorCode::kInvalidArgument,
                 "its sources are not next to this program: run collect/build_for_torch.sh of "
                 "Assay's source tree",
                 "", -1});
  }
  const auto folder = user_cache_folder("assay/bin");
  if (!folder) return fail(folder.error());
  const auto built = run_child({script, "--out", *folder, "--python", python, what}, false);
  if (!built) return fail(built.error());
  return built->exit_code == 0 ? kExitFine : kExitError;
}

}  // namespace assay
