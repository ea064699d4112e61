#pragma once

// Least squares and orthogonal bases by QR. Eigen makes its QR anew in every file that asks for
// one, 6 to 10 seconds of compiling each time; here it is once.

#include <Eigen/Core>

namespace assay {

// x (n) of least |a x - b|, for a of m x n and b of m. Of columns that depend on others to rounding
// only some get a weight. Pivoted Householder QR.
Eigen::VectorXd least_squares(const Eigen::MatrixXd& a, const Eigen::VectorXd& b);

// The minimum-norm solution of the same problem: linearly dependent columns share. dependent: a
// column with a smaller residual after the others, as a share of the largest, counts as dependent.
Eigen::VectorXd shortest_least_squares(const Eigen::MatrixXd& a, const Eigen::VectorXd& b,
                                       double dependent);

// The pseudo-inverse (Moore and Penrose), n x m for a of m x n.
Eigen::MatrixXd pseudo_inverse_of(const Eigen::MatrixXd& a);

// a = q r, m >= n. q is m x n with orthonormal columns, and r is n x n, zero below its diagonal.
struct ThinQr {
  Eigen::MatrixXd q;
  Eigen::MatrixXd r;
};
ThinQr thin_qr(const Eigen::MatrixXd& a);
// Its r alone: n rows that have the least squares of a's m.
Eigen::MatrixXd reduced_rows(const Eigen::MatrixXd& a);

// Columns of length 1 at right angles that span those of a, but for what is below `same` of the
// largest.
Eigen::MatrixXd column_basis(const Eigen::MatrixXd& a, double same);

}  // namespace assay
