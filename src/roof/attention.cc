// Attention has two products per valid (query, key) pair and query head: the score, over the score
// dimension, and the weighted value, over the value dimension. The backward pass has five such
// products (the scores again, and the gradients of values, scores, queries and keys). Softmax is
// not counted. Keys and values shared by query heads are read once.

#include <algorithm>
#include <array>
#include <cmath>

#include "roof/models.h"

namespace assay {
namespace {

enum class HeadLayout : uint8_t {
  kHeadsFirst,   // [b, h, s, d]
  kHeadsSecond,  // [b, s, h, d]
  kPacked,       // [tokens, h, d], concatenated sequences
};
enum class Aligned : uint8_t {
  kFirst,  // query i sees keys up to i
  kLast,   // the last query is aligned with the last key
};
enum class CausalBy : uint8_t {
  kFlag,      // a boolean argument
  kMaskType,  // 0 none, 1 from the first key, 2 from the last
};

// Argument positions. Key and value follow the query. In a backward operator, the gradient of the
// result precedes the query.
struct Attention {
  std::string_view op;
  size_t query;
  HeadLayout layout;
  size_t causal;
  Aligned aligned = Aligned::kFirst;
  bool backward = false;
  CausalBy told = CausalBy::kFlag;
  size_t window = kNoArgument;   // two arguments: keys before and after the query
  size_t starts = kNoArgument;   // start offsets of the sequences, one more than sequences
  size_t longest = kNoArgument;  // two arguments: longest query and key sequence
  // Additional queries of multi-head latent attention. Their scores are computed with the values
  // and added to those of queries and keys.
  size_t of_values = kNoArgument;
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
    {"xformers::efficient_attention_forward_cutlass", 0, kBshd, 9, kFirst, false,
     CausalBy::kMaskType, kNoArgument, 4, 6},
    {"xformers::efficient_attention_backward_cutlass", 1, kBshd, 14, kFirst, true,
     CausalBy::kMaskType, kNoArgument, 6, 8},
    {"flash_attn_3::fwd", 0, HeadLayout::kPacked, 24, kLast, false, CausalBy::kFlag, 25, 7, 12, 5},
    {"flash_attn::_flash_attn_forward", 0, kBshd, 5, kLast, false, CausalBy::kFlag, 6},
    {"flash_attn::_flash_attn_backward", 1, kBshd, 11, kLast, true, CausalBy::kFlag, 12},
    {"flash_attn::_flash_attn_varlen_forward", 0, HeadLayout::kPacked, 9, kLast, false,
     CausalBy::kFlag, 10, 3, 5},
    {"flash_attn::_flash_attn_varlen_backward", 1, HeadLayout::kPacked, 15, kLast, true,
     CausalBy::kFlag, 16, 9, 11},
    {"FlashAttnFunc", 0, kBshd, 5, kLast},
    {"_vllm_fa2_C::varlen_fwd", 0, HeadLayout::kPacked, 15, kLast, false, CausalBy::kFlag, 16, 4,
     10},
    {"_vllm_fa3_C::fwd", 0, HeadLayout::kPacked, 24, kLast, false, CausalBy::kFlag, 25, 7, 12, 5},
    {"sgl_kernel::fwd", 0, HeadLayout::kPacked, 24, kLast, false, CausalBy::kFlag, 25, 7, 12, 5},
    {"aiter::_flash_attn_forward", 0, kBshd, 5, kLast, false, CausalBy::kFlag, 6},
    {"aiter::mha_fwd", 0, kBshd, 5, kLast, false, CausalBy::kFlag, 6},
    {"aiter::mha_batch_prefill", 0, HeadLayout::kPacked, 12, kLast, false, CausalBy::kFlag, 13, 3,
     6},
});

// One query per sequence; keys and values are in pages that a block table per sequence lists. Only
// the maximum length is known. query is [sequences, heads, d]; the key and value caches follow it.
struct PagedAttention {
  std::string_view op;
  size_t query;
  size_t key_heads;  // position of a value
  size_t tables;
  size_t longest;
  size_t starts = kNoArgument;  // start offsets of queries, if a sequence may have several
};
constexpr auto kPaged = std::to_array<PagedAttention>({
    {"_C::paged_attention_v1", 1, 4, 6, 9},
    {"_C::paged_attention_v2", 4, 7, 9, 12},
    {"_rocm_C::paged_attention", 4, 7, 9, 13, 11},
});

// Engines' wrappers of attention: pages and lengths belong to the layer and are not arguments.
constexpr auto kHidden = std::to_array<std::string_view>({
    "vllm::unified_attention",
    "vllm::unified_attention_with_output",
    "sglang::unified_attention_with_output",
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

// Concatenated sequences. Lengths are known for a single sequence, or if all have the maximum
// length. Paged keys are a pool of a size unrelated to the sequences. Their lengths are known if
// the longest is not longer than the longest query, which then attends to nothing else.
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

struct HeadSizes {
  double score_dim = 0;  // of queries and keys
  double value_dim = 0;
  double query_element = 0;  // bytes
  double key_element = 0;
  double of_values = 0;  // dimension of additional queries scored with the values; 0 = none
};

// pairs, queries and keys are multiplied by the number of heads.
OpWork work_of(double pairs, double queries, double keys, const HeadSizes& sizes, bool backward) {
  OpWork work{.kind = OpWorkKind::kAttention, .matrix = true};
  const double of_scores = backward ? 3 : 1;
  const double of_values = backward ? 2 : 1;
  work.flop =
      2 * pairs * (of_scores * (sizes.score_dim + sizes.of_values) + of_values * sizes.value_dim);
  if (backward) work.repeated_flop = 2 * pairs * (sizes.score_dim + sizes.of_values);
  const double result = queries * sizes.value_dim * sizes.query_element;
  const double shared = keys * (sizes.score_dim + sizes.value_dim) * sizes.key_element;
  const double asked = queries * (sizes.score_dim + sizes.of_values) * sizes.query_element;
  work.read_bytes = asked + shared + (backward ? 2 * result : 0);
  work.write_bytes = backward ? asked + shared : result;
  return work;
}

// Bounds from `least` to `most`, which have the same kind.
WorkAnswer between(const OpWork& least, const OpWork& most, const HeadSizes& sizes,
                   ElementType type) {
  if (!(sizes.query_element > 0) || !(sizes.key_element > 0)) return {WorkKnown::kNoTypes};
  WorkAnswer answer{WorkKnown::kBounds, least, most};
  for (OpWork* work : {&answer.work, &answer.most}) {
    work->math = type;
    work->by_values = true;
  }
  return answer;
}

double of_values(const Attention& kind, const OpInputs& inputs) {
  const TensorInput* queries = inputs.tensor(kind.of_values);
  return queries == nullptr || queries->sizes.empty() ? 0 : queries->sizes.back();
}

// Bounds for concatenated sequences of unknown lengths. A query attends to at least one key, and at
// most to the longest key sequence, minus keys excluded by causality. For N queries in b sequences,
// causal masks exclude the fewest pairs if all lengths are equal. Keys may be a pool, in pages
// [pages, page, heads, d] or single; a sequence uses at least one and at most the longest number of
// them.
WorkAnswer bounds_of_tokens(const Attention& kind, const OpInputs& inputs, const TensorInput& q,
                            const TensorInput& k, const TensorInput& v) {
  const TensorInput* starts = inputs.tensor(kind.starts);
  const auto longest_query = inputs.number(kind.longest);
  const auto longest_key = inputs.number(kind.longest + 1);
  const bool paged = k.sizes.size() == 4;
  const bool ranks = q.sizes.size() == 3 && (paged || k.sizes.size() == 3) &&
                     k.sizes.size() == v.sizes.size() && q.sizes[2] == k.sizes.back();
  if (!ranks || starts == nullptr || starts->sizes.size() != 1) return {WorkKnown::kNotCovered};
  if (!longest_query || !longest_key || inputs.value(kind.causal).empty())
    return {WorkKnown::kNoValues};
  const double sequences = starts->sizes[0] - 1;
  const double tokens = q.sizes[0];
  const double key_heads = k.sizes[k.sizes.size() - 2];
  if (!(sequences > 0) || !(*longest_query > 0) || !(*longest_key > 0) || !(key_heads > 0) ||
      std::fmod(q.sizes[1], key_heads) != 0)
    return {WorkKnown::kNotCovered};
  double pairs = tokens * *longest_key;
  if (inputs.flag(kind.causal) == true) {
    pairs -= tokens * std::max(0.0, tokens / sequences - 1) / 2;
    const double before = inputs.number(kind.window).value_or(-1);
    if (before >= 0) pairs = std::min(pairs, tokens * (before + 1));
  }
  pairs = std::max(pairs, tokens);
  const double pool = paged ? k.sizes[0] * k.sizes[1] : k.sizes[0];
  const double least_keys = std::ceil(tokens / *longest_query);
  const double most_keys = std::min(pool, sequences * *longest_key);
  const HeadSizes sizes{q.sizes[2], v.sizes.back(), element_bytes(q.type), element_bytes(k.type),
                        of_values(kind, inputs)};
  const double heads = q.sizes[1];
  return between(
      work_of(tokens * heads, tokens * heads, std::min(least_keys, most_keys) * key_heads, sizes,
              kind.backward),
      work_of(pairs * heads, tokens * heads, most_keys * key_heads, sizes, kind.backward), sizes,
      q.type);
}

WorkAnswer paged_work(const PagedAttention& kind, const OpInputs& inputs) {
  const TensorInput* q = inputs.tensor(kind.query);
  const TensorInput* k = inputs.tensor(kind.query + 1);
  const TensorInput* tables = inputs.tensor(kind.tables);
  if (q == nullptr || k == nullptr || tables == nullptr) return {WorkKnown::kNoShapes};
  const auto key_heads = inputs.number(kind.key_heads);
  const auto longest = inputs.number(kind.longest);
  if (!key_heads || !longest) return {WorkKnown::kNoValues};
  const bool several = inputs.tensor(kind.starts) != nullptr;
  if (several || q->sizes.size() != 3 || tables->sizes.size() != 2 || !(*key_heads > 0) ||
      !(*longest >= 1) || q->sizes[0] != tables->sizes[0])
    return {WorkKnown::kNotCovered};
  const HeadSizes sizes{q->sizes[2], q->sizes[2], element_bytes(q->type), element_bytes(k->type),
                        0};
  const double rows = q->sizes[0] * q->sizes[1];
  const double pool = k->elements() / q->sizes[2];  // keys of all heads that the cache can hold
  const double keys = std::min(pool, q->sizes[0] * *longest * *key_heads);
  return between(work_of(rows, rows, std::min(q->sizes[0] * *key_heads, keys), sizes, false),
                 work_of(rows * *longest, rows, keys, sizes, false), sizes, q->type);
}

WorkAnswer exact_work(const Attention& kind, const OpInputs& inputs,
                      const AttentionExtents& extents) {
  const auto window = window_of(kind, inputs, extents);
  if (!window) return {WorkKnown::kNoValues};
  const TensorInput& q = *inputs.tensor(kind.query);
  const TensorInput& k = *inputs.tensor(kind.query + 1);
  const bool packed = q.sizes.size() == 3;
  const double pairs = attended_pairs(extents.queries, extents.keys, *window);
  const double key_heads = k.sizes[kind.layout == kBhsd && !packed ? 1 : k.sizes.size() - 2];
  const HeadSizes sizes{extents.score_dim, extents.value_dim, element_bytes(q.type),
                        element_bytes(k.type), of_values(kind, inputs)};
  OpWork work = work_of(extents.batches * extents.heads * pairs,
                        extents.batches * extents.queries * extents.heads,
                        extents.batches * extents.keys * key_heads, sizes, kind.backward);
  work.math = q.type;
  work.by_values = packed;
  const double all_pairs = extents.queries * extents.keys;
  if (pairs > 0 && all_pairs > pairs) work.masked_flop = work.flop * (all_pairs / pairs - 1);
  // The argument after the values is a mask, or a bias that is added to scores.
  const TensorInput* mask = kind.backward || packed ? nullptr : inputs.tensor(kind.query + 3);
  if (mask != nullptr && mask->sizes.size() >= 2) work.read_bytes += mask->bytes();
  return told(work, sizes.query_element > 0 && sizes.key_element > 0);
}

// True for an operator of concatenated sequences that was called with a dense batch: no argument
// gives sequence boundaries, and no keys are paged or new.
bool is_dense(const Attention& kind, const OpInputs& inputs) {
  constexpr size_t kOfSequences = 8;  // number of arguments that could give them
  const TensorInput* q = inputs.tensor(kind.query);
  if (kind.starts == kNoArgument || q == nullptr || q->sizes.size() != 4) return false;
  for (size_t i = 0; i < kOfSequences; ++i) {
    if (inputs.tensor(kind.starts + i) != nullptr) return false;
  }
  return inputs.tensor(kind.query + 3) == nullptr && inputs.tensor(kind.query + 4) == nullptr;
}

WorkAnswer attention_of(const Attention& kind, const OpInputs& inputs) {
  const TensorInput* q = inputs.tensor(kind.query);
  const TensorInput* k = inputs.tensor(kind.query + 1);
  const TensorInput* v = inputs.tensor(kind.query + 2);
  if (q == nullptr || k == nullptr || v == nullptr) return {WorkKnown::kNoShapes};
  const bool packed =
      (kind.layout == HeadLayout::kPacked && !is_dense(kind, inputs)) || q->sizes.size() == 3;
  const AttentionExtents extents = packed ? of_tokens(kind, inputs, q->sizes, k->sizes, v->sizes)
                                          : of_rows(q->sizes, k->sizes, v->sizes, kind.layout);
  if (packed && !extents.fits) return bounds_of_tokens(kind, inputs, *q, *k, *v);
  constexpr double kLongest = 1e7;  // longer than any sequence; limits the loop over pairs
  const bool countable = extents.queries >= 0 && extents.queries <= kLongest;  // also rejects NaN
  if (!extents.fits || !countable) return {WorkKnown::kNotCovered};
  return exact_work(kind, inputs, extents);
}

// True if the query is one row [1, tokens, h, d] of concatenated sequences with start offsets.
bool is_one_row_of_several(const Attention& kind, const OpInputs& inputs) {
  const TensorInput* q = inputs.tensor(kind.query);
  const TensorInput* starts = inputs.tensor(kind.starts);
  return kind.layout == kBshd && q != nullptr && q->sizes.size() == 4 && q->sizes[0] == 1 &&
         starts != nullptr && starts->sizes.size() == 1 && starts->sizes[0] > 1;
}

OpInputs without_row(const Attention& kind, const OpInputs& inputs) {
  OpInputs result = inputs;
  for (size_t i = kind.query; i < kind.query + 3 && i < result.arguments.size(); ++i) {
    if (inputs.tensor(i) == nullptr || inputs.tensor(i)->sizes.size() != 4) continue;
    TensorInput& tensor = result.arguments[i].tensors.front();
    tensor.sizes.erase(tensor.sizes.begin());
    if (tensor.strides.size() == 4) tensor.strides.erase(tensor.strides.begin());
  }
  return result;
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

std::optional<AttentionLengths> attention_lengths(std::string_view op, const OpInputs& inputs) {
  if (const PagedAttention* paged = find_op(kPaged, op)) {
    // If a sequence may have several queries, their start offsets are an argument.
    if (inputs.tensor(paged->starts) != nullptr) return std::nullopt;
    return AttentionLengths{1, 0, true};
  }
  const Attention* kind = find_op(kAttentions, op);
  if (kind == nullptr || kind->backward) return std::nullopt;
  const OpInputs own = is_one_row_of_several(*kind, inputs) ? without_row(*kind, inputs) : inputs;
  const TensorInput* q = own.tensor(kind->query);
  const TensorInput* k = own.tensor(kind->query + 1);
  const TensorInput* v = own.tensor(kind->query + 2);
  if (q == nullptr || k == nullptr || v == nullptr) return std::nullopt;
  const bool packed = q->sizes.size() == 3;
  const AttentionExtents extents = packed ? of_tokens(*kind, own, q->sizes, k->sizes, v->sizes)
                                          : of_rows(q->sizes, k->sizes, v->sizes, kind->layout);
  if (!extents.fits) return std::nullopt;
  return AttentionLengths{extents.queries, extents.keys, false};
}

std::optional<WorkAnswer> attention_work(std::string_view op, const OpInputs& inputs) {
  if (const PagedAttention* paged = find_op(kPaged, op)) return paged_work(*paged, inputs);
  if (std::find(kHidden.begin(), kHidden.end(), op) != kHidden.end())
    return WorkAnswer{WorkKnown::kNotCovered};
  const Attention* kind = find_op(kAttentions, op);
  if (kind == nullptr) return std::nullopt;
  return attention_of(*kind,
                      is_one_row_of_several(*kind, inputs) ? without_row(*kind, inputs) : inputs);
}

}  // namespace assay
