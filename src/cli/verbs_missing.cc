// Replaces the verbs that start programs, drive a GPU or load libraries, on platforms where that is
// impossible (CMakeLists.txt). Each stays in the help and says what to do instead.
#include <fmt/format.h>

#include "cli/common.h"
#include "cli/options.h"
#include "cli/verbs.h"

namespace assay {
namespace {

void add_missing_verb(Verb& app, int& exit_code, const std::string& name) {
  Verb& sub = app.verb(name, "Not in this build: install Assay for Linux");
  sub.takes_anything();
  sub.run([&exit_code, name] {
    exit_code = fail({ErrorCode::kUnsupported,
                      fmt::format("{} needs the operating system, which this build for node and browsers does not "
                                  "have. Install Assay for Linux",
                                  name),
                      "", -1});
  });
}

}  // namespace

void add_sample_verb(Verb& app, int& exit_code) { add_missing_verb(app, exit_code, "sample"); }
void add_replay_verb(Verb& app, int& exit_code) { add_missing_verb(app, exit_code, "replay"); }
void add_record_verb(Verb& app, int& exit_code) { add_missing_verb(app, exit_code, "record"); }
void add_null_kernel_verb(Verb& app, int& exit_code) { add_missing_verb(app, exit_code, "null-kernel"); }
void add_sql_verb(Verb& app, int& exit_code) { add_missing_verb(app, exit_code, "sql"); }
void add_serve_verb(Verb& app, int& exit_code) { add_missing_verb(app, exit_code, "serve"); }
void add_mcp_verb(Verb& app, int& exit_code) { add_missing_verb(app, exit_code, "mcp"); }
void add_doctor_verb(Verb& app, int& exit_code) { add_missing_verb(app, exit_code, "doctor"); }
void add_power_sweep_verb(Verb& power, int& exit_code) { add_missing_verb(power, exit_code, "sweep"); }
void add_power_run_verbs(Verb& power, int& exit_code) {
  add_missing_verb(power, exit_code, "run");
  add_missing_verb(power, exit_code, "calibrate");
}

}  // namespace assay
