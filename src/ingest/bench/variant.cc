#include "ingest/bench/variant.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/ascii.h"
#include "base/decimal.h"
#include "ingest/bench/columns.h"
#include "ingest/text/csv_records.h"

namespace assay {
namespace {

struct Named {
  const char* title;  // in lower case, with blanks for _ and -
  VariantPart part;
};

constexpr std::array<Named, 38> kTitles = {{{"variant", VariantPart::kPlain},
                                            {"parallelism type", VariantPart::kPlain},
                                            {"parallelism", VariantPart::kPlain},
                                            {"precision", VariantPart::kPlain},
                                            {"dtype", VariantPart::kPlain},
                                            {"quantization", VariantPart::kPlain},
                                            {"quantisation", VariantPart::kPlain},
                                            {"scenario", VariantPart::kPlain},
                                            {"kv cache dtype", VariantPart::kCache},
                                            {"kv dtype", VariantPart::kCache},
                                            {"kv cache precision", VariantPart::kCache},
                                            {"spec decoding", VariantPart::kSpeculation},
                                            {"spec method", VariantPart::kSpeculation},
                                            {"speculative decoding", VariantPart::kSpeculation},
                                            {"speculative algorithm", VariantPart::kSpeculation},
                                            {"speculative method", VariantPart::kSpeculation},
                                            {"backend version", VariantPart::kVersion},
                                            {"framework version", VariantPart::kVersion},
                                            {"engine version", VariantPart::kVersion},
                                            {"vllm version", VariantPart::kVersion},
                                            {"sglang version", VariantPart::kVersion},
                                            {"tp", VariantPart::kTensor},
                                            {"tp size", VariantPart::kTensor},
                                            {"tensor parallel size", VariantPart::kTensor},
                                            {"tensor parallelism", VariantPart::kTensor},
                                            {"pp", VariantPart::kPipeline},
                                            {"pp size", VariantPart::kPipeline},
                                            {"pipeline parallel size", VariantPart::kPipeline},
                                            {"pipeline parallelism", VariantPart::kPipeline},
                                            {"dp", VariantPart::kData},
                                            {"dp size", VariantPart::kData},
                                            {"data parallel size", VariantPart::kData},
                                            {"attention dp size", VariantPart::kData},
                                            {"ep", VariantPart::kExpert},
                                            {"ep size", VariantPart::kExpert},
                                            {"expert parallel size", VariantPart::kExpert},
                                            {"expert parallelism", VariantPart::kExpert},
                                            {"moe ep size", VariantPart::kExpert}}};

// Values that engines write for defaults.
bool says_nothing(const std::string& value) {
  const std::string word = lower_trimmed(value);
  return word.empty() || word == "auto" || word == "none" || word == "null" || word == "default";
}

constexpr std::array<const char*, 4> kSpeculations = {"mtp", "eagle", "ngram", "medusa"};
constexpr const char* kSomeSpeculation = "speculative";

// The method: "mtp", "eagle", "ngram", else "speculative", which is never compared with runs
// without speculation. Empty if there is none.
std::string speculation_word(const std::string& value) {
  const std::string word = lower_trimmed(value);
  for (const char* none : {"false", "off", "no", "0", "disabled"}) {
    if (word == none) return {};
  }
  for (const char* known : kSpeculations) {
    if (word.find(known) != std::string::npos) return known;
  }
  // SGLang's name for DeepSeek's multi-token prediction.
  return word == "nextn" ? kSpeculations[0] : kSomeSpeculation;
}

void add_statement(std::string& text, const std::string& statement) {
  if (statement.empty()) return;
  text += (text.empty() ? "" : ", ") + statement;
}

// The size that a word such as "tp4" sets; null for other words.
uint32_t* size_named(std::string_view kind, ParallelLayout& layout) {
  if (kind == "tp") return &layout.tensor;
  if (kind == "pp") return &layout.pipeline;
  if (kind == "dp") return &layout.data;
  return kind == "ep" ? &layout.expert : nullptr;
}

constexpr uint64_t kLargestSize = 1000000;

// "tp2 ep4"
std::optional<ParallelLayout> layout_of_statement(std::string_view statement) {
  ParallelLayout layout;
  while (!statement.empty()) {
    const std::string_view word = statement.substr(0, statement.find(' '));
    uint32_t* to = size_named(word.substr(0, 2), layout);
    uint64_t size = 0;
    if (to == nullptr || word.size() < 3 || !is_digit(word[2]) ||
        !parse_uint64(word.substr(2), size) || size == 0 || size >= kLargestSize)
      return std::nullopt;
    *to = static_cast<uint32_t>(size);
    statement.remove_prefix(std::min(word.size() + 1, statement.size()));
  }
  return layout;
}

// "v0.9.1", "vnightly-2"
bool is_version(std::string_view statement) {
  return statement.size() > 1 && statement[0] == 'v' &&
         (is_digit(statement[1]) || statement.starts_with("vnightly"));
}

}  // namespace

std::optional<VariantPart> variant_part(const std::string& title) {
  std::string words = lower_trimmed(title);
  for (char& c : words) {
    if (c == '_' || c == '-') c = ' ';
  }
  for (const Named& named : kTitles) {
    if (words == named.title) return named.part;
  }
  return std::nullopt;
}

BenchVariant variant_of_text(const std::string& text) {
  BenchVariant variant;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(", ", begin), text.size());
    const std::string statement = text.substr(begin, end - begin);
    begin = end + 2;
    const auto layout = statement.empty() ? std::nullopt : layout_of_statement(statement);
    if (layout && !variant.layout) {
      variant.layout = layout;
    } else if (is_version(statement) && variant.version.empty()) {
      variant.version = statement;
    } else {
      add_statement(variant.words, statement);
    }
  }
  return variant;
}

