#include "cli/telemetry_flags.h"

#include <utility>

#include "answers/inputs/name_value.h"
#include "base/decimal.h"
#include "base/latest_time.h"
#include "cli/options.h"

namespace assay {
namespace {

constexpr int64_t kMinute = 60'000'000'000;
constexpr const char* kGpuForm =
    "GPU=DEVICE, the number in the trace and the name or uuid in the log";

Error bad_flag(const std::string& text) { return Error{ErrorCode::kInvalidArgument, text, "", -1}; }

// Parses "UTC", "+02:00", "-5", "+0530"; nanoseconds east of UTC.
Result<int64_t> parse_zone(const std::string& text) {
  const Error bad = bad_flag("--telemetry-zone " + text + ": UTC, or hours such as +02:00 or -5");
  if (text == "UTC" || text == "utc" || text == "Z") return int64_t{0};
  if (text.size() < 2 || (text[0] != '+' && text[0] != '-')) return bad;
  std::string digits = text.substr(1);
  const size_t colon = digits.find(':');
  if (colon == std::string::npos && digits.size() == 4) digits.insert(2, ":");
  const size_t split = digits.find(':');
  int64_t hours = 0;
  int64_t minutes = 0;
  const bool fine = parse_int64(digits.substr(0, split), hours) &&
                    (split == std::string::npos || parse_int64(digits.substr(split + 1), minutes));
  constexpr int64_t kMostHours = 14;
  if (!fine || hours < 0 || hours > kMostHours || minutes < 0 || minutes > 59) return bad;
  return (text[0] == '-' ? -1 : 1) * (hours * 60 + minutes) * kMinute;
}

Result<TelemetryOptions> parse_options(const TelemetryFlags& flags) {
  TelemetryOptions options;
  ASSAY_TRY_ASSIGN(options.zone_ns, parse_zone(flags.zone));
  if (flags.offset == "start") {
    options.at_start = true;
  } else if (!flags.offset.empty()) {
    DecimalShape shape;
    if (parse_decimal(flags.offset, 9, options.offset_ns, shape) != DecimalStatus::kOk ||
        options.offset_ns > kLatestNs || options.offset_ns < -kLatestNs) {
      return bad_flag("--telemetry-offset " + flags.offset + ": seconds, or the word start");
    }
    options.offset_told = true;
  }
  for (const std::string& pair : flags.gpus) {
    ASSAY_TRY_ASSIGN(const auto named, split_name_value("--telemetry-gpu", pair, kGpuForm));
    int64_t gpu = 0;
    if (!parse_int64(named.first, gpu)) {
      return bad_flag("--telemetry-gpu " + pair + ": write it as " + kGpuForm);
    }
    options.device_of[gpu] = named.second;
  }
  return options;
}

}  // namespace

void add_telemetry_options(Verb& verb, TelemetryFlags& flags) {
  verb.option("--telemetry", flags.files,
              "logs of cores and GPUs from the time of the trace: assay sample, nvidia-smi, "
              "AMDuProf, Chopper (docs/formats/telemetry.md); may be given again")
      .called("FILE")
      .one_per_mention();
  verb.option("--telemetry-offset", flags.offset,
              "seconds to add to their times, or start: they begin with the trace's first "
              "device work")
      .called("SECONDS")
      .needs({"--telemetry"});
  verb.option("--telemetry-zone", flags.zone, "time zone of logs in local time, e.g. +02:00")
      .called("ZONE")
      .shows_default()
      .needs({"--telemetry"});
  verb.option("--telemetry-gpu", flags.gpus,
              "which device of the log a GPU of the trace is, e.g. 0=GPU-1b2c (default: the "
              "same number); may be given again")
      .called("GPU=DEVICE")
      .one_per_mention()
      .needs({"--telemetry"});
}

Result<TelemetryRequest> telemetry_request(const TelemetryFlags& flags) {
  ASSAY_TRY_ASSIGN(TelemetryOptions options, parse_options(flags));
  return TelemetryRequest{flags.files, std::move(options)};
}

}  // namespace assay
