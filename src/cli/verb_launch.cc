#include <CLI/CLI.hpp>
#include <map>
#include <memory>

#include "cli/common.h"
#include "cli/verbs.h"
#include "launch/tree.h"
#include "report/launch/charts.h"
#include "report/sections.h"

namespace assay {
namespace {

struct LaunchVerb {
  CommonOptions common;
  std::string floor;
  size_t top = 10;
  bool count_copies = false;
  bool tree = false;
  std::string tree_order = "launch";
  double min_share = 0.01;
  bool graph = false;
};

const std::map<std::string, TreeOrder> kTreeOrders = {{"launch", TreeOrder::kLaunchQueue},
                                                      {"device", TreeOrder::kDevice},
                                                      {"host", TreeOrder::kHost}};

Result<TraceContent> analyze(const LaunchVerb& verb, const LoadedTrace& loaded) {
  PhaseClock clock(verb.common.perf);
  ASSAY_TRY_ASSIGN(const FloorChoice floor, parse_floor(verb.floor, &loaded.trace));
  const LaunchOptions options{.floor_ns = floor.floor_ns,
                              .floor_source = floor.source,
                              .count_copies = verb.count_copies,
                              .top_kernels = verb.top,
                              .kernels = loaded.kernels};
  ASSAY_TRY_ASSIGN(const LaunchReport launch,
                   analyze_launch(loaded.trace, loaded.links, loaded.windows, options));
  clock.mark("launch");
  TraceContent content;
  content.overview = launch_overview(launch.whole);
  content.sections.push_back(launch_section(launch, verb.top));
  if (wants_page(verb.common)) {
    add_launch_timelines(loaded.trace, loaded.links, loaded.windows, launch,
                         content.sections.back());
  }
  if (verb.tree) {
    const TreeOptions tree{.order = kTreeOrders.at(verb.tree_order), .min_share = verb.min_share};
    ASSAY_TRY_ASSIGN(const CallTree calls, build_call_tree(loaded.trace, loaded.links, tree));
    content.sections.push_back(tree_section(calls));
  }
  if (verb.graph) {
    content.sections.push_back(kernel_rows_section(
        loaded.trace, loaded.windows, list_kernels(loaded.trace, loaded.links, loaded.windows)));
  }
  content.sections.push_back(
      trust_section(all_notes(loaded.trace.log, {launch.trust, floor.notes})));
  if (launch.whole.kernels == 0) {
    content.verdict = {no_kernels_words(loaded.trace)};
    for (Section& section : content.sections) hide_from_readers(section);
  }
  return content;
}

}  // namespace

void add_launch_verb(CLI::App& app, int& exit_code) {
  auto verb = std::make_shared<LaunchVerb>();
  CLI::App* sub = app.add_subcommand(
      "launch",
      "How work reaches the GPU: launch and queue time, idle time, most launched kernels");
  add_common_options(*sub, verb->common, true);
  sub->add_option("--floor", verb->floor,
                  "launch time of an empty kernel: nanoseconds, or a published platform such as "
                  "Intel+H100; default: estimated from the trace");
  sub->add_option("--top", verb->top, "kernels listed; 0 = all")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  sub->add_flag("--count-copies", verb->count_copies, "copies and fills also make the GPU busy");
  sub->add_flag("--tree", verb->tree, "the operator, call and kernel tree, collapsed by name");
  sub->add_option("--tree-order", verb->tree_order, "order of the tree: launch, device or host")
      ->check(CLI::IsMember({"launch", "device", "host"}))
      ->capture_default_str();
  sub->add_option("--min-share", verb->min_share, "merge tree nodes below this share of the total")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  sub->add_flag("--graph", verb->graph, "every kernel with its call and operators, one row each");
  sub->callback([verb, &exit_code] {
    exit_code = run_over_inputs(verb->common, "Launch", [verb](const LoadedTrace& loaded) {
      return analyze(*verb, loaded);
    });
  });
}

}  // namespace assay
