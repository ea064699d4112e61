#pragma once

// Differences between runs in addition to hardware, engine, model and sizes (BenchVariant), from
// columns, keys and texts.

#include <cstdint>
#include <optional>
#include <string>

#include "records/bench_table.h"

namespace assay {

enum class VariantPart : uint8_t {
  kPlain,
  kCache,
  kSpeculation,
  kVersion,
  kTensor,
  kPipeline,
  kData,
  kExpert
};
// Which part a title or key names.
std::optional<VariantPart> variant_part(const std::string& title);

// A text that a person wrote: what of it is a layout ("tp2 ep4") or a version ("v0.9.1") goes where
// it belongs, the rest is words.
BenchVariant variant_of_text(const std::string& text);

// True if its words name speculative decoding.
bool is_speculative(const BenchVariant& variant);

// Collects the parts of one row.
class VariantParts {
 public:
  void add(VariantPart part, const std::string& value);
  // From columns of sizes, also for the plain case.
  const std::optional<ParallelLayout>& layout() const { return layout_; }
  // devices: that the row ran on.
  BenchVariant variant(double devices) const;

 private:
  std::string plain_, cache_, speculation_, version_;
  std::optional<ParallelLayout> layout_, written_;
};

}  // namespace assay
