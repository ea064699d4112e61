#include "power/joint/valley.h"

#include "power/joint/normal_equations.h"

namespace assay {
namespace {

// Parameters that the readings hardly tell apart move together, not far.
constexpr double kRidge = 1e-6;  // of each diagonal

// Powers that are above 0, then the parameters.
NormalEquations equations(const std::vector<double>& x, const std::vector<double>& left,
                          const std::vector<double>& powers,
                          const std::vector<std::vector<double>>& slopes) {
  std::vector<size_t> in;
  for (size_t j = 0; j < powers.size(); ++j) {
    if (powers[j] > 0) in.push_back(j);
  }
  const size_t terms = in.size() + slopes.size();
  NormalEquations normal(terms);
  std::vector<double> row(terms);
  for (size_t i = 0; i < left.size(); ++i) {
    for (size_t j = 0; j < in.size(); ++j) row[j] = x[i * powers.size() + in[j]];
    for (size_t j = 0; j < slopes.size(); ++j) row[in.size() + j] = slopes[j][i];
    for (size_t a = 0; a < terms; ++a) {
      normal.right[a] += row[a] * left[i];
      for (size_t b = 0; b <= a; ++b) normal.gram[a * terms + b] += row[a] * row[b];
    }
  }
  for (size_t a = 0; a < terms; ++a) {
    for (size_t b = 0; b < a; ++b) normal.gram[b * terms + a] = normal.gram[a * terms + b];
    normal.gram[a * terms + a] = normal.gram[a * terms + a] * (1 + kRidge) + 1e-12;
  }
  return normal;
}

}  // namespace

Valley valley_at(const std::vector<double>& x, const std::vector<double>& left,
                 const std::vector<double>& powers,
                 const std::vector<std::vector<double>>& slopes) {
  const NormalEquations normal = equations(x, left, powers, slopes);
  const size_t terms = normal.terms();
  const size_t first = terms - slopes.size();
  const std::vector<double> inverse = pseudo_inverse(normal.gram, terms);
  Valley valley;
  for (size_t a = first; a < terms; ++a) {
    double move = 0;
    for (size_t b = 0; b < terms; ++b) move += inverse[a * terms + b] * normal.right[b];
    valley.move.push_back(move);
    for (size_t b = first; b < terms; ++b) valley.covariance.push_back(inverse[a * terms + b]);
  }
  return valley;
}

}  // namespace assay
