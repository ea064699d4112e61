#include "cli/torch_build.h"

#include "base/files.h"
#include "cli/child_process.h"
#include "cli/common.h"

namespace assay {
namespace {

// Beside the program (as a folder that was copied has it), in the source tree that it was built in
// (build/PRESET/assay), or where it is installed.
std::string find_build_script() {
  for (const char* place : {"collect", "../../collect", "../share/assay/collect"}) {
    const std::string script =
        normal_path(joined(joined(program_folder(), place), "build_for_torch.sh"));
    if (is_own_program(script)) return script;
  }
  return "";
}

}  // namespace

std::string built_folder() {
  const auto folder = user_cache_folder("assay/bin");
  return folder ? *folder : "";
}

bool is_own_program(const std::string& path) { return is_program(path) && check_trusted(path); }

int build_for_torch(const std::string& what, const std::string& python) {
  const std::string script = find_build_script();
  if (script.empty()) {
    return fail({ErrorCode::kInvalidArgument,
                 "its sources are not beside this program: run collect/build_for_torch.sh of "
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
