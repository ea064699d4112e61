// The entry points that the CUDA driver (CUDA_INJECTION64_PATH) and NVTX (NVTX_INJECTION64_PATH)
// call in an injected library. Sources of the NVTX interface: nvtx3/nvtxDetail/nvtxTypes.h,
// nvToolsExt.h (version 3). tests/abi/cupti_headers.cc compares it with them.

#include <atomic>
#include <cstdint>
#include <cwchar>
#include <string>
#include <string_view>

#include "collect/record/nvtx_abi.h"
#include "collect/record/recorder.h"

namespace assay::record {
namespace {

// The handles that programs keep. They hold the text, because a forked child has another id table.
struct DomainHandle {
  std::string name;
};
struct TextHandle {
  std::string text;
};

std::string_view view(const char* text) { return text != nullptr ? text : std::string_view(); }

// Converts wide text, which is UTF-32 on Linux, to UTF-8.
std::string narrow(const wchar_t* text) {
  std::string utf8;
  for (; text != nullptr && *text != 0; ++text) {
    const auto c = static_cast<uint32_t>(*text);
    if (c < 0x80) {
      utf8 += static_cast<char>(c);
    } else if (c < 0x800) {
      utf8 += static_cast<char>(0xC0 | c >> 6);
      utf8 += static_cast<char>(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
      utf8 += static_cast<char>(0xE0 | c >> 12);
      utf8 += static_cast<char>(0x80 | (c >> 6 & 0x3F));
      utf8 += static_cast<char>(0x80 | (c & 0x3F));
    } else {
      utf8 += static_cast<char>(0xF0 | (c >> 18 & 0x07));
      utf8 += static_cast<char>(0x80 | (c >> 12 & 0x3F));
      utf8 += static_cast<char>(0x80 | (c >> 6 & 0x3F));
      utf8 += static_cast<char>(0x80 | (c & 0x3F));
    }
  }
  return utf8;
}

Recorder& recorder() { return Recorder::get(); }

// A message in any of NVTX's forms.
class Message {
 public:
  explicit Message(const char* text) : text_(view(text)) {}
  explicit Message(const wchar_t* text) noexcept { take(text); }
  explicit Message(const nvtx::Attributes* attributes) noexcept {
    if (attributes == nullptr || attributes->message == nullptr) return;
    switch (attributes->message_type) {
      case nvtx::kMessageAscii:
        text_ = static_cast<const char*>(attributes->message);
        return;
      case nvtx::kMessageWide:
        take(static_cast<const wchar_t*>(attributes->message));
        return;
      case nvtx::kMessageRegistered:
        text_ = static_cast<const TextHandle*>(attributes->message)->text;
        return;
      default:
        return;
    }
  }
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;
  std::string_view text() const { return text_; }

 private:
  void take(const wchar_t* text) noexcept {
    try {
      narrow_ = narrow(text);
      text_ = narrow_;
    } catch (...) {
      text_ = {};
    }
  }
  std::string narrow_;
  std::string_view text_;
};

uint32_t category_of(const nvtx::Attributes* attributes) {
  return attributes != nullptr ? attributes->category : 0;
}
std::string_view name_of(const DomainHandle* domain) {
  return domain != nullptr ? std::string_view(domain->name) : std::string_view();
}

template <typename Text>
void mark(const Text* text) {
  recorder().mark({}, Message(text).text());
}
uint64_t range_start_ex(const nvtx::Attributes* a) {
  return recorder().start_range({}, Message(a).text(), category_of(a));
}
template <typename Text>
uint64_t range_start(const Text* text) {
  return recorder().start_range({}, Message(text).text(), 0);
}
void range_end(uint64_t id) { recorder().end_range(id); }
int range_push_ex(const nvtx::Attributes* a) {
  return recorder().push({}, Message(a).text(), category_of(a));
}
template <typename Text>
int range_push(const Text* text) {
  return recorder().push({}, Message(text).text(), 0);
}
int range_pop() { return recorder().pop({}); }
template <typename Text>
void name_thread(uint32_t thread, const Text* name) {
  recorder().name_thread(thread, Message(name).text());
}

void domain_mark(const DomainHandle* domain, const nvtx::Attributes* a) {
  recorder().mark(name_of(domain), Message(a).text());
}
uint64_t domain_start(const DomainHandle* domain, const nvtx::Attributes* a) {
  return recorder().start_range(name_of(domain), Message(a).text(), category_of(a));
}
void domain_end(const DomainHandle*, uint64_t id) { recorder().end_range(id); }
int domain_push(const DomainHandle* domain, const nvtx::Attributes* a) {
  return recorder().push(name_of(domain), Message(a).text(), category_of(a));
}
int domain_pop(const DomainHandle* domain) { return recorder().pop(name_of(domain)); }

// Handles are never freed: programs keep them in static variables. A program that creates more than
// this many bytes gets no more handles, and those ranges have no name.
constexpr size_t kMostHandleBytes = 16 << 20;
template <typename Handle, typename Text>
Handle* make_handle(const Text* text) noexcept {
  static std::atomic<size_t> bytes = 0;
  const Message message(text);
  const size_t cost = sizeof(Handle) + message.text().size();
  if (bytes.fetch_add(cost, std::memory_order_relaxed) + cost > kMostHandleBytes) {
    bytes.fetch_sub(cost, std::memory_order_relaxed);
    return nullptr;
  }
  try {
    return new Handle{std::string(message.text())};
  } catch (...) {
    return nullptr;
  }
}
template <typename Text>
TextHandle* register_string(const DomainHandle*, const Text* text) {
  return make_handle<TextHandle>(text);
}
template <typename Text>
DomainHandle* create_domain(const Text* name) {
  return make_handle<DomainHandle>(name);
}

template <typename Function>
void set(nvtx::FunctionTable table, unsigned size, unsigned index, Function* function) {
  if (index < size && table[index] != nullptr) {
    *table[index] = reinterpret_cast<nvtx::FunctionPointer>(function);
  }
}

void fill_core(nvtx::FunctionTable table, unsigned size) {
  set(table, size, nvtx::kMarkEx, mark<nvtx::Attributes>);
  set(table, size, nvtx::kMarkA, mark<char>);
  set(table, size, nvtx::kMarkW, mark<wchar_t>);
  set(table, size, nvtx::kRangeStartEx, range_start_ex);
  set(table, size, nvtx::kRangeStartA, range_start<char>);
  set(table, size, nvtx::kRangeStartW, range_start<wchar_t>);
  set(table, size, nvtx::kRangeEnd, range_end);
  set(table, size, nvtx::kRangePushEx, range_push_ex);
  set(table, size, nvtx::kRangePushA, range_push<char>);
  set(table, size, nvtx::kRangePushW, range_push<wchar_t>);
  set(table, size, nvtx::kRangePop, range_pop);
  set(table, size, nvtx::kNameOsThreadA, name_thread<char>);
  set(table, size, nvtx::kNameOsThreadW, name_thread<wchar_t>);
}

void fill_domains(nvtx::FunctionTable table, unsigned size) {
  set(table, size, nvtx::kDomainMarkEx, domain_mark);
  set(table, size, nvtx::kDomainRangeStartEx, domain_start);
  set(table, size, nvtx::kDomainRangeEnd, domain_end);
  set(table, size, nvtx::kDomainRangePushEx, domain_push);
  set(table, size, nvtx::kDomainRangePop, domain_pop);
  set(table, size, nvtx::kDomainRegisterStringA, register_string<char>);
  set(table, size, nvtx::kDomainRegisterStringW, register_string<wchar_t>);
  set(table, size, nvtx::kDomainCreateA, create_domain<char>);
  set(table, size, nvtx::kDomainCreateW, create_domain<wchar_t>);
}

}  // namespace
}  // namespace assay::record

extern "C" {

// Always 1 = loaded: the program must continue in either case.
__attribute__((visibility("default"))) int InitializeInjection() {
  try {
    assay::record::Recorder::get().attach_cuda();
  } catch (...) {
    return 1;
  }
  return 1;
}

__attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    assay::nvtx::GetExportTable get_table) {
  namespace nvtx = assay::nvtx;
  try {
    assay::record::Recorder::get();  // creates the recorder here, so that later calls cannot fail
  } catch (...) {
    return 0;
  }
  const auto* callbacks =
      static_cast<const nvtx::CallbackTable*>(get_table(nvtx::kExportCallbacks));
  if (callbacks == nullptr || callbacks->get_module_functions == nullptr) return 0;
  nvtx::FunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks->get_module_functions(nvtx::kModuleCore, &table, &size) != 0) {
    assay::record::fill_core(table, size);
  }
  if (callbacks->get_module_functions(nvtx::kModuleDomains, &table, &size) != 0) {
    assay::record::fill_domains(table, size);
  }
  return 1;
}

}  // extern "C"
