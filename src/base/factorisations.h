#pragma once

// Least squares and orthogonal bases by QR. Eigen's QR templates take 6 to 10 seconds to compile in
// every file that uses them; they are instantiated only here.

#include <Eigen/Core>

namespace assay {

// The x (n) that minimizes |a x - b|; a is m x n, b has m elements. Of columns that are linearly
// dependent up to rounding, some get the weight 0. Column-pivoted Householder QR.
Eigen::VectorXd least_squares(const Eigen::MatrixXd& a, const Eigen::VectorXd& b);

// The minimum-norm solution of the same problem: linearly dependent columns share the weight.
// dependent: a column counts as dependent if its residual after the others is below this fraction
// of the largest.
Eigen::VectorXd shortest_least_squares(const Eigen::MatrixXd& a, const Eigen::VectorXd& b,
                                       double dependent);

// The Moore-Penrose pseudo-inverse, n x m for an m x n matrix.
Eigen::MatrixXd pseudo_inverse_of(const Eigen::MatrixXd& a);

// a = q r, m >= n. q is m x n with orthonormal columns, and r is n x n, zero below its diagonal.
struct ThinQr {
  Eigen::MatrixXd q;
  Eigen::MatrixXd r;
};
ThinQr thin_qr(const Eigen::MatrixXd& a);
// Only r: n rows that give the same least-squares solution as the m rows of a.
Eigen::MatrixXd reduced_rows(const Eigen::MatrixXd& a);

// Orthonormal columns that span the columns of a. Directions below the fraction `same` of the
// largest are left out.
Eigen::MatrixXd column_basis(const Eigen::MatrixXd& a, double same);

}  // namespace assay
