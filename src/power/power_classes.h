#pragma once

// The least squares behind attribution: powers of classes from readings, never negative, classes
// that the readings cannot tell apart merged first.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay {

// Readings against shares: watts[i] = base + sum over columns of share[column][i] x power.
struct ShareMatrix {
  std::vector<std::vector<double>> columns;
  std::vector<double> watts;
  size_t rows() const { return watts.size(); }
};

// Which columns became one: groups of column numbers, ascending. A group whose summed share hardly
// varies is `steady`.
struct ColumnGroups {
  std::vector<std::vector<size_t>> groups;
  std::vector<bool> steady;
};
// Merges columns whose correlation, with one or with all others together, leaves their powers
// undetermined (correlation over 0.95, variance inflation over 30).
ColumnGroups tell_apart(const ShareMatrix& matrix);

// Base first, then one power per group; steady groups get 0. All >= 0.
std::vector<double> fit_powers(const ShareMatrix& merged, const std::vector<bool>& steady);
// Sums of columns by group.
ShareMatrix merge_columns(const ShareMatrix& matrix, const ColumnGroups& groups);

// Powers (base first) of resamples of blocks of neighbouring readings.
std::vector<std::vector<double>> bootstrap_powers(const ShareMatrix& merged,
                                                  const std::vector<bool>& steady, size_t block,
                                                  uint32_t resamples, uint64_t seed);

}  // namespace assay
