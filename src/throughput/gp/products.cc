#include "throughput/gp/products.h"

#include <Eigen/Cholesky>

namespace assay {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

Matrix product(const MatrixView& a, const MatrixView& b) { return a * b; }
Matrix transposed_product(const MatrixView& a, const MatrixView& b) { return a.transpose() * b; }
Vector times(const MatrixView& a, const VectorView& b) { return a * b; }
Vector transposed_times(const MatrixView& a, const VectorView& b) { return a.transpose() * b; }

void subtract_product(Eigen::Ref<Matrix> c, const MatrixView& a, const MatrixView& b) {
  c.noalias() -= a * b;
}

void subtract_transposed_product(Eigen::Ref<Matrix> c, const MatrixView& a, const MatrixView& b) {
  c.noalias() -= a.transpose() * b;
}

bool factorise(Eigen::Ref<Matrix> k) {
  const Eigen::LLT<Eigen::Ref<Matrix>> llt(k);
  return llt.info() == Eigen::Success && k.diagonal().allFinite();
}

void solve_lower(const MatrixView& l, Eigen::Ref<Matrix> b) {
  l.triangularView<Eigen::Lower>().solveInPlace(b);
}

void solve_lower_vector(const MatrixView& l, Eigen::Ref<Vector> b) {
  l.triangularView<Eigen::Lower>().solveInPlace(b);
}

void solve_lower_transposed(const MatrixView& l, Eigen::Ref<Matrix> b) {
  l.transpose().triangularView<Eigen::Upper>().solveInPlace(b);
}

void solve_lower_transposed_vector(const MatrixView& l, Eigen::Ref<Vector> b) {
  l.transpose().triangularView<Eigen::Upper>().solveInPlace(b);
}

}  // namespace assay
