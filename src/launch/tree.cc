#include "launch/tree.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "launch/facts.h"

namespace assay {
namespace {

constexpr size_t kNodeKinds = 6;

enum Role : size_t { kDispatching, kBackward, kOther, kNoCall, kRoles };
constexpr std::string_view kRoleNames[kRoles] = {"dispatching thread", "backward threads",
                                                 "other threads", "no launch call in the trace"};

struct Draft {
  TreeNodeKind kind = TreeNodeKind::kRoot;
  uint32_t parent = 0;  // the root is its own parent
  std::string_view name;
  uint64_t count = 0;
  int64_t host_ns = 0;
  int64_t launch_queue_ns = 0;
  int64_t device_ns = 0;
  uint64_t kernels = 0;
};

// Collapses rows into nodes by their path of names. Parents precede their children.
class TreeBuilder {
 public:
  TreeBuilder(const Trace& trace, const Links& links) : trace_(trace), links_(links) {
    drafts_.push_back({TreeNodeKind::kRoot, 0, "trace", 1, 0, 0, 0, 0});
  }

  std::vector<Draft> build() {
    const std::vector<int64_t> raw = raw_launch_times(trace_, links_);
    find_roles(raw);
    place_ops();
    place_calls();
    place_kernels(raw);
    add_up();
    return std::move(drafts_);
  }

 private:
  void find_roles(const std::vector<int64_t>& raw) {
    std::vector<uint64_t> launches(trace_.threads.size(), 0);
    for (size_t a = 0; a < raw.size(); ++a) {
      if (raw[a] == kNoLaunchTime) continue;
      ++launches[trace_.api_calls.thread[links_.activity_call[a].index()].index()];
    }
    role_of_thread_.assign(trace_.threads.size(), kOther);
    for (size_t o = 0; o < trace_.ops.size(); ++o) {
      const std::string_view name = trace_.text(trace_.ops.name[o]);
      if (name.substr(0, 18) != "autograd::engine::") continue;
      role_of_thread_[trace_.ops.thread[o].index()] = kBackward;
    }
    const ThreadId dispatching = busiest_thread(launches);
    if (dispatching) role_of_thread_[dispatching.index()] = kDispatching;
  }

  uint32_t role_node(Role role) {
    return node(0, TreeNodeKind::kRole, StringId(static_cast<size_t>(role)), kRoleNames[role]);
  }
  uint32_t role_node(ThreadId thread) { return role_node(role_of_thread_[thread.index()]); }

  uint32_t node(uint32_t parent, TreeNodeKind kind, StringId name, std::string_view text) {
    const uint64_t key = uint64_t{parent} << 32 | name.value;
    const auto [known, added] =
        known_[static_cast<size_t>(kind)].emplace(key, static_cast<uint32_t>(drafts_.size()));
    if (added) {
      drafts_.push_back({kind, parent, text, kind == TreeNodeKind::kRole ? 1u : 0u, 0, 0, 0, 0});
    }
    return known->second;
  }

  // Skips a ProfilerStep recorded as an operator: its number would split every path.
  void place_ops() {
    const std::vector<OpId> roots = root_ops(trace_, links_);
    op_node_.resize(trace_.ops.size());
    for (size_t o = 0; o < op_node_.size(); ++o) {
      const OpId parent = links_.op_parent[o];
      const uint32_t above = parent ? op_node_[parent.index()] : role_node(trace_.ops.thread[o]);
      op_node_[o] = above;
      if (!roots[o]) continue;
      const StringId name = trace_.ops.name[o];
      op_node_[o] = node(above, TreeNodeKind::kOp, name, trace_.text(name));
      ++drafts_[op_node_[o]].count;
      drafts_[op_node_[o]].host_ns += trace_.ops.dur_ns[o];
    }
  }

