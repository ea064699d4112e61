#pragma once

// Nanoseconds by row in six bytes each, exactly: a job has hundreds of millions of them.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay {

class PackedTimes {
 public:
  // At least kLeast and below its opposite: 39 hours. What a record tells is shorter
  // (kLongestInRecord).
  static constexpr int64_t kLeast = -(int64_t{1} << 47);

  void reserve(size_t rows) {
    low_.reserve(rows);
    high_.reserve(rows);
  }
  size_t size() const { return low_.size(); }
  void push_back(int64_t ns) {
    low_.push_back(static_cast<uint32_t>(ns));
    high_.push_back(static_cast<int16_t>(ns >> 32));
  }
  int64_t operator[](size_t row) const {
    return static_cast<int64_t>(high_[row]) * (int64_t{1} << 32) + low_[row];
  }

  // Puts each row where `at` says; one list of them after the other is made anew.
  void move_to(const std::vector<uint32_t>& at) {
    move_rows(low_, at);
    move_rows(high_, at);
  }

  template <typename T>
  static void move_rows(std::vector<T>& rows, const std::vector<uint32_t>& at) {
    std::vector<T> to(rows.size());
    for (size_t row = 0; row < rows.size(); ++row) to[at[row]] = rows[row];
    rows = std::move(to);
  }

 private:
  std::vector<uint32_t> low_;
  std::vector<int16_t> high_;
};

}  // namespace assay