bool is_speculative(const BenchVariant& variant) {
  const std::string words = ", " + variant.words + ", ";
  const auto says = [&](const char* word) {
    return words.find(std::string(", ") + word + ", ") != std::string::npos;
  };
  return says(kSomeSpeculation) || std::any_of(kSpeculations.begin(), kSpeculations.end(), says);
}

void VariantParts::add(VariantPart part, const std::string& value) {
  if (says_nothing(value)) return;
  const auto size = parse_cell(value, BenchRole::kDevices, 1);
  const auto set = [&](uint32_t ParallelLayout::* to) {
    if (!layout_) layout_.emplace();
    if (size && size->value >= 1 && size->value < static_cast<double>(kLargestSize))
      (*layout_).*to = static_cast<uint32_t>(std::llround(size->value));
  };
  switch (part) {
    case VariantPart::kPlain: {
      const BenchVariant written = variant_of_text(value);
      if (written.layout) written_ = written.layout;
      if (!written.version.empty()) version_ = written.version;
      return add_statement(plain_, written.words);
    }
    case VariantPart::kCache:
      return add_statement(cache_, "kv " + value);
    case VariantPart::kSpeculation:
      // A known method replaces an unknown one.
      if (speculation_.empty() || speculation_ == kSomeSpeculation)
        speculation_ = speculation_word(value);
      return;
    case VariantPart::kVersion:
      version_ = (lower_trimmed(value).front() == 'v' ? "" : "v") + value;
      return;
    case VariantPart::kTensor:
      return set(&ParallelLayout::tensor);
    case VariantPart::kPipeline:
      return set(&ParallelLayout::pipeline);
    case VariantPart::kData:
      return set(&ParallelLayout::data);
    case VariantPart::kExpert:
      return set(&ParallelLayout::expert);
  }
}

BenchVariant VariantParts::variant(double devices) const {
  BenchVariant variant{plain_, layout_ ? layout_ : written_, version_};
  add_statement(variant.words, cache_);
  add_statement(variant.words, speculation_);
  const bool plain = layout_ && layout_->pipeline == 1 && layout_->data == 1 &&
                     layout_->expert == 1 && layout_->tensor == devices;
  if (plain) variant.layout.reset();
  return variant;
}

}  // namespace assay