  // A call inside another one (cuLaunchKernel inside cudaLaunchKernel) is its child, so that its
  // time counts once. Rows are sorted by thread, start, longer first.
  void place_calls() {
    const ApiCallTable& calls = trace_.api_calls;
    call_node_.resize(calls.size());
    std::vector<size_t> open;
    for (size_t c = 0; c < calls.size(); ++c) {
      while (!open.empty() && !encloses(open.back(), c)) open.pop_back();
      const OpId op = links_.call_op[c];
      uint32_t above = op ? op_node_[op.index()] : role_node(calls.thread[c]);
      if (!open.empty()) above = call_node_[open.back()];
      call_node_[c] = node(above, TreeNodeKind::kCall, calls.name[c], trace_.text(calls.name[c]));
      ++drafts_[call_node_[c]].count;
      drafts_[call_node_[c]].host_ns += calls.dur_ns[c];
      open.push_back(c);
    }
  }

  bool encloses(size_t outer, size_t inner) const {
    return trace_.api_calls.thread[outer] == trace_.api_calls.thread[inner] &&
           trace_.api_calls.start_ns[inner] < trace_.end_ns(ApiCallId(outer)) &&
           trace_.end_ns(ApiCallId(inner)) <= trace_.end_ns(ApiCallId(outer));
  }

  void place_kernels(const std::vector<int64_t>& raw) {
    for (size_t a = 0; a < raw.size(); ++a) {
      if (!is_kernel(trace_, ActivityId(a))) continue;
      const StringId name = trace_.activities.name[a];
      const uint32_t leaf = node(above_kernel(a), TreeNodeKind::kKernel, name, trace_.text(name));
      Draft& draft = drafts_[leaf];
      ++draft.count;
      ++draft.kernels;
      draft.device_ns += trace_.activities.dur_ns[a];
      if (has_launch_time(raw[a])) draft.launch_queue_ns += launch_time(raw[a]);
    }
  }

  uint32_t above_kernel(size_t activity) {
    if (const ApiCallId call = links_.activity_call[activity]) return call_node_[call.index()];
    if (const OpId op = links_.activity_op[activity]) return op_node_[op.index()];
    return role_node(kNoCall);
  }

  void add_up() {
    for (size_t i = drafts_.size() - 1; i > 0; --i) {
      const Draft& draft = drafts_[i];
      Draft& parent = drafts_[draft.parent];
      parent.launch_queue_ns += draft.launch_queue_ns;
      parent.device_ns += draft.device_ns;
      parent.kernels += draft.kernels;
      const bool has_own_host_time =
          parent.kind == TreeNodeKind::kOp || parent.kind == TreeNodeKind::kCall;
      if (!has_own_host_time) parent.host_ns += draft.host_ns;
    }
  }

  const Trace& trace_;
  const Links& links_;
  std::vector<Role> role_of_thread_;
  std::vector<uint32_t> op_node_;
  std::vector<uint32_t> call_node_;
  std::vector<Draft> drafts_;
  // Per kind of node: (parent, name) to node. Never iterated, so its order does not matter.
  std::array<std::unordered_map<uint64_t, uint32_t>, kNodeKinds> known_;
};

int64_t ordering_value(const Draft& draft, TreeOrder order) {
  switch (order) {
    case TreeOrder::kLaunchQueue:
      return draft.launch_queue_ns;
    case TreeOrder::kDevice:
      return draft.device_ns;
    case TreeOrder::kHost:
      return draft.host_ns;
  }
  return 0;
}

// Orders drafts depth first, largest sibling first.
class TreeLayout {
 public:
  TreeLayout(std::vector<Draft> drafts, const TreeOptions& options)
      : drafts_(std::move(drafts)),
        order_(options.order),
        collapsed_(drafts_.size()),
        children_(drafts_.size()) {
    for (size_t i = 1; i < drafts_.size(); ++i) {
      children_[drafts_[i].parent].push_back(static_cast<uint32_t>(i));
    }
    const auto total = static_cast<double>(ordering_value(drafts_[0], order_));
    for (size_t i = 0; i < collapsed_; ++i) {
      sort_siblings(children_[i]);
      merge_small(static_cast<uint32_t>(i), options.min_share * total);
    }
  }

