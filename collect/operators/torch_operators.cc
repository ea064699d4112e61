// Observes PyTorch's operators without its profiler, through RecordFunction callbacks, which run
// for every dispatched operator. Compiled by collect/build_for_torch.sh against the PyTorch that it
// is loaded into, 1.13 to 2.x. Times are CLOCK_MONOTONIC, like the recorder's.

#include <ATen/ATen.h>
#include <ATen/record_function.h>
#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <memory>
#include <string>

#include "collect/operators/sink.h"

namespace {

const assay::OperatorSink* sink = nullptr;

uint64_t now_ns() {
  timespec now = {};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

// Inputs in the format of PyTorch's profiler: dims and strides of tensors, nested lists for lists
// of tensors, "" for values that are neither tensor nor scalar.
struct Inputs {
  std::string dims = "[";
  std::string types = "[";
  std::string strides = "[";
  std::string concrete = "[";
};

// Longer lists add no information about the operation.
constexpr size_t kMostArguments = 64;
constexpr size_t kMostElements = 64;
constexpr size_t kLongestValue = 64;

void add_numbers(std::string& text, c10::IntArrayRef numbers) {
  text += '[';
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0) text += ',';
    text += std::to_string(numbers[i]);
  }
  text += ']';
}

// The sizes of a nested, sparse or symbolic tensor are unavailable.
bool has_sizes(const at::Tensor& tensor) {
  return tensor.defined() && tensor.layout() == c10::kStrided && !tensor.is_nested() &&
         !tensor.unsafeGetTensorImpl()->has_symbolic_sizes_strides();
}

void add_tensor(const at::Tensor& tensor, Inputs& inputs) {
  const bool sized = has_sizes(tensor);
  add_numbers(inputs.dims, sized ? tensor.sizes() : c10::IntArrayRef());
  add_numbers(inputs.strides, sized ? tensor.strides() : c10::IntArrayRef());
}

std::string type_of(const at::Tensor& tensor) {
  return tensor.defined() ? std::string(tensor.dtype().name()) : std::string();
}

std::string value_of(const c10::IValue& value) {
  if (value.isBool()) return value.toBool() ? "True" : "False";
  if (value.isInt()) return std::to_string(value.toInt());
  if (value.isDouble()) {
    char text[32];
    std::snprintf(text, sizeof(text), "%.17g", value.toDouble());
    return text;
  }
  if (!value.isIntList() && !value.isBoolList()) return "";
  std::string text = "[";
  const auto add = [&text](const std::string& one) {
    if (text.size() > 1) text += ", ";
    if (text.size() < kLongestValue) text += one;
  };
  if (value.isIntList()) {
    for (const int64_t one : value.toIntVector()) add(std::to_string(one));
  } else {
    for (const bool one : value.toBoolList()) add(one ? "True" : "False");
  }
  return text + "]";
}

const char* word_of(const c10::IValue& value) {
  if (value.isScalar() || value.isBool()) return "Scalar";
  if (value.isIntList() || value.isBoolList() || value.isDoubleList()) return "ScalarList";
  return "";
}

void add_input(const c10::IValue& value, Inputs& inputs) {
  std::string type;
  std::string concrete;
  if (value.isTensor()) {
    add_tensor(value.toTensor(), inputs);
    type = type_of(value.toTensor());
  } else if (value.isTensorList()) {
    const auto list = value.toTensorList();
    inputs.dims += '[';
    inputs.strides += '[';
    for (size_t i = 0; i < list.size() && i < kMostElements; ++i) {
      if (i > 0) inputs.dims += ',', inputs.strides += ',';
      add_tensor(list.get(i), inputs);
    }
    inputs.dims += ']';
    inputs.strides += ']';
    type = "TensorList";
  } else {
    inputs.dims += "[]";
    inputs.strides += "[]";
    type = word_of(value);
    concrete = value_of(value);
  }
  inputs.types += '"' + type + '"';
  inputs.concrete += '"' + concrete + '"';
}

Inputs inputs_of(const at::RecordFunction& function) {
  Inputs inputs;
  size_t count = 0;
  for (const c10::IValue& value : function.inputs()) {
    if (count == kMostArguments) break;
    if (count++ > 0) {
      for (std::string* text : {&inputs.dims, &inputs.types, &inputs.strides, &inputs.concrete})
        *text += ',';
    }
    add_input(value, inputs);
  }
  for (std::string* text : {&inputs.dims, &inputs.types, &inputs.strides, &inputs.concrete})
    *text += ']';
  return inputs;
}

