#include "breakdown/tokens.h"

#include <algorithm>
#include <charconv>

#include "breakdown/place.h"

namespace assay {

std::optional<int64_t> embedding_tokens(std::string_view dims) {
  const size_t first_end = dims.find(']');
  if (first_end == std::string_view::npos) return std::nullopt;
  const size_t begin = dims.find('[', first_end);
  if (begin == std::string_view::npos) return std::nullopt;
  const size_t end = dims.find(']', begin);
  if (end == std::string_view::npos) return std::nullopt;
  std::string_view list = dims.substr(begin + 1, end - begin - 1);
  if (list.empty()) return std::nullopt;
  int64_t product = 1;
  while (!list.empty()) {
    int64_t size = 0;
    const auto [rest, error] = std::from_chars(list.data(), list.data() + list.size(), size);
    if (error != std::errc() || size <= 0 || __builtin_mul_overflow(product, size, &product)) {
      return std::nullopt;
    }
    list.remove_prefix(static_cast<size_t>(rest - list.data()));
    if (!list.empty()) list.remove_prefix(1);  // the comma
  }
  return product;
}

std::vector<std::optional<int64_t>> tokens_per_window(const Trace& trace, const Windows& windows) {
  std::vector<std::optional<int64_t>> tokens(windows.windows.size());
  const StringId embedding = trace.strings.find("aten::embedding");
  if (!embedding) return tokens;
  for (size_t i = 0; i < trace.op_inputs.size(); ++i) {
    const size_t op = trace.op_inputs.op[i].index();
    if (trace.ops.name[op] != embedding) continue;
    const int32_t window = window_at(windows, trace.ops.start_ns[op]);
    const auto found = embedding_tokens(trace.text(trace.op_inputs.dims[i]));
    if (window < 0 || !found) continue;
    std::optional<int64_t>& most = tokens[static_cast<size_t>(window)];
    most = std::max(most.value_or(0), *found);
  }
  return tokens;
}

}  // namespace assay
