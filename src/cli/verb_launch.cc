#include <map>
#include <memory>

#include "answers/launch.h"
#include "cli/common.h"
#include "cli/options.h"
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

void add_launch_verb(Verb& app, int& exit_code) {
  auto verb = std::make_shared<LaunchVerb>();
  Verb& sub =
      app.verb("launch",
               "How work reaches the GPU: launch and queue time, idle time, most launched kernels");
  sub.example("assay launch trace.json.gz");
  sub.example("assay launch trace.json.gz --graph --top 20", "who launched what");
  add_common_options(sub, verb->common, true);
  add_figure_option(sub, verb->common);
  sub.option("--floor", verb->floor,
             "launch time of an empty kernel: nanoseconds, a file of assay null-kernel, or a "
             "platform such as Intel+H100. Default: published for this board, else estimated")
      .called("FLOOR");
  sub.option("--top", verb->top, "kernels listed; 0 = all").at_least_zero().shows_default();
  sub.flag("--include-copies", verb->count_copies, "copies and fills also make the GPU busy");
  sub.flag("--tree", verb->tree, "the operator, call and kernel tree, collapsed by name");
  sub.option("--tree-order", verb->tree_order, "order of the tree: launch, device or host")
      .one_of({"launch", "device", "host"})
      .shows_default()
      .needs({"--tree"});
  sub.option("--min-share", verb->min_share, "merge tree nodes below this share of the total")
      .between(0.0, 1.0)
      .shows_default()
      .needs({"--tree"});
  sub.flag("--graph", verb->graph, "every kernel with its call and operators, one row each");
  sub.run([verb, &exit_code] { exit_code = run(*verb); });
}

}  // namespace assay
