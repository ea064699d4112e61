#pragma once

// Operations and layers from the nn.Module frames of a profile with stacks ("nn.Module: Class_k"
// around the forward of each module). These frames lack attribute names (q_proj). The role of a
// Linear is inferred from its class, its position among its siblings and the enclosing module.

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "breakdown/nested_spans.h"
#include "trace/trace.h"

namespace assay {

class Modules {
 public:
  explicit Modules(const Trace& trace);

  struct Place {
    bool found = false;
    bool leaf = false;       // has no child modules
    bool llama = false;      // `op` is a name of the paper's list
    int32_t layer = -1;      // index in the stack
    std::string_view stack;  // name of the stack
    std::string_view cls;    // class of the innermost module
    std::string_view op;     // path below the layer, or the paper's name
    std::string_view path;   // path below the layer
    int64_t start_ns = 0;    // start of the innermost module call
    uint32_t instance = UINT32_MAX;
  };
  // The innermost module on `thread` at `time_ns`.
  Place at(ThreadId thread, int64_t time_ns) const;
  bool empty() const { return spans_.empty(); }
  int64_t layers() const { return layers_; }
  // Class name such as "Qwen2DecoderLayer"; empty if there are no layers.
  const std::string& layer_class() const { return layer_class_; }
  // The paper's name for an operator that a module of a Llama-like layer calls directly instead of
  // through a child module; empty if there is none.
  std::string_view llama_inner_op(const Place& place, ThreadId thread, int64_t time_ns,
                                  std::string_view op_name) const;

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  enum class Role : uint8_t { kNone, kLayer, kAttention, kMlp };

  // One module object; all its calls have the name "Class_k".
  struct Instance {
    std::string_view cls;
    int32_t number = -1;
    uint32_t parent = kNone;  // calling module, skipping containers
    bool container = false;
    bool has_children = false;
    bool repeats = false;    // has a sibling of its class
    uint32_t layer = kNone;  // outermost repeating module that is or encloses it
    uint32_t ordinal = 0;    // among siblings of its class
    uint32_t siblings = 1;   // siblings of its class, including itself
    Role role = Role::kNone;
    std::string path;
    std::string op;
    std::string stack;  // for a layer: its class, with its container's class if ambiguous
    bool llama = false;
  };

  void read_instances(const Trace& trace);
  void link_instances();
  void find_layers();
  void drop_pairs(std::set<uint32_t>& layers);
  void name_stacks(const std::set<uint32_t>& layers);
  void name_operations();
  std::string path_of(uint32_t instance) const;
  std::string llama_name(uint32_t instance) const;
  bool is_llama_layer(uint32_t layer) const;

  NestedSpans spans_;
  std::vector<uint32_t> instance_of_;  // per span
  std::vector<Instance> instances_;
  std::vector<std::vector<uint32_t>> children_;
  std::vector<uint8_t> llama_layer_;                      // per instance
  std::vector<std::pair<ThreadId, int64_t>> mlp_starts_;  // calls of MLP modules, sorted
  std::string layer_class_;
  int64_t layers_ = 0;
};

}  // namespace assay
