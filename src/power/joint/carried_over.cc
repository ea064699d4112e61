#include "power/joint/carried_over.h"

#include <cmath>
#include <cstddef>

namespace assay {

CarriedOver carried_over(const std::vector<double>& read_w, const std::vector<double>& modelled_w) {
  constexpr size_t kFewest = 30;
  if (read_w.size() < kFewest) return {};
  double aa = 0;
  double ab = 0;
  double bb = 0;
  double ae = 0;
  double be = 0;
  double ee = 0;
  for (size_t i = 1; i < read_w.size(); ++i) {
    const double off = read_w[i] - modelled_w[i];
    const double off_before = read_w[i - 1] - modelled_w[i - 1];
    const double fell = modelled_w[i - 1] - modelled_w[i];
    aa += off_before * off_before;
    ab += off_before * fell;
    bb += fell * fell;
    ae += off_before * off;
    be += fell * off;
    ee += off * off;
  }
  const double determinant = aa * bb - ab * ab;
  if (!(determinant > 1e-9 * aa * bb)) return {};
  const double repeated = (bb * ae - ab * be) / determinant;
  const double share = (aa * be - ab * ae) / determinant;
  const double left = ee - repeated * ae - share * be;
  const auto n = static_cast<double>(read_w.size() - 3);
  return {share, std::sqrt(left / n * aa / determinant)};
}

}  // namespace assay
