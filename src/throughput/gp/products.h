#pragma once

// Products of matrices and Cholesky factors. Eigen makes each anew for every pair of types that it
// is asked for, half a second to compile each time; here they are of one type.

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

// Of a symmetric matrix the lower Cholesky factor in its place; what is above the diagonal stays.
// false: not positive definite.
bool factorise(Eigen::Ref<Eigen::MatrixXd> k);
// In the place of b: l^-1 b and l'^-1 b for a lower triangular l, of which the rest is not read.
void solve_lower(const MatrixView& l, Eigen::Ref<Eigen::MatrixXd> b);
void solve_lower_vector(const MatrixView& l, Eigen::Ref<Eigen::VectorXd> b);
void solve_lower_transposed(const MatrixView& l, Eigen::Ref<Eigen::MatrixXd> b);
void solve_lower_transposed_vector(const MatrixView& l, Eigen::Ref<Eigen::VectorXd> b);

}  // namespace assay
