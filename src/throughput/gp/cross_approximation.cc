#include "throughput/gp/cross_approximation.h"

#include <Eigen/Cholesky>
#include <cmath>
#include <cstdint>
#include <optional>

namespace assay {
namespace {

using Eigen::Index;
using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

// Number of consecutive small rows before a stop is considered. Partial pivoting follows one
// sequence of rows and can miss others.
constexpr int kRowsInTurn = 8;

// Number of columns, spread over all, in which every row is checked before the end.
constexpr size_t kSweptColumns = 32;

// Index from the sequence 0, 1/2, 1/4, 3/4, ..., which spreads any number of rows evenly (van der
// Corput).
size_t spread(uint32_t k, size_t rows) {
  double at = 0;
  double step = 0.5;
  for (; k > 0; k >>= 1, step /= 2) at += (k & 1U) != 0 ? step : 0;
  return static_cast<size_t>(at * static_cast<double>(rows));
}

class Cross {
 public:
  Cross(const CrossKernel& kernel, size_t max_rank)
      : kernel_(kernel),
        left_(static_cast<Index>(kernel.rows()), static_cast<Index>(max_rank)),
        right_(static_cast<Index>(kernel.columns()), static_cast<Index>(max_rank)),
        row_(right_.rows()),
        unused_(Vector::Ones(left_.rows())) {
    for (size_t k = 0; k < std::min(kSweptColumns, kernel.columns()); ++k)
      swept_.push_back(spread(static_cast<uint32_t>(k), kernel.columns()));
    sample_.resize(left_.rows(), static_cast<Index>(swept_.size()));
    for (size_t k = 0; k < swept_.size(); ++k)
      kernel.column(swept_[k], sample_.col(static_cast<Index>(k)).data());
  }

  // Euclidean norm of the residual of row i. The residual is kept for add().
  double lacking(size_t i) {
    const auto at = static_cast<Index>(i);
    unused_(at) = 0;
    asked_ = i;
    kernel_.row(i, row_.data());
    const Vector weights = left_.row(at).head(rank_);
    row_.noalias() -= right_.leftCols(rank_) * weights;
    return row_.norm();
  }

  // Adds the row of the last lacking() call as a term. Returns the largest entry of its left side.
  double add() {
    Index pivot = 0;
    row_.cwiseAbs().maxCoeff(&pivot);
    auto column = left_.col(rank_);
    Vector values(left_.rows());
    kernel_.column(static_cast<size_t>(pivot), values.data());
    const Vector weights = right_.row(pivot).head(rank_);
    values.noalias() -= left_.leftCols(rank_) * weights;
    column = values / row_(pivot);
    right_.col(rank_) = row_;
    pivot_rows_.push_back(asked_);
    pivot_columns_.push_back(static_cast<size_t>(pivot));
    ++rank_;
    return column.cwiseAbs().maxCoeff();
  }

  // Unused row with the largest value in the last term.
  size_t next() const {
    Index at = 0;
    left_.col(rank_ - 1).cwiseAbs().cwiseProduct(unused_).maxCoeff(&at);
    return static_cast<size_t>(at);
  }

  // The unused row with the largest residual in the swept columns; nullopt if none is above the
  // threshold.
  std::optional<size_t> worst(double threshold) const {
    const Matrix right = right_(swept_, Eigen::seqN(0, rank_));
    const Vector lacks =
        (sample_ - left_.leftCols(rank_) * right.transpose()).cwiseAbs().rowwise().maxCoeff();
    Index at = 0;
    if (lacks.cwiseProduct(unused_).maxCoeff(&at) <= threshold) return std::nullopt;
    return static_cast<size_t>(at);
  }

  bool full() const { return rank_ == left_.cols(); }

  CrossApproximation result(bool converged) const {
    const auto rank = static_cast<size_t>(rank_);
    return {rank,
            {left_.data(), left_.data() + left_.rows() * rank_},
            {right_.data(), right_.data() + right_.rows() * rank_},
            pivot_rows_,
            pivot_columns_,
            converged};
  }

 private:
  const CrossKernel& kernel_;
  Matrix left_;
  Matrix right_;
  Vector row_;
  Vector unused_;  // 1 per row not asked for yet, else 0
  std::vector<size_t> pivot_rows_;
  std::vector<size_t> pivot_columns_;
  std::vector<size_t> swept_;
  Matrix sample_;     // swept columns of the kernel
  size_t asked_ = 0;  // the row with its residual in row_
  Index rank_ = 0;
};

}  // namespace

CrossApproximation cross_approximation(const CrossKernel& kernel, double threshold,
                                       size_t max_rank) {
  Cross cross(kernel, max_rank);
  uint32_t probe = 0;
  int settled = 0;
  size_t row = 0;
  while (true) {
    if (settled == kRowsInTurn) {
      const std::optional<size_t> worst = cross.worst(threshold);
      if (!worst) return cross.result(true);
      row = *worst;
      settled = 0;
    }
    const double size = cross.lacking(row);
    bool small = size <= threshold;
    if (small) {
      ++settled;
    } else {
      settled = 0;
      if (cross.full()) return cross.result(false);
      small = cross.add() * size <= threshold;
    }
    row = small ? spread(++probe, kernel.rows()) : cross.next();
  }
}

}  // namespace assay
