#include "base/factorisations.h"

#include <Eigen/QR>

namespace assay {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

Vector least_squares(const Matrix& a, const Vector& b) { return a.colPivHouseholderQr().solve(b); }

Vector shortest_least_squares(const Matrix& a, const Vector& b, double dependent) {
  Eigen::CompleteOrthogonalDecomposition<Matrix> decomposition;
  decomposition.setThreshold(dependent);
  return decomposition.compute(a).solve(b);
}

Matrix pseudo_inverse_of(const Matrix& a) {
  return a.completeOrthogonalDecomposition().pseudoInverse();
}

ThinQr thin_qr(const Matrix& a) {
  const Eigen::HouseholderQR<Matrix> qr(a);
  return {qr.householderQ() * Matrix::Identity(a.rows(), a.cols()),
          qr.matrixQR().topRows(a.cols()).triangularView<Eigen::Upper>()};
}

Matrix reduced_rows(const Matrix& a) {
  const Eigen::HouseholderQR<Matrix> qr(a);
  return qr.matrixQR().topRows(a.cols()).triangularView<Eigen::Upper>();
}

Matrix column_basis(const Matrix& a, double same) {
  const Eigen::ColPivHouseholderQR<Matrix> qr(a);
  const auto sizes = qr.matrixQR().diagonal().cwiseAbs().array();
  const Eigen::Index rank = (sizes > same * sizes(0)).count();
  return qr.householderQ() * Matrix::Identity(a.rows(), rank);
}

}  // namespace assay