struct Started : at::ObserverContext {
  uint64_t start = 0;
  int64_t sequence = -1;
  uint64_t forward_thread = 0;
  uint32_t thread = 0;
  Inputs inputs;
};

uint32_t this_thread() {
  static thread_local const auto thread = static_cast<uint32_t>(::syscall(SYS_gettid));
  return thread;
}

// No exception may reach the program: on failure the operator is dropped.
std::unique_ptr<at::ObserverContext> on_start(const at::RecordFunction& function) {
  if (sink->wanted() == 0) return nullptr;
  try {
    auto started = std::make_unique<Started>();
    started->thread = this_thread();
    started->sequence = function.seqNr();
    started->forward_thread = function.forwardThreadId();
    if (function.scope() != at::RecordScope::USER_SCOPE) started->inputs = inputs_of(function);
    started->start = now_ns();
    return started;
  } catch (...) {
    return nullptr;
  }
}

void on_end(const at::RecordFunction& function, at::ObserverContext* context) {
  if (context == nullptr) return;
  const auto* started = static_cast<const Started*>(context);
  assay::OperatorSeen seen = {};
  seen.start = started->start;
  seen.end = now_ns();
  seen.sequence = started->sequence;
  seen.forward_thread = started->forward_thread;
  seen.thread = started->thread;
  seen.is_range = function.scope() == at::RecordScope::USER_SCOPE ? 1 : 0;
  const std::string name(function.name());
  seen.name = name.c_str();
  if (seen.is_range == 0) {
    seen.dims = started->inputs.dims.c_str();
    seen.types = started->inputs.types.c_str();
    seen.strides = started->inputs.strides.c_str();
    seen.concrete = started->inputs.concrete.c_str();
  }
  sink->seen(&seen);
}

// Adds ranges for module calls, named as PyTorch's profiler names them. A module that raises leaves
// its range open; the next enclosing module to end closes it.
constexpr const char* kModuleHooks = R"(
def _assay_install():
    import threading
    from torch.autograd.profiler import record_function
    from torch.nn.modules import module as modules
    numbers, counts, here = {}, {}, threading.local()
    def name_of(module):
        kind = type(module).__name__
        number = numbers.get(id(module))
        if number is None:
            number = numbers[id(module)] = counts.get(kind, 0)
            counts[kind] = number + 1
        return f"nn.Module: {kind}_{number}"
    def before(module, inputs):
        span = record_function(name_of(module))
        span.__enter__()
        if not hasattr(here, "open"):
            here.open = []
        here.open.append((module, span))
    def after(module, inputs, output):
        spans = getattr(here, "open", [])
        if not any(held is module for held, _ in spans):
            return
        while spans:
            held, span = spans.pop()
            span.__exit__(None, None, None)
            if held is module:
                return
    modules.register_module_forward_pre_hook(before)
    modules.register_module_forward_hook(after)
_assay_install()
del _assay_install
)";

// Runs on Python's main thread at its next check: the driver starts on any thread and under any
// lock.
void install_module_hooks() {
  const auto add_pending =
      reinterpret_cast<int (*)(int (*)(void*), void*)>(::dlsym(RTLD_DEFAULT, "Py_AddPendingCall"));
  if (add_pending == nullptr) return;
  add_pending(
      [](void*) {
        const auto run = reinterpret_cast<int (*)(const char*, void*)>(
            ::dlsym(RTLD_DEFAULT, "PyRun_SimpleStringFlags"));
        if (run != nullptr) run(kModuleHooks, nullptr);
        return 0;
      },
      nullptr);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int assay_observe_operators(
    const assay::OperatorSink* to) {
  if (to == nullptr || to->version != assay::kOperatorSinkVersion) return 1;
  sink = to;
  try {
    at::addGlobalCallback(
        at::RecordFunctionCallback(on_start, on_end)
            .needsInputs(true)
            .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION,
                     at::RecordScope::USER_SCOPE}));
    if (to->modules != 0) install_module_hooks();
  } catch (...) {
    return 1;
  }
  return 0;
}
