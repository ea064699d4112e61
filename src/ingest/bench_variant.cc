#include "ingest/bench_variant.h"

#include <array>
#include <cmath>

#include "ingest/bench_columns.h"
#include "ingest/csv_records.h"

namespace assay {
namespace {

struct Named {
  const char* title;  // as lower_trimmed leaves it, blanks for _ and -
  VariantPart part;
};

constexpr std::array<Named, 33> kTitles = {{{"variant", VariantPart::kPlain},
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

// What engines write where nothing was chosen.
bool says_nothing(const std::string& value) {
  const std::string word = lower_trimmed(value);
  return word.empty() || word == "auto" || word == "none" || word == "null" || word == "default";
}

void add_statement(std::string& text, const std::string& statement) {
  if (statement.empty()) return;
  text += (text.empty() ? "" : ", ") + statement;
}

void add_size(std::string& text, const char* name, double size) {
  if (size <= 1) return;
  text += (text.empty() ? "" : " ") + std::string(name) + std::to_string(std::llround(size));
}

}  // namespace

std::string ParallelLayout::text(double devices) const {
  const bool plain = pipeline <= 1 && data <= 1 && expert <= 1 && tensor == devices;
  if (!told || plain) return "";
  std::string words;
  add_size(words, "tp", tensor);
  add_size(words, "pp", pipeline);
  add_size(words, "dp", data);
  add_size(words, "ep", expert);
  return words.empty() ? "tp1" : words;
}

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

void VariantText::add(VariantPart part, const std::string& value) {
  if (says_nothing(value)) return;
  const auto size = parse_cell(value, BenchRole::kDevices, 1);
  const auto set = [&](double& to) {
    layout_.told = true;
    if (size && size->value >= 1 && size->value < 1e6) to = size->value;
  };
  switch (part) {
    case VariantPart::kPlain:
      return add_statement(plain_, value);
    case VariantPart::kCache:
      return add_statement(cache_, "kv " + value);
    case VariantPart::kVersion:
      return add_statement(version_, (lower_trimmed(value).front() == 'v' ? "" : "v") + value);
    case VariantPart::kTensor:
      return set(layout_.tensor);
    case VariantPart::kPipeline:
      return set(layout_.pipeline);
    case VariantPart::kData:
      return set(layout_.data);
    case VariantPart::kExpert:
      return set(layout_.expert);
  }
}

std::string VariantText::text(double devices) const {
  std::string text = plain_;
  add_statement(text, cache_);
  add_statement(text, layout_.text(devices));
  add_statement(text, version_);
  return text;
}

}  // namespace assay
