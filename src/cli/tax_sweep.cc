#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "cli/name_value.h"
#include "cli/sweep_names.h"
#include "cli/tax_flags.h"
#include "report/tax/section.h"

namespace assay {
namespace {

struct SweepInputs {
  Document& document;
  TrustNotes trust;
  bool data_lost = false;
};

struct SweepArgument {
  PointLabel label;
  std::string path;
};

Result<SweepArgument> parse_argument(const std::string& flag, const std::string& argument) {
  ASSAY_TRY_ASSIGN(
      auto named,
      split_name_value(flag, argument, "SIZE=TRACE, e.g. 8=b8.json.gz or 4x2048=b4s2048.json.gz"));
  auto label = parse_point_label(named.first);
  if (!label) {
    Error error = label.take_error();
    error.message = fmt::format("{} {}: {}", flag, argument, error.message);
    return error;
  }
  return SweepArgument{*label, std::move(named.second)};
}

Result<TaxPoint> add_trace(const SweepArgument& argument, const TaxFlags& flags,
                           const TaxOptions& setup, SweepInputs& inputs) {
  ASSAY_TRY_ASSIGN(const LoadedTrace loaded, load_input(argument.path, flags.common));
  ASSAY_TRY_ASSIGN(const FloorChoice floor, parse_floor(flags.floor, &loaded.trace));
  ASSAY_TRY_ASSIGN(const TaxReport report, analyze_tax(loaded.trace, loaded.links, loaded.windows,
                                                       tax_options(setup, floor, loaded)));
  std::vector<Item> items = trace_items(loaded.trace);
  items.insert(items.begin(), {"batch", "batch", size_value(argument.label.batch)});
  if (argument.label.seq_len > 0) {
    items.insert(items.begin() + 1, {"seq_len", "length", size_value(argument.label.seq_len)});
  }
  inputs.document.inputs.push_back({argument.path, std::move(items)});
  inputs.data_lost |= loaded.trace.log.data_lost();
  for (TrustNote note : all_notes(loaded.trace.log, {report.trust, floor.notes})) {
    note.effect = fmt::format("{}: {}", argument.path, note.effect);
    inputs.trust.push_back(std::move(note));
  }
  return point_of(report, argument.label.batch, argument.label.seq_len);
}

Result<TaxPlatform> load_platform(const std::string& name, const std::string& flag,
                                  const std::vector<std::string>& arguments, const TaxFlags& flags,
                                  const TaxOptions& setup, SweepInputs& inputs) {
  TaxPlatform platform{name, {}};
  ASSAY_TRY_ASSIGN(const std::vector<std::string> expanded, expand_sweep(flag, arguments));
  for (const std::string& text : expanded) {
    ASSAY_TRY_ASSIGN(const SweepArgument argument, parse_argument(flag, text));
    for (const TaxPoint& point : platform.points) {
      if (point.batch == argument.label.batch && point.seq_len == argument.label.seq_len) {
        return Error{ErrorCode::kInvalidArgument,
                     fmt::format("{} {}: this size is there already; repeats of a run belong into "
                                 "one trace as iterations",
                                 flag, text),
                     "", -1};
      }
    }
    ASSAY_TRY_ASSIGN(TaxPoint point, add_trace(argument, flags, setup, inputs));
    platform.points.push_back(std::move(point));
  }
  std::sort(platform.points.begin(), platform.points.end(),
            [](const TaxPoint& a, const TaxPoint& b) {
              return std::tie(a.seq_len, a.batch) < std::tie(b.seq_len, b.batch);
            });
  return platform;
}

Status fill_document(const TaxFlags& flags, const TaxOptions& setup, SweepInputs& inputs) {
  std::vector<TaxPlatform> platforms;
  ASSAY_TRY_ASSIGN(TaxPlatform first,
                   load_platform(flags.name, "--batch", flags.batches, flags, setup, inputs));
  platforms.push_back(std::move(first));
  if (!flags.vs_batches.empty()) {
    ASSAY_TRY_ASSIGN(TaxPlatform second,
                     load_platform(flags.vs_name, "--vs", flags.vs_batches, flags, setup, inputs));
    platforms.push_back(std::move(second));
  }
  inputs.document.verdict = tax_sweep_words(platforms);
  inputs.document.sections = {tax_sweep_section(platforms), trust_section(inputs.trust)};
  return Ok{};
}

}  // namespace

int run_tax_sweep(const TaxFlags& flags, const TaxOptions& setup) {
  Document document = new_document("Tax");
  SweepInputs inputs{document, {}, false};
  if (Status status = fill_document(flags, setup, inputs); !status) return fail(status.error());
  return write_document(document, flags.common, inputs.data_lost);
}

}  // namespace assay
