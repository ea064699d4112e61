#include <CLI/CLI.hpp>
#include <map>
#include <memory>

#include "answers/launch.h"
#include "cli/common.h"
#include "cli/verbs.h"

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

int run(const LaunchVerb& verb) {
  LaunchRequest request{.traces = traces_of(verb.common),
                        .floor = verb.floor,
                        .top = verb.top,
                        .count_copies = verb.count_copies,
                        .graph = verb.graph,
                        .timelines = wants_page(verb.common)};
  if (verb.tree) {
    request.tree = {.order = kTreeOrders.at(verb.tree_order), .min_share = verb.min_share};
  }
  return write_answer(answer_launch(request), verb.common);
}

}  // namespace

void add_launch_verb(CLI::App& app, int& exit_code) {
  auto verb = std::make_shared<LaunchVerb>();
  CLI::App* sub = app.add_subcommand(
      "launch",
      "How work reaches the GPU: launch and queue time, idle time, most launched kernels");
  add_common_options(*sub, verb->common, true);
  sub->add_option(
      "--floor", verb->floor,
      "launch time of an empty kernel: nanoseconds, a floor file, or a published platform "
      "such as Intel+H100; default: published for this board, else estimated");
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
  sub->callback([verb, &exit_code] { exit_code = run(*verb); });
}

}  // namespace assay
