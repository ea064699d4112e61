#pragma once

// The digests of a model file: nearly all of its bytes, and read by another parser than the rest
// for that. Inside of the model file.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "throughput/predictor.h"

namespace assay {

// model: a JSON object. The same with the digests as its last member, bound to the text before
// them.
std::string with_digests(const std::string& model, const std::vector<ConfigDigest>& digests,
                         const std::optional<FrameworkSummary>& frameworks);

struct ModelText {
  std::string head;        // without digests, a JSON object
  size_t digests_at = 0;   // offset of their value in the text
  size_t digests_end = 0;  // 0: there are none
};
// A file that another program rewrote keeps its digests in the head, where they are ignored. Its
// answers are the same but slower.
ModelText split_digests(std::string_view text);
// rows: number of rows that digests may refer to. The options keep the text. Returns the error
// message, if any.
std::optional<std::string> read_digests(const std::shared_ptr<const std::string>& text,
                                        const ModelText& parts, size_t rows,
                                        PredictorOptions& options);

}  // namespace assay
