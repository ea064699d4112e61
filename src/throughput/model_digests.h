#pragma once

// The digests of a model file. They are nearly all of its bytes, so they have a faster parser than
// the rest. Internal to the model file.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "throughput/predictor.h"

namespace assay {

// Returns `model`, the text of a JSON object, with the digests as its last member, and a checksum
// that ties them to the text before them. Returns `model` itself without digests.
std::string with_digests(const std::string& model, const std::vector<ConfigDigest>& digests,
                         const std::optional<FrameworkSummary>& frameworks);

struct ModelText {
  std::string head;        // JSON object without digests
  size_t digests_at = 0;   // offset of their value in the text
  size_t digests_end = 0;  // 0 if there are no digests
};
// A file rewritten by another program keeps its digests in the head, where they are ignored.
// Answers are then the same but slower.
ModelText split_digests(std::string_view text);
// Adds lazily parsed digests to `options`, which share ownership of `text`. rows: number of rows
// that digests may refer to. Returns an error message if the digests are damaged.
std::optional<std::string> read_digests(const std::shared_ptr<const std::string>& text,
                                        const ModelText& parts, size_t rows,
                                        PredictorOptions& options);

}  // namespace assay