  CallTree lay_out() {
    CallTree tree;
    // Explicit stack: hostile traces nest a million operators.
    struct Pending {
      uint32_t draft;
      int32_t parent;
      uint32_t depth;
    };
    std::vector<Pending> stack = {{0, -1, 0}};
    while (!stack.empty()) {
      const Pending next = stack.back();
      stack.pop_back();
      const auto self = static_cast<int32_t>(tree.nodes.size());
      tree.nodes.push_back(finish(next.draft, next.parent, next.depth));
      const std::vector<uint32_t>& children = children_[next.draft];
      for (size_t k = children.size(); k-- > 0;) {
        stack.push_back({children[k], self, next.depth + 1});
      }
    }
    const auto kept =
        std::count_if(tree.nodes.begin(), tree.nodes.end(),
                      [](const CallTreeNode& node) { return node.kind != TreeNodeKind::kRest; });
    tree.pruned_nodes = collapsed_ - static_cast<uint64_t>(kept);
    return tree;
  }

 private:
  void sort_siblings(std::vector<uint32_t>& siblings) const {
    const auto key = [&](uint32_t i) {
      const Draft& draft = drafts_[i];
      return std::tuple(-ordering_value(draft, order_), -draft.launch_queue_ns, -draft.device_ns,
                        -draft.host_ns, draft.name, draft.kind);
    };
    std::sort(siblings.begin(), siblings.end(),
              [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
  }

  // Replaces the children below the threshold, which are the last, by one node with their sums.
  void merge_small(uint32_t parent, double threshold) {
    const auto is_large = [&](uint32_t child) {
      return static_cast<double>(ordering_value(drafts_[child], order_)) >= threshold;
    };
    std::vector<uint32_t> kept = children_[parent];
    const auto small = std::partition_point(kept.begin(), kept.end(), is_large);
    if (small == kept.end()) return;
    Draft rest{TreeNodeKind::kRest, parent, "(smaller ones)", 0, 0, 0, 0, 0};
    for (auto child = small; child != kept.end(); ++child) {
      const Draft& draft = drafts_[*child];
      ++rest.count;
      rest.host_ns += draft.host_ns;
      rest.launch_queue_ns += draft.launch_queue_ns;
      rest.device_ns += draft.device_ns;
      rest.kernels += draft.kernels;
    }
    kept.erase(small, kept.end());
    kept.push_back(static_cast<uint32_t>(drafts_.size()));
    children_[parent] = std::move(kept);
    drafts_.push_back(rest);
    children_.emplace_back();
  }

  CallTreeNode finish(uint32_t index, int32_t parent, uint32_t depth) const {
    const Draft& draft = drafts_[index];
    CallTreeNode node;
    node.kind = draft.kind;
    node.name = draft.name;
    node.parent = parent;
    node.depth = depth;
    node.count = draft.count;
    node.host_ns = draft.host_ns;
    node.host_self_ns = draft.host_ns;
    for (uint32_t child : children_[index]) node.host_self_ns -= drafts_[child].host_ns;
    node.launch_queue_ns = draft.launch_queue_ns;
    node.device_ns = draft.device_ns;
    node.kernels = draft.kernels;
    return node;
  }

  std::vector<Draft> drafts_;
  const TreeOrder order_;
  const size_t collapsed_;  // drafts before any was merged
  std::vector<std::vector<uint32_t>> children_;
};

}  // namespace

std::string_view tree_node_kind_name(TreeNodeKind kind) {
  switch (kind) {
    case TreeNodeKind::kRoot:
      return "root";
    case TreeNodeKind::kRole:
      return "role";
    case TreeNodeKind::kOp:
      return "op";
    case TreeNodeKind::kCall:
      return "call";
    case TreeNodeKind::kKernel:
      return "kernel";
    case TreeNodeKind::kRest:
      return "rest";
  }
  return "";
}

Result<CallTree> build_call_tree(const Trace& trace, const Links& links,
                                 const TreeOptions& options) {
  if (!(options.min_share >= 0 && options.min_share <= 1)) {
    return Error{
        ErrorCode::kInvalidArgument, "the pruning share must lie between 0 (keep all) and 1", {}};
  }
  return TreeLayout(TreeBuilder(trace, links).build(), options).lay_out();
}

}  // namespace assay
