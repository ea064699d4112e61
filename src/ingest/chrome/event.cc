#include "ingest/chrome/event.h"

#include <algorithm>
#include <string>

namespace assay {
namespace {

// Packs a key of up to four letters into one word for a single comparison.
constexpr uint32_t word_of(std::string_view key) {
  uint32_t word = 0;
  for (const char c : key) word = word << 8 | static_cast<unsigned char>(c);
  return word;
}

#define ASSAY_CASE(name, text) \
  case word_of(text):          \
    return Field::name;
Field field_of(std::string_view key) {
  if (key.size() > 4) return Field::kCount;
  switch (word_of(key)) {
    ASSAY_EVENT_FIELDS(ASSAY_CASE)
    default:
      return Field::kCount;
  }
}
#undef ASSAY_CASE

// True if two texts of one length are equal. Most unequal ones differ in their first or last
// letter, and comparing two letters costs less than a call of memcmp.
bool same_text(std::string_view a, std::string_view b) {
  return a.empty() || (a.front() == b.front() && a.back() == b.back() && a == b);
}

struct ArgEntry {
  std::string_view key;
  Arg arg;
};

#define ASSAY_ENTRY(name, text) ArgEntry{text, Arg::name},
constexpr ArgEntry kArgEntries[] = {ASSAY_EVENT_ARGS(ASSAY_ENTRY)};
#undef ASSAY_ENTRY

constexpr size_t kLongestArg = 33;

// Arguments by key length, so that a look-up compares with few keys.
struct ArgsByLength {
  std::array<uint8_t, kLongestArg + 2> first{};
  std::array<ArgEntry, std::size(kArgEntries)> entries{};

