#include "breakdown/modules.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>
#include <tuple>

#include "base/ascii.h"

namespace assay {
namespace {

// Minimum number of siblings of a class that are certainly a layer stack.
constexpr size_t kLeastStack = 4;

constexpr std::string_view kPrefix = "nn.Module: ";

// True for modules that only contain others: wrappers of parallelism, checkpointing, compilers.
bool is_container(std::string_view cls) {
  constexpr std::array<std::string_view, 6> kNames = {"Sequential",   "ModuleList", "ModuleDict",
                                                      "DataParallel", "DDP",        "GraphModule"};
  constexpr std::array<std::string_view, 4> kParts = {"Wrapper", "DataParallel", "FSDP",
                                                      "OptimizedModule"};
  return std::find(kNames.begin(), kNames.end(), cls) != kNames.end() ||
         std::any_of(kParts.begin(), kParts.end(), [cls](std::string_view part) {
           return cls.find(part) != std::string_view::npos;
         });
}

bool is_linear(std::string_view cls) { return contains(cls, "Linear"); }
bool is_rms_norm(std::string_view cls) { return contains(cls, "RMSNorm"); }

}  // namespace

Modules::Modules(const Trace& trace) {
  read_instances(trace);
  link_instances();
  find_layers();
  name_operations();
}

void Modules::read_instances(const Trace& trace) {
  std::vector<uint8_t> is_module(trace.strings.size());
  bool any = false;
  for (size_t s = 0; s < is_module.size(); ++s) {
    is_module[s] = trace.text(StringId(s)).starts_with(kPrefix) ? 1 : 0;
    any |= is_module[s] != 0;
  }
  if (!any) return;
  std::vector<NestedSpan> spans;
  for (size_t f = 0; f < trace.frames.size(); ++f) {
    const StringId name = trace.frames.name[f];
    if (is_module[name.index()] == 0) continue;
    const int64_t start_ns = trace.frames.start_ns[f];
    spans.push_back({start_ns, start_ns + trace.frames.dur_ns[f], trace.frames.thread[f], name});
  }
  spans_ = NestedSpans(std::move(spans), trace.threads.size());

  std::vector<uint32_t> by_name(trace.strings.size(), kNone);
  instance_of_.reserve(spans_.size());
  for (const NestedSpan& span : spans_.all()) {
    uint32_t& instance = by_name[span.name.index()];
    if (instance == kNone) {
      instance = static_cast<uint32_t>(instances_.size());
      Instance added;
      std::string_view text = trace.text(span.name).substr(kPrefix.size());
      const size_t bar = text.rfind('_');
      if (bar != std::string_view::npos) {
        std::from_chars(text.data() + bar + 1, text.data() + text.size(), added.number);
        if (added.number >= 0) text = text.substr(0, bar);
      }
      added.cls = text;
      added.container = is_container(text);
      instances_.push_back(added);
    }
    instance_of_.push_back(instance);
  }
}

// Sets the calling module of each module, from its first call that has a caller. Recomputation
// calls modules outside the modules that enclose them in the forward pass.
void Modules::link_instances() {
  for (uint32_t s = 0; s < spans_.size(); ++s) {
    Instance& instance = instances_[instance_of_[s]];
    if (instance.parent != kNone) continue;
    uint32_t up = spans_[s].parent;
    while (up != NestedSpans::kNone && instances_[instance_of_[up]].container)
      up = spans_[up].parent;
    if (up != NestedSpans::kNone && instance_of_[up] != instance_of_[s]) {
      instance.parent = instance_of_[up];
    }
  }
  children_.resize(instances_.size());
  for (uint32_t i = 0; i < instances_.size(); ++i) {
    // Break cycles: a module that calls itself through others gets no parent.
    uint32_t up = instances_[i].parent;
    for (size_t steps = 0; up != kNone && up != i && steps < 64; ++steps)
      up = instances_[up].parent;
    if (up != kNone) instances_[i].parent = kNone;
  }
  std::map<std::pair<uint32_t, std::string_view>, std::vector<uint32_t>> siblings;
  for (uint32_t i = 0; i < instances_.size(); ++i) {
    const Instance& instance = instances_[i];
    if (instance.container) continue;
    siblings[{instance.parent, instance.cls}].push_back(i);
    if (instance.parent == kNone) continue;
    children_[instance.parent].push_back(i);
    instances_[instance.parent].has_children = true;
  }
  for (auto& [key, members] : siblings) {
    std::sort(members.begin(), members.end(), [this](uint32_t a, uint32_t b) {
      return instances_[a].number < instances_[b].number;
    });
    for (uint32_t k = 0; k < members.size(); ++k) {
      instances_[members[k]].ordinal = k;
      instances_[members[k]].siblings = static_cast<uint32_t>(members.size());
      instances_[members[k]].repeats = key.first != kNone && members.size() > 1;
    }
  }
}

// A layer is an outermost module that has siblings of its class and child modules.
void Modules::find_layers() {
  const auto is_layer = [](const Instance& instance) {
    return instance.repeats && instance.has_children && !instance.container;
  };
  std::map<std::string_view, size_t> numbers;
  std::set<uint32_t> layers;
  for (uint32_t i = 0; i < instances_.size(); ++i) {
    for (uint32_t up = i; up != kNone; up = instances_[up].parent) {
      if (is_layer(instances_[up])) instances_[i].layer = up;
    }
    if (instances_[i].layer != kNone) layers.insert(instances_[i].layer);
  }
  drop_pairs(layers);
  size_t most = 0;
  for (const uint32_t layer : layers) {
    const size_t found = ++numbers[instances_[layer].cls];
    if (found > most) layer_class_ = instances_[layer].cls;
    most = std::max(most, found);
  }
  layers_ = static_cast<int64_t>(layers.size());
  name_stacks(layers);
}

// Two heads of a model are not a layer stack if the model has a real one.
void Modules::drop_pairs(std::set<uint32_t>& layers) {
  const auto siblings = [this](uint32_t layer) { return instances_[layer].siblings; };
  const bool stacks = std::any_of(layers.begin(), layers.end(),
                                  [&](uint32_t layer) { return siblings(layer) >= kLeastStack; });
  if (!stacks) return;
  std::erase_if(layers, [&](uint32_t layer) { return siblings(layer) < 3; });
  for (Instance& instance : instances_) {
    if (instance.layer != kNone && layers.count(instance.layer) == 0) instance.layer = kNone;
  }
}

// Layers of one class below one module form a stack. Stacks of the same class are distinguished by
// their parents.
void Modules::name_stacks(const std::set<uint32_t>& layers) {
  std::map<std::string_view, std::set<uint32_t>> holders;
  for (const uint32_t layer : layers)
    holders[instances_[layer].cls].insert(instances_[layer].parent);
  for (const uint32_t layer : layers) {
    Instance& instance = instances_[layer];
    instance.stack = instance.cls;
    if (holders[instance.cls].size() < 2) continue;
    const Instance& holder = instances_[instance.parent];
    instance.stack = std::string(holder.cls) +
                     (holder.number >= 0 ? "_" + std::to_string(holder.number) : "") + "." +
                     instance.stack;
  }
}

bool Modules::is_llama_layer(uint32_t layer) const {
  bool attention = false;
  bool mlp = false;
  bool norm = false;
  for (uint32_t child : children_[layer]) {
    const Instance& instance = instances_[child];
    attention |= instance.role == Role::kAttention;
    mlp |= instance.role == Role::kMlp;
    norm |= is_rms_norm(instance.cls);
  }
  return attention && mlp && norm;
}

void Modules::name_operations() {
  llama_layer_.assign(instances_.size(), 0);
  for (uint32_t i = 0; i < instances_.size(); ++i) {
    Instance& instance = instances_[i];
    if (instance.layer == i) instance.role = Role::kLayer;
    if (instance.layer == kNone || instance.parent != instance.layer) continue;
    if (contains(instance.cls, "Attention")) instance.role = Role::kAttention;
    if (contains(instance.cls, "MLP") || contains(instance.cls, "FeedForward"))
      instance.role = Role::kMlp;
  }
  bool any_llama = false;
  for (uint32_t i = 0; i < instances_.size(); ++i) {
    if (instances_[i].role != Role::kLayer || !is_llama_layer(i)) continue;
    llama_layer_[i] = 1;
    any_llama = true;
  }
  for (uint32_t i = 0; i < instances_.size(); ++i) {
    Instance& instance = instances_[i];
    if (instance.container) continue;
    const bool inside = instance.layer != kNone;
    if (inside ? llama_layer_[instance.layer] != 0 : any_llama) instance.op = llama_name(i);
    instance.llama = !instance.op.empty();
    instance.path = path_of(i);
    if (!instance.llama) instance.op = instance.path;
  }
  for (uint32_t s = 0; s < spans_.size(); ++s) {
    if (instances_[instance_of_[s]].role != Role::kMlp) continue;
    mlp_starts_.emplace_back(spans_[s].thread, spans_[s].start_ns);
  }
  std::sort(mlp_starts_.begin(), mlp_starts_.end());
}

// The paper's name (Fig. 1) of a module of a Llama-like model; empty if there is none.
std::string Modules::llama_name(uint32_t index) const {
  const Instance& instance = instances_[index];
  const std::string_view cls = instance.cls;
  if (instance.layer == kNone) {
    if (contains(cls, "Embedding") && !contains(cls, "Rotary")) return "ie";
    if (contains(cls, "LogitsProcessor") || contains(cls, "LMHead") || is_linear(cls)) return "lp";
    return is_rms_norm(cls) ? "ln" : "";
  }
  if (instance.parent == kNone || instance.has_children) return "";
  const Role around = instances_[instance.parent].role;
  if (around == Role::kLayer && is_rms_norm(cls)) return instance.ordinal == 0 ? "attn_n" : "mlp_n";
  if (around == Role::kAttention) {
    if (contains(cls, "QKV")) return "qkv_ip";
    if (contains(cls, "RowParallel")) return "attn_op";
    if (contains(cls, "Rotary")) return "qkv_re";
    if (contains(cls, "Attention")) return "attn_fa";
    if (is_linear(cls)) return instance.ordinal + 1 == instance.siblings ? "attn_op" : "qkv_ip";
  }
  if (around == Role::kMlp) {
    if (contains(cls, "Merged")) return "mlp_gp";
    if (contains(cls, "RowParallel")) return "mlp_dp";
    if (contains(cls, "AndMul")) return "mlp_gu";
    if (contains(cls, "SiLU") || contains(cls, "Activation")) return "mlp_gs";
    if (is_linear(cls) && instance.ordinal + 1 == instance.siblings) return "mlp_dp";
    if (is_linear(cls)) return instance.ordinal == 0 ? "mlp_gp" : "mlp_up";
  }
  return "";
}

std::string_view Modules::llama_inner_op(const Place& place, ThreadId thread, int64_t time_ns,
                                         std::string_view op_name) const {
  if (place.instance == kNone) return "";
  const Instance& instance = instances_[place.instance];
  if (instance.layer == kNone || llama_layer_[instance.layer] == 0) return "";
  if (instance.role == Role::kMlp) return contains(op_name, "mul") ? "mlp_gu" : "";
  if (instance.role == Role::kLayer) {
    if (!contains(op_name, "add")) return "";
    const auto after =
        std::upper_bound(mlp_starts_.begin(), mlp_starts_.end(), std::pair(thread, time_ns));
    const bool behind_mlp = after != mlp_starts_.begin() && (after - 1)->first == thread &&
                            (after - 1)->second >= place.start_ns;
    return behind_mlp ? "mlp_ra" : "attn_ra";
  }
  if (instance.role != Role::kAttention) return "";
  for (const char* core : {"scaled_dot_product", "flash", "softmax", "matmul", "bmm"}) {
    if (contains(op_name, core)) return "attn_fa";
  }
  if (contains(op_name, "split") || contains(op_name, "chunk")) return "qkv_s";
  if (contains(op_name, "contiguous") || contains(op_name, "clone") || contains(op_name, "copy"))
    return "qkv_c";
  if (contains(op_name, "reshape")) return "attn_or";
  for (const char* rotary : {"mul", "add", "neg", "cat", "rotary"}) {
    if (contains(op_name, rotary)) return "qkv_re";
  }
  return "";
}

// "Owlv2Attention.Linear[1]": classes from the layer (or from the root) down, each with its index
// among siblings of its class if there are several.
std::string Modules::path_of(uint32_t index) const {
  std::vector<std::string> parts;
  const uint32_t layer = instances_[index].layer;
  for (uint32_t up = index; up != kNone; up = instances_[up].parent) {
    const Instance& instance = instances_[up];
    std::string part(instance.cls);
    if (instance.siblings > 1 && up != layer) part += "[" + std::to_string(instance.ordinal) + "]";
    if (up != layer || parts.empty()) parts.push_back(std::move(part));
    if (up == layer) break;
  }
  std::string path;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    if (!path.empty()) path += ".";
    path += *part;
  }
  return path;
}

Modules::Place Modules::at(ThreadId thread, int64_t time_ns) const {
  uint32_t span = spans_.innermost(thread, time_ns);
  while (span != NestedSpans::kNone && instances_[instance_of_[span]].container) {
    span = spans_[span].parent;
  }
  if (span == NestedSpans::kNone) return {};
  const uint32_t index = instance_of_[span];
  const Instance& instance = instances_[index];
  Place place;
  place.found = true;
  place.leaf = !instance.has_children;
  place.llama = instance.llama;
  place.op = instance.op;
  place.path = instance.path;
  place.start_ns = spans_[span].start_ns;
  place.instance = index;
  place.cls = instance.cls;
  // The call stack determines the layer, because a shared module has its first caller as parent.
  uint32_t layer = instance.layer;
  for (uint32_t up = span; up != NestedSpans::kNone; up = spans_[up].parent) {
    const uint32_t around = instance_of_[up];
    if (instances_[around].layer == around) layer = around;
  }
  if (layer != kNone) {
    place.layer = static_cast<int32_t>(instances_[layer].ordinal);
    place.stack = instances_[layer].stack;
  }
  return place;
}

}  // namespace assay
