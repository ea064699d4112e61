// Attention: for each pair of query and key that may meet, a product over the head's dimension for
// the score and one for the value, in each query head; backward five such products for the two (the
// scores again, and the gradients of values, scores, queries and keys). Softmax is not counted.
// Keys and values that query heads share are read once.

#include <algorithm>
#include <array>
#include <cmath>

#include "roof/models.h"

namespace assay {
namespace {

enum class HeadLayout : uint8_t {
  kHeadsFirst,   // [b, h, s, d]
  kHeadsSecond,  // [b, s, h, d]
  kPacked,       // [tokens, h, d], sequences one after the other
};
enum class Aligned : uint8_t {
  kFirst,  // query i may look at keys up to i
  kLast,   // the last query at the last key
};
enum class CausalBy : uint8_t {
  kFlag,      // a boolean argument
  kMaskType,  // 0 none, 1 from the first key, 2 from the last
};

// Arguments by position; key and value follow the query. Backward, the gradient of the result comes
// before the query.
struct Attention {
  std::string_view op;
  size_t query;
  HeadLayout layout;
  size_t causal;
  Aligned aligned = Aligned::kFirst;
  bool backward = false;
  CausalBy told = CausalBy::kFlag;
  size_t window = kNoArgument;   // two arguments: keys before and behind
  size_t starts = kNoArgument;   // where sequences begin among the tokens, one more than there are
  size_t longest = kNoArgument;  // two arguments: the longest of queries and keys
};
constexpr HeadLayout kBhsd = HeadLayout::kHeadsFirst;
constexpr HeadLayout kBshd = HeadLayout::kHeadsSecond;
constexpr Aligned kFirst = Aligned::kFirst;
constexpr Aligned kLast = Aligned::kLast;
constexpr auto kAttentions = std::to_array<Attention>({
    {"aten::scaled_dot_product_attention", 0, kBhsd, 5},
    {"aten::_scaled_dot_product_flash_attention", 0, kBhsd, 4},
    {"aten::_scaled_dot_product_efficient_attention", 0, kBhsd, 6},
    {"aten::_scaled_dot_product_cudnn_attention", 0, kBhsd, 6},
    {"aten::_scaled_dot_product_fused_attention_overrideable", 0, kBhsd, 5},
    {"aten::_scaled_dot_product_attention_math", 0, kBhsd, 5},
    {"aten::_cudnn_attention_forward", 0, kBhsd, 10},
    {"aten::_flash_attention_forward", 0, kBshd, 8, kLast, false, CausalBy::kFlag, kNoArgument, 3,
     5},
    {"aten::_efficient_attention_forward", 0, kBshd, 9, kFirst, false, CausalBy::kMaskType,
     kNoArgument, 4, 6},
    {"aten::_scaled_dot_product_flash_attention_backward", 1, kBhsd, 11, kFirst, true},
    {"aten::_scaled_dot_product_efficient_attention_backward", 1, kBhsd, 11, kFirst, true},
    {"aten::_scaled_dot_product_cudnn_attention_backward", 1, kBhsd, 14, kFirst, true},
    {"aten::_flash_attention_backward", 1, kBshd, 11, kLast, true, CausalBy::kFlag, kNoArgument, 6,
     8},
    {"aten::_efficient_attention_backward", 1, kBshd, 14, kFirst, true, CausalBy::kMaskType,
     kNoArgument, 6, 8},
    {"flash_attn::_flash_attn_forward", 0, kBshd, 5, kLast, false, CausalBy::kFlag, 6},
    {"flash_attn::_flash_attn_backward", 1, kBshd, 11, kLast, true, CausalBy::kFlag, 12},
    {"flash_attn::_flash_attn_varlen_forward", 0, HeadLayout::kPacked, 9, kLast, false,
     CausalBy::kFlag, 10, 3, 5},
    {"flash_attn::_flash_attn_varlen_backward", 1, HeadLayout::kPacked, 15, kLast, true,
     CausalBy::kFlag, 16, 9, 11},
    {"FlashAttnFunc", 0, kBshd, 5, kLast},
    {"aiter::_flash_attn_forward", 0, kBshd, 5, kLast, false, CausalBy::kFlag, 6},
    {"aiter::mha_fwd", 0, kBshd, 5, kLast, false, CausalBy::kFlag, 6},
    {"aiter::mha_batch_prefill", 0, HeadLayout::kPacked, 12, kLast, false, CausalBy::kFlag, 13, 3,
     6},
});

struct AttentionExtents {
  bool fits = false;
  double batches = 0;
  double heads = 0;
  double queries = 0;
  double keys = 0;
  double score_dim = 0;  // of queries and keys
  double value_dim = 0;
};

AttentionExtents of_rows(const Sizes& q, const Sizes& k, const Sizes& v, HeadLayout layout) {
  if (q.size() != 4 || k.size() != 4 || v.size() != 4 || q[3] != k[3] || q[0] != k[0]) return {};
  const size_t sequence = layout == HeadLayout::kHeadsFirst ? 2 : 1;
  const size_t head = layout == HeadLayout::kHeadsFirst ? 1 : 2;
  if (k[head] <= 0 || std::fmod(q[head], k[head]) != 0 || k[sequence] != v[sequence]) return {};
  return {true, q[0], q[head], q[sequence], k[sequence], q[3], v[3]};
}

// Sequences one after the other: the lengths are told where there is one, or where all are as long
// as the longest. Keys in pages are a pool, whose size tells nothing: theirs are told where the
// longest is no longer than the longest query's, which is then all that it attends to.
AttentionExtents of_tokens(const Attention& kind, const OpInputs& inputs, const Sizes& q,
                           const Sizes& k, const Sizes& v) {
  const TensorInput* starts = inputs.tensor(kind.starts);
  const auto longest_query = inputs.number(kind.longest);
  const auto longest_key = inputs.number(kind.longest + 1);
  if (q.size() != 3 || k.size() != 3 || v.size() != 3 || q[2] != k[2]) return {};
  if (starts == nullptr || starts->sizes.size() != 1 || !longest_query || !longest_key) return {};
  const double batches = starts->sizes[0] - 1;
  const bool equal = batches > 0 && *longest_query * batches == q[0];
  const bool same = *longest_key == *longest_query || *longest_key * batches == k[0];
  if (!equal || !same || k[1] <= 0 || std::fmod(q[1], k[1]) != 0) return {};
  return {true, batches, q[1], *longest_query, *longest_key, q[2], v[2]};
}

std::optional<AttentionWindow> window_of(const Attention& kind, const OpInputs& inputs,
                                         const AttentionExtents& extents) {
  AttentionWindow window;
  Aligned aligned = kind.aligned;
  bool causal = false;
  if (kind.told == CausalBy::kMaskType) {
    const auto mask = inputs.number(kind.causal);
    if (!mask) return std::nullopt;
    causal = *mask != 0;
    aligned = *mask == 2 ? Aligned::kLast : Aligned::kFirst;
  } else {
    const auto flag = inputs.flag(kind.causal);
    if (!flag) return std::nullopt;
    causal = *flag;
  }
  if (aligned == Aligned::kLast) window.offset = extents.keys - extents.queries;
  if (kind.window != kNoArgument) {
    window.left = inputs.number(kind.window).value_or(-1);
    window.right = inputs.number(kind.window + 1).value_or(-1);
  }
  if (causal) window.right = 0;
  return window;
}

OpWork work_of(const Attention& kind, const AttentionExtents& extents, double pairs,
               ElementType type) {
  OpWork work{.kind = OpWorkKind::kAttention, .matrix = true, .math = type};
  const double of_scores = kind.backward ? 3 : 1;
  const double of_values = kind.backward ? 2 : 1;
  work.flop = 2 * extents.batches * extents.heads * pairs *
              (of_scores * extents.score_dim + of_values * extents.value_dim);
  return work;
}

}  // namespace

double attended_pairs(double queries, double keys, const AttentionWindow& window) {
  if (window.left < 0 && window.right < 0) return queries * keys;
  double pairs = 0;
  const auto rows = static_cast<int64_t>(queries);
  for (int64_t query = 0; query < rows; ++query) {
    const double at = static_cast<double>(query) + window.offset;
    const double first = window.left < 0 ? 0 : std::max(0.0, at - window.left);
    const double last = window.right < 0 ? keys - 1 : std::min(keys - 1, at + window.right);
    pairs += std::max(0.0, last - first + 1);
  }
  return pairs;
}

std::optional<WorkAnswer> attention_work(std::string_view op, const OpInputs& inputs) {
  const auto* const kind = std::find_if(kAttentions.begin(), kAttentions.end(),
                                        [op](const Attention& one) { return one.op == op; });
  if (kind == kAttentions.end()) return std::nullopt;
  const TensorInput* q = inputs.tensor(kind->query);
  const TensorInput* k = inputs.tensor(kind->query + 1);
  const TensorInput* v = inputs.tensor(kind->query + 2);
  if (q == nullptr || k == nullptr || v == nullptr) return WorkAnswer{WorkKnown::kNoShapes};
  const bool packed = kind->layout == HeadLayout::kPacked || q->sizes.size() == 3;
  const AttentionExtents extents = packed ? of_tokens(*kind, inputs, q->sizes, k->sizes, v->sizes)
                                          : of_rows(q->sizes, k->sizes, v->sizes, kind->layout);
  constexpr double kLongest = 1e7;  // longer than any sequence; the pairs are counted one by one
  const bool countable = extents.queries >= 0 && extents.queries <= kLongest;  // and no NaN
  if (!extents.fits || !countable) return WorkAnswer{WorkKnown::kNotCovered};
  const auto window = window_of(*kind, inputs, extents);
  if (!window) return WorkAnswer{WorkKnown::kNoValues};
  const double pairs = attended_pairs(extents.queries, extents.keys, *window);
  OpWork work = work_of(*kind, extents, pairs, q->type);
  work.by_values = packed;
  const double element = element_bytes(q->type);
  const double tokens = extents.batches * extents.queries * extents.heads;
  const double result = tokens * extents.value_dim * element;
  const double key_heads = packed ? k->sizes[1] : k->sizes[kind->layout == kBhsd ? 1 : 2];
  const double shared = extents.batches * extents.keys * key_heads *
                        (extents.score_dim + extents.value_dim) * element_bytes(k->type);
  const double asked = tokens * extents.score_dim * element;
  work.read_bytes = asked + shared + (kind->backward ? 2 * result : 0);
  work.write_bytes = kind->backward ? asked + shared : result;
  // A mask, or a bias that is added to scores, follows the values.
  const TensorInput* mask = kind->backward ? nullptr : inputs.tensor(kind->query + 3);
  if (mask != nullptr && mask->sizes.size() >= 2) work.read_bytes += mask->bytes();
  return told(work, element > 0 && element_bytes(k->type) > 0);
}

}  // namespace assay
