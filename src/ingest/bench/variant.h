#pragma once

// What tells runs apart beside hardware, engine, model and sizes (BenchVariant), from the columns,
// keys and texts that say so.

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

// Whether its words say that tokens were guessed ahead.
bool is_speculative(const BenchVariant& variant);

// Collects the parts of one row.
class VariantParts {
 public:
  void add(VariantPart part, const std::string& value);
  // As columns of sizes tell it, whether it is the plain case or not.
  const std::optional<ParallelLayout>& layout() const { return layout_; }
  // devices: that the row ran on.
  BenchVariant variant(double devices) const;

 private:
  std::string plain_, cache_, speculation_, version_;
  std::optional<ParallelLayout> layout_, written_;
};

}  // namespace assay
