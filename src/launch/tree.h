#pragma once

// The operator -> runtime call -> kernel graph (SKIP section IV-A), collapsed like a profiler's
// call tree: rows with the same path of names are one node. Also the uncollapsed graph, one row per
// kernel.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trace/iterations.h"
#include "trace/links.h"
#include "trace/trace.h"

namespace assay {

enum class TreeNodeKind : uint8_t {
  kRoot,  // the trace
  kRole,  // threads of one role
  kOp,
  kCall,
  kKernel,
  kRest,  // siblings below the pruning threshold, merged
};
std::string_view tree_node_kind_name(TreeNodeKind kind);

enum class TreeOrder : uint8_t { kLaunchQueue, kDevice, kHost };

struct TreeOptions {
  TreeOrder order = TreeOrder::kLaunchQueue;
  // Nodes below this share of the total of the ordering number are merged into one kRest sibling
  // per parent, so that sums stay exact. 0 = keep all.
  double min_share = 0;
};

// Numbers are inclusive of the children. For every node and each of host_ns, launch_queue_ns,
// device_ns, kernels: value = self + sum over children, exactly. Only kernel nodes (and kRest) have
// launch+queue and device time of their own. host_self_ns can be negative where sibling operators
// overlap, which only malformed traces have (LinkStats::overlap_split, overlap_tolerated).
struct CallTreeNode {
  TreeNodeKind kind = TreeNodeKind::kRoot;
  std::string name;
  int32_t parent = -1;  // index into CallTree::nodes; -1 = root
  uint32_t depth = 0;   // 0 = root
  uint64_t count = 0;   // rows merged into it; for kRest, nodes merged; 1 for kRoot and kRole
  int64_t host_ns = 0;  // operators and calls
  int64_t host_self_ns = 0;
  int64_t launch_queue_ns = 0;  // summed t_l of the launches below
  int64_t device_ns = 0;        // summed duration of the kernels below
  uint64_t kernels = 0;
};

struct CallTree {
  std::vector<CallTreeNode> nodes;  // depth first, children by the ordering number, descending
  uint64_t pruned_nodes = 0;        // merged into kRest nodes, their descendants included
};

// Roles: the dispatching thread, threads that run backward nodes, other threads, and kernels
// without a launch call. Fails on min_share outside [0, 1].
Result<CallTree> build_call_tree(const Trace& trace, const Links& links,
                                 const TreeOptions& options);

// One kernel with its launch call and operators. Names are ids into Trace::strings; kNone = none.
struct KernelRow {
  ActivityId kernel;
  StringId kernel_name;
  StringId call_name;
  StringId root_op;           // outermost operator
  StringId parent_op;         // innermost operator
  int64_t call_start_ns = 0;  // 0 when call_name is none
  int64_t kernel_start_ns = 0;
  int64_t launch_queue_ns =
      -1;  // t_l; -1 = has none (unlinked, not the first of its launch, dropped)
  int64_t dur_ns = 0;
  StreamId stream;
  int32_t iteration = -1;  // index into Windows::windows; -1 = outside all
};

// All kernels, by device start, then row.
std::vector<KernelRow> list_kernels(const Trace& trace, const Links& links, const Windows& windows);

}  // namespace assay
