#include <algorithm>
#include <cmath>
#include <memory>

#include "answers/inputs/name_value.h"
#include "answers/power_sweep.h"
#include "cli/common.h"
#include "cli/options.h"
#include "cli/verbs.h"

namespace assay {
namespace {

struct SweepVerb : PowerSweepRequest {
  CommonOptions common;
  std::vector<std::string> traces;
  std::vector<std::string> logs;
  double within_s = -1;
};

Error bad_sweep(std::string message) {
  return Error{ErrorCode::kInvalidArgument, std::move(message), "", -1};
}

// Every setting has its own trace and power log.
Status read_settings(SweepVerb& verb) {
  for (const std::string& text : verb.traces) {
    ASSAY_TRY_ASSIGN(const auto entry, split_name_value("--setting", text, "NAME=TRACE"));
    verb.settings.push_back({entry.first, entry.second, {}});
  }
  for (const std::string& text : verb.logs) {
    ASSAY_TRY_ASSIGN(const auto entry, split_name_value("--samples", text, "NAME=LOG"));
    const auto at =
        std::find_if(verb.settings.begin(), verb.settings.end(),
                     [&](const PowerSetting& setting) { return setting.name == entry.first; });
    if (at == verb.settings.end())
      return bad_sweep("--samples " + text + ": no --setting has this name");
    if (!at->samples.empty())
      return bad_sweep("--samples " + text + ": this setting has a log already");
    at->samples = entry.second;
  }
  for (const PowerSetting& setting : verb.settings) {
    if (setting.samples.empty()) {
      return bad_sweep("--setting " + setting.name + ": its power log is missing: --samples " +
                       setting.name + "=LOG");
    }
  }
  return Ok{};
}

int run_sweep(SweepVerb& verb) {
  if (Status status = read_settings(verb); !status) return fail(status.error());
  verb.attribute.traces = traces_of(verb.common);
  if (verb.within_s >= 0) {
    verb.attribute.options.sensor.offset_within_ns = std::llround(verb.within_s * 1e9);
  }
  return write_answer(answer_power_sweep(verb), verb.common);
}

}  // namespace

void add_power_sweep_verb(Verb& power, int& exit_code) {
  auto verb = std::make_shared<SweepVerb>();
  Verb& sub = power.verb("sweep",
                         "Compare power caps or clocks: energy, time and their product per "
                         "iteration of the same work");
  add_common_options(sub, verb->common, false);
  sub.option("--setting", verb->traces,
             "a cap or clock: its name, and a trace of the work under it; the first one is the "
             "baseline")
      .required()
      .called("NAME=TRACE")
      .one_value_each();
  sub.option("--samples", verb->logs, "the power log of a setting's trace, as of attribute")
      .required()
      .called("NAME=LOG")
      .one_value_each();
  sub.option("--column", verb->attribute.column,
             "column, metric or rail of the logs to read, e.g. power.draw");
  sub.option("--gpu", verb->attribute.gpu, "device of the logs, where they have several");
  sub.option("--interleaved-gpus", verb->attribute.gpus,
             "that wrote each log in turn, where no column says which row is of which; default: "
             "found from the rows")
      .between(1, 64);
  sub.option("--device", verb->attribute.options.device,
             "only kernels of this device of the traces; default: all");
  sub.option("--offset-search", verb->within_s,
             "uncertainty of the logs' offset, either way, in seconds; 0: exact")
      .between(0.0, 3600.0)
      .called("SECONDS");
  sub.option("--seed", verb->attribute.options.seed, "of the search").shows_default();
  sub.run([verb, &exit_code] { exit_code = run_sweep(*verb); });
}

}  // namespace assay
