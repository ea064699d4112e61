#include "levels/flops.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <string>
#include <vector>

#include "levels/waterfall.h"

namespace assay {
namespace {

using Shape = std::vector<double>;

// [[8,128],[],[128,64]] -> shapes of the arguments; what is deeper (lists of tensors) is an
// argument without a shape.
std::vector<Shape> shapes_of(std::string_view text) {
  std::vector<Shape> shapes;
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '[' && ++depth == 2) shapes.emplace_back();
    if (c == ']') --depth;
    if (depth != 2 || c < '0' || c > '9') continue;
    double value = 0;
    const auto [rest, error] = std::from_chars(text.data() + i, text.data() + text.size(), value);
    if (error != std::errc()) return {};
    shapes.back().push_back(value);
    i = static_cast<size_t>(rest - text.data()) - 1;
  }
  return shapes;
}

// Argument `index` of ["","True",...]; empty when there is none.
std::string_view argument(std::string_view text, size_t index) {
  size_t at = 0;
  for (size_t i = 0;; ++i) {
    const size_t begin = text.find('"', at);
    if (begin == std::string_view::npos) return {};
    size_t end = begin + 1;
    while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
    if (end >= text.size()) return {};
    if (i == index) return text.substr(begin + 1, end - begin - 1);
    at = end + 1;
  }
}

double product_flop(const std::vector<Shape>& shapes, size_t left) {
  if (shapes.size() < left + 2) return kNotTold;
  const Shape& a = shapes[left];
  const Shape& b = shapes[left + 1];
  if (a.size() < 2 || a.size() != b.size() || a.back() != b[b.size() - 2]) return kNotTold;
  double flop = 2 * b.back();
  for (const double size : a) flop *= size;
  return flop;
}

// x [..., k] times w [n, k] transposed.
double linear_flop(const std::vector<Shape>& shapes) {
  if (shapes.size() < 2) return kNotTold;
  const Shape& x = shapes[0];
  const Shape& w = shapes[1];
  if (x.empty() || w.size() != 2 || x.back() != w[1]) return kNotTold;
  double flop = 2 * w[0];
  for (const double size : x) flop *= size;
  return flop;
}

struct Attention {
  std::string_view op;
  size_t query;     // argument; the key follows it
  size_t sequence;  // axis of the sequence in [b,h,s,d] or [b,s,h,d]
  size_t causal;    // argument
  double factor;
};
constexpr std::array<Attention, 8> kAttention = {
    {{"aten::_scaled_dot_product_flash_attention", 0, 2, 4, 4},
     {"aten::_scaled_dot_product_flash_attention_backward", 1, 2, 11, 10},
     {"aten::_scaled_dot_product_efficient_attention", 0, 2, 6, 4},
     {"aten::_scaled_dot_product_cudnn_attention", 0, 2, 6, 4},
     {"flash_attn::_flash_attn_forward", 0, 1, 5, 4},
     {"flash_attn::_flash_attn_backward", 1, 1, 11, 10},
     {"aten::scaled_dot_product_attention", 0, 2, 5, 4},
     {"FlashAttnFunc", 0, 1, 5, 4}}};

double attention_flop(const Attention& kind, const std::vector<Shape>& shapes,
                      std::string_view concrete) {
  if (shapes.size() < kind.query + 2) return kNotTold;
  const Shape& q = shapes[kind.query];
  const Shape& k = shapes[kind.query + 1];
  if (q.size() != 4 || k.size() != 4 || q[3] != k[3]) return kNotTold;
  double flop = kind.factor * k[kind.sequence];
  for (const double size : q) flop *= size;
  const bool causal = argument(concrete, kind.causal) == "True";
  return causal ? flop / 2 : flop;
}

double counted(double flop) { return flop > 0 ? flop : kNotTold; }

}  // namespace

double operator_flop(std::string_view op, std::string_view dims, std::string_view concrete) {
  for (const Attention& kind : kAttention) {
    if (kind.op == op) return counted(attention_flop(kind, shapes_of(dims), concrete));
  }
  if (op == "aten::mm" || op == "aten::bmm" || op == "aten::_scaled_mm")
    return counted(product_flop(shapes_of(dims), 0));
  if (op == "aten::addmm" || op == "aten::baddbmm" || op == "aten::_addmm_activation")
    return counted(product_flop(shapes_of(dims), 1));
  if (op == "aten::linear") return counted(linear_flop(shapes_of(dims)));
  return kNotTold;
}

}  // namespace assay