  constexpr ArgsByLength() {
    size_t filled = 0;
    for (size_t length = 0; length <= kLongestArg; ++length) {
      first[length] = static_cast<uint8_t>(filled);
      for (const ArgEntry& entry : kArgEntries) {
        if (entry.key.size() == length) entries[filled++] = entry;
      }
    }
    first[kLongestArg + 1] = static_cast<uint8_t>(filled);
  }
};
constexpr ArgsByLength kArgsByLength;
static_assert(kArgsByLength.first[kLongestArg + 1] == std::size(kArgEntries));

Arg arg_of(std::string_view key) {
  if (key.size() > kLongestArg) return Arg::kCount;
  const size_t end = kArgsByLength.first[key.size() + 1];
  for (size_t i = kArgsByLength.first[key.size()]; i < end; ++i) {
    if (same_text(kArgsByLength.entries[i].key, key)) return kArgsByLength.entries[i].arg;
  }
  return Arg::kCount;
}

struct CategoryEntry {
  std::string_view name;  // lower case
  Category category;
};

constexpr CategoryEntry kCategories[] = {
    {"python_function", Category::kFrame},
    {"cpu_op", Category::kOp},
    {"operator", Category::kOp},
    {"ac2g", Category::kLaunchFlow},
    {"async_cpu_to_gpu", Category::kLaunchFlow},
    {"async_gpu", Category::kLaunchFlow},
    {"async", Category::kLaunchFlow},
    {"cuda_runtime", Category::kRuntimeCall},
    {"runtime", Category::kRuntimeCall},
    {"mtia_runtime", Category::kRuntimeCall},
    {"glow_runtime", Category::kRuntimeCall},
    {"xpu_runtime", Category::kRuntimeCall},
    {"privateuse1_runtime", Category::kRuntimeCall},
    {"cuda_driver", Category::kDriverCall},
    {"xpu_driver", Category::kDriverCall},
    {"privateuse1_driver", Category::kDriverCall},
    {"kernel", Category::kKernel},
    {"gpu_memcpy", Category::kMemcpy},
    {"memcpy", Category::kMemcpy},
    {"gpu_memset", Category::kMemset},
    {"memset", Category::kMemset},
    {"cuda_sync", Category::kDeviceSync},
    {"xpu_sync", Category::kDeviceSync},
    {"cuda_event", Category::kDeviceSync},
    {"mtia_ccp_events", Category::kDeviceOther},
    {"hpu_op", Category::kDeviceOther},
    {"device_work", Category::kDeviceOther},
    {"user_annotation", Category::kAnnotation},
    {"gpu_user_annotation", Category::kGpuAnnotation},
    {"overhead", Category::kOverhead},
    {"trace", Category::kSpan},
    {"assay", Category::kSpan},
    {"cpu_instant_event", Category::kInstant},
    {"api_op", Category::kDependencyFlow},
    {"dataflow", Category::kDependencyFlow},
    {"hosttodevice", Category::kDependencyFlow},
    {"async_task_queue", Category::kDependencyFlow},
    {"fwdbwd", Category::kForwardBackwardFlow},
    {"forward_backward", Category::kForwardBackwardFlow},
    {"fwd_bwd", Category::kForwardBackwardFlow},
};

bool wants_args(Category category) {
  return category != Category::kFrame && category != Category::kLaunchFlow &&
         category != Category::kForwardBackwardFlow && category != Category::kDependencyFlow;
}

void note_arg(Arg arg, RawEvent& event) {
  const uint64_t bit = uint64_t{1} << static_cast<int>(arg);
  event.repeated_key |= (event.seen_args & bit) != 0;
  event.seen_args |= bit;
}

Walk read_args(JsonCursor& cursor, RawEvent& event) {
  return read_object(cursor, event.trailing_commas, [&event](std::string_view key, JsonCursor& at) {
    const Arg arg = arg_of(key);
    if (arg < kFirstTextArg) {
      note_arg(arg, event);
      return read_value(at, event.args[static_cast<size_t>(arg)]);
    }
    // No other code parses these values, so bare words are counted here.
    JsonValue value;
    const Walk walk = read_value(at, value);
    if (walk == Walk::kOk && value.kind == JsonKind::kScalar) {
      event.bare_words += is_bare_word(value.text);
    }
    if (arg != Arg::kCount) {
      note_arg(arg, event);
      event.args[static_cast<size_t>(arg)] = value;
    }
    return walk;
  });
}

}  // namespace

Category category_of(std::string_view name) {
  if (name.empty()) return Category::kNone;
  for (const CategoryEntry& entry : kCategories) {
    if (entry.name.size() == name.size() && same_text(entry.name, name)) return entry.category;
  }
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  for (const CategoryEntry& entry : kCategories) {
    if (entry.name == lower) return entry.category;
  }
  // Forks of Kineto by other vendors name rows like its CUDA rows: "musa_runtime".
  if (lower.ends_with("_runtime")) return Category::kRuntimeCall;
  if (lower.ends_with("_driver")) return Category::kDriverCall;
  return Category::kUnknown;
}

Walk read_event(JsonCursor& cursor, RawEvent& event) {
  event.seen_fields = 0;
  event.seen_args = 0;
  event.category = Category::kNone;
  event.repeated_key = false;
  event.trailing_commas = 0;
  event.bare_words = 0;
  return read_object(cursor, event.trailing_commas, [&event](std::string_view key, JsonCursor& at) {
    const Field field = field_of(key);
    if (field == Field::kCount) {
      JsonValue skipped;
      return read_value(at, skipped);
    }
    const uint32_t bit = 1u << static_cast<int>(field);
    event.repeated_key |= (event.seen_fields & bit) != 0;
    event.seen_fields |= bit;
    JsonValue& value = event.fields[static_cast<size_t>(field)];
    if (field == Field::kArgs && !at.ended() && at.peek() == '{') {
      if (wants_args(event.category)) {
        value.kind = JsonKind::kObject;
        value.position = at.at;
        return read_args(at, event);
      }
    }
    const Walk walk = read_value(at, value);
    if (field == Field::kCategory && walk == Walk::kOk) {
      event.category =
          value.kind == JsonKind::kString ? category_of(value.text) : Category::kUnknown;
    }
    return walk;
  });
}

}  // namespace assay
