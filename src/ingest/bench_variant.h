#pragma once

// What tells runs apart beside hardware, engine, model and sizes: precision, the cache's type, how
// the model was split over devices, the engine's version. One text of statements: "fp8, kv fp8, tp2
// ep4, v0.9.1".

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

// How a model is split; 1 where nothing is told.
struct ParallelLayout {
  double tensor = 1;
  double pipeline = 1;
  double data = 1;
  double expert = 1;
  bool told = false;

  double devices() const { return tensor * pipeline * data; }
  // "tp2 ep4"; empty where it is tensor parallelism over all `devices`, the plain case.
  std::string text(double devices) const;
};

enum class VariantPart : uint8_t { kPlain, kCache, kVersion, kTensor, kPipeline, kData, kExpert };
// Which part a title or key names.
std::optional<VariantPart> variant_part(const std::string& title);

// Collects the parts of one row.
class VariantText {
 public:
  void add(VariantPart part, const std::string& value);
  const ParallelLayout& layout() const { return layout_; }
  std::string text(double devices) const;

 private:
  std::string plain_, cache_, version_;
  ParallelLayout layout_;
};

}  // namespace assay
