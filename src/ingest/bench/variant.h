#pragma once

// Parses BenchVariant, the differences between runs other than hardware, engine, model and sizes.
// Sources are columns, keys and texts.

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
// The part that a title or key names; nullopt for other titles.
std::optional<VariantPart> variant_part(const std::string& title);

// Parses free text: layouts ("tp2 ep4") and versions ("v0.9.1") set their fields, the rest becomes
// `words`.
BenchVariant variant_of_text(const std::string& text);

// True if the variant's words name speculative decoding.
bool is_speculative(const BenchVariant& variant);

// Collects the parts of one row.
class VariantParts {
 public:
  void add(VariantPart part, const std::string& value);
  // The layout from columns of sizes, even if it is the plain case; nullopt without such columns.
  const std::optional<ParallelLayout>& layout() const { return layout_; }
  // devices: number of devices that the row ran on.
  BenchVariant variant(double devices) const;

 private:
  std::string plain_, cache_, speculation_, version_;
  std::optional<ParallelLayout> layout_, written_;
};

}  // namespace assay
