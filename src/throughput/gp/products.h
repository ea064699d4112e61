#pragma once

// Products of matrices and Cholesky factors with one fixed type. Eigen instantiates each for every
// pair of types, at half a second of compile time each.

#include <Eigen/Core>

namespace assay {

using MatrixView = Eigen::Ref<const Eigen::MatrixXd>;
using VectorView = Eigen::Ref<const Eigen::VectorXd>;

Eigen::MatrixXd product(const MatrixView& a, const MatrixView& b);             // a b
Eigen::MatrixXd transposed_product(const MatrixView& a, const MatrixView& b);  // a' b
Eigen::VectorXd times(const MatrixView& a, const VectorView& b);
Eigen::VectorXd transposed_times(const MatrixView& a, const VectorView& b);
// c -= a b, c -= a' b
void subtract_product(Eigen::Ref<Eigen::MatrixXd> c, const MatrixView& a, const MatrixView& b);
void subtract_transposed_product(Eigen::Ref<Eigen::MatrixXd> c, const MatrixView& a,
                                 const MatrixView& b);

// Replaces a symmetric matrix by its lower Cholesky factor; the part above the diagonal stays.
// Returns false if it is not positive definite.
bool factorise(Eigen::Ref<Eigen::MatrixXd> k);
// Replaces b by l^-1 b or l'^-1 b for a lower triangular l. The part of l above the diagonal is not
// read.
void solve_lower(const MatrixView& l, Eigen::Ref<Eigen::MatrixXd> b);
void solve_lower_vector(const MatrixView& l, Eigen::Ref<Eigen::VectorXd> b);
void solve_lower_transposed(const MatrixView& l, Eigen::Ref<Eigen::MatrixXd> b);
void solve_lower_transposed_vector(const MatrixView& l, Eigen::Ref<Eigen::VectorXd> b);

}  // namespace assay
