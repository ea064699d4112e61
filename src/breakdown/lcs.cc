#include "breakdown/lcs.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

namespace assay {
namespace {

using Pairs = std::vector<std::pair<uint32_t, uint32_t>>;

// A run of equal tokens in the middle of a shortest edit path, and the length of that path.
struct Snake {
  int64_t x = 0;
  int64_t y = 0;
  int64_t u = 0;
  int64_t v = 0;
  int64_t differences = 0;
};

class Matching {
 public:
  Matching(std::span<const uint32_t> a, std::span<const uint32_t> b, size_t max_differences)
      : a_(a),
        b_(b),
        limit_(static_cast<int64_t>(std::min(max_differences, a.size() + b.size()))),
        forward_(static_cast<size_t>(2 * (limit_ / 2 + 2) + 1)),
        backward_(forward_.size()) {}

  bool run();
  Pairs take() { return std::move(pairs_); }

 private:
  struct Box {
    int64_t a0, a1, b0, b1;
  };
  bool find_snake(const Box& box, Snake& snake);
  void take_equal(int64_t a, int64_t b, int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      pairs_.emplace_back(static_cast<uint32_t>(a + i), static_cast<uint32_t>(b + i));
  }
  bool solve(Box box);
  bool equal(int64_t i, int64_t j) const {
    return a_[static_cast<size_t>(i)] == b_[static_cast<size_t>(j)];
  }

  std::span<const uint32_t> a_;
  std::span<const uint32_t> b_;
  const int64_t limit_;
  std::vector<int64_t> forward_;   // furthest x per diagonal; diagonal 0 is in the middle
  std::vector<int64_t> backward_;  // the same, searched from the end
  Pairs pairs_;
};

// The furthest start on diagonal k with d differences, from the results for d - 1: one step right
// from diagonal k - 1, or one down from k + 1. kNowhere if both leave the box.
constexpr int64_t kNowhere = INT64_MIN / 4;
template <typename Reached>
int64_t step(const Reached& reached, int64_t d, int64_t k, int64_t n, int64_t m) {
  if (d == 0) return 0;
  int64_t x = kNowhere;
  if (k > -d && reached(k - 1) != kNowhere && reached(k - 1) < n) x = reached(k - 1) + 1;
  if (k < d && reached(k + 1) != kNowhere && reached(k + 1) - (k + 1) < m) {
    x = std::max(x, reached(k + 1));
  }
  return x;
}

// Searches from both corners of the box; where the two paths first meet is on a shortest one.
bool Matching::find_snake(const Box& box, Snake& snake) {
  const int64_t n = box.a1 - box.a0;
  const int64_t m = box.b1 - box.b0;
  const int64_t delta = n - m;
  const bool odd = (delta & 1) != 0;
  const auto middle = static_cast<int64_t>(forward_.size() / 2);
  const auto f = [&](int64_t k) -> int64_t& { return forward_[static_cast<size_t>(middle + k)]; };
  const auto r = [&](int64_t k) -> int64_t& { return backward_[static_cast<size_t>(middle + k)]; };
  const int64_t half = std::min((limit_ + 1) / 2, (n + m + 1) / 2);
  for (int64_t d = 0; d <= half; ++d) {
    for (int64_t k = -d; k <= d; k += 2) {
      const int64_t x0 = step(f, d, k, n, m);
      int64_t x = x0;
      while (x != kNowhere && x < n && x - k < m && equal(box.a0 + x, box.b0 + x - k)) ++x;
      f(k) = x;
      const int64_t opposite = delta - k;
      if (odd && opposite >= 1 - d && opposite <= d - 1 && x + r(opposite) >= n) {
        snake = {x0, x0 - k, x, x - k, 2 * d - 1};
        return true;
      }
    }
    for (int64_t k = -d; k <= d; k += 2) {
      const int64_t x0 = step(r, d, k, n, m);
      int64_t x = x0;
      while (x != kNowhere && x < n && x - k < m && equal(box.a1 - 1 - x, box.b1 - 1 - x + k)) ++x;
      r(k) = x;
      const int64_t opposite = delta - k;
      if (!odd && opposite >= -d && opposite <= d && x + f(opposite) >= n) {
        snake = {n - x, m - x + k, n - x0, m - x0 + k, 2 * d};
        return true;
      }
    }
  }
  return false;
}

// Divide and conquer with an explicit stack, because depth grows with the differences. Boxes are
// solved from left to right, so that pairs are in order.
bool Matching::solve(Box whole) {
  struct Piece {
    Box box;
    bool equal;  // a run of equal tokens to take
  };
  std::vector<Piece> stack = {{whole, false}};
  while (!stack.empty()) {
    const Piece piece = stack.back();
    stack.pop_back();
    Box box = piece.box;
    if (piece.equal) {
      take_equal(box.a0, box.b0, box.a1 - box.a0);
      continue;
    }
    const int64_t a0 = box.a0;
    const int64_t b0 = box.b0;
    while (box.a0 < box.a1 && box.b0 < box.b1 && equal(box.a0, box.b0)) {
      ++box.a0;
      ++box.b0;
    }
    take_equal(a0, b0, box.a0 - a0);
    int64_t tail = 0;
    while (box.a0 < box.a1 && box.b0 < box.b1 && equal(box.a1 - 1, box.b1 - 1)) {
      --box.a1;
      --box.b1;
      ++tail;
    }
    if (tail > 0) stack.push_back({{box.a1, box.a1 + tail, box.b1, box.b1 + tail}, true});
    if (box.a0 == box.a1 || box.b0 == box.b1) continue;
    Snake snake;
    if (!find_snake(box, snake)) return false;
    if (snake.differences > limit_) return false;
    const Box left = {box.a0, box.a0 + snake.x, box.b0, box.b0 + snake.y};
    const Box run = {box.a0 + snake.x, box.a0 + snake.u, box.b0 + snake.y, box.b0 + snake.v};
    const Box right = {box.a0 + snake.u, box.a1, box.b0 + snake.v, box.b1};
    stack.push_back({right, false});
    stack.push_back({run, true});
    stack.push_back({left, false});
  }
  return true;
}

bool Matching::run() {
  return solve({0, static_cast<int64_t>(a_.size()), 0, static_cast<int64_t>(b_.size())});
}

}  // namespace

std::optional<std::vector<std::pair<uint32_t, uint32_t>>> common_subsequence(
    std::span<const uint32_t> a, std::span<const uint32_t> b, size_t max_differences) {
  Matching matching(a, b, max_differences);
  if (!matching.run()) return std::nullopt;
  Pairs pairs = matching.take();
  if (a.size() + b.size() - 2 * pairs.size() > max_differences) return std::nullopt;
  return pairs;
}

CommonEnds common_ends(std::span<const uint32_t> a, std::span<const uint32_t> b) {
  const size_t shorter = std::min(a.size(), b.size());
  CommonEnds ends;
  while (ends.begin < shorter && a[ends.begin] == b[ends.begin]) ++ends.begin;
  while (ends.begin + ends.end < shorter &&
         a[a.size() - 1 - ends.end] == b[b.size() - 1 - ends.end])
    ++ends.end;
  return ends;
}

namespace {

// each_row(r, columns): bit k is set if column k of this word increases the length in row r.
template <typename EachRow>
void fill_table(std::span<const uint32_t> a, std::span<const uint32_t> b, EachRow each_row) {
  constexpr size_t kBits = 64;
  std::unordered_map<uint32_t, uint32_t> ids;  // tokens of b; all others share one more id
  std::vector<uint32_t> columns;
  for (const uint32_t token : b) {
    columns.push_back(ids.try_emplace(token, static_cast<uint32_t>(ids.size())).first->second);
  }
  std::vector<uint32_t> rows;
  for (const uint32_t token : a) {
    const auto id = ids.find(token);
    rows.push_back(id == ids.end() ? static_cast<uint32_t>(ids.size()) : id->second);
  }
  std::vector<uint64_t> places(ids.size() + 1, 0);  // per token, its columns in the current word
  std::vector<uint8_t> carry(a.size(), 0);          // per row, from one word to the next
  for (size_t first = 0; first < b.size(); first += kBits) {
    const size_t width = std::min(kBits, b.size() - first);
    for (size_t k = 0; k < width; ++k) places[columns[first + k]] |= uint64_t{1} << k;
    const uint64_t used = width == kBits ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
    uint64_t bits = ~uint64_t{0};  // 0 where a column increases the length in this row
    for (size_t i = 0; i < rows.size(); ++i) {
      const uint64_t match = bits & places[rows[i]];
      const uint64_t sum = bits + match;
      const uint64_t with_carry = sum + carry[i];
      carry[i] = static_cast<uint8_t>(sum < bits || with_carry < sum ? 1 : 0);
      bits = with_carry | (bits - match);
      each_row(i, ~bits & used);
    }
    for (size_t k = 0; k < width; ++k) places[columns[first + k]] = 0;
  }
}

}  // namespace

size_t common_length(std::span<const uint32_t> a, std::span<const uint32_t> b) {
  size_t length = 0;
  fill_table(a, b, [&](size_t row, uint64_t columns) {
    if (row + 1 == a.size()) length += static_cast<size_t>(std::popcount(columns));
  });
  return length;
}

std::vector<size_t> common_lengths(std::span<const uint32_t> a, std::span<const uint32_t> b) {
  std::vector<size_t> lengths(a.size() + 1, 0);
  fill_table(a, b, [&](size_t row, uint64_t columns) {
    lengths[row + 1] += static_cast<size_t>(std::popcount(columns));
  });
  return lengths;
}

SuffixLengths::SuffixLengths(std::span<const uint32_t> a, std::span<const uint32_t> b)
    : rows_(a.size()), columns_(b.size()), words_((b.size() + 63) / 64) {
  grows_.resize(rows_ * words_);
  const std::vector<uint32_t> rows(a.rbegin(), a.rend());
  const std::vector<uint32_t> columns(b.rbegin(), b.rend());
  std::vector<size_t> next(rows_, 0);  // filled words of each row
  fill_table(rows, columns,
             [&](size_t row, uint64_t grows) { grows_[row * words_ + next[row]++] = grows; });
}

size_t SuffixLengths::at(size_t i, size_t j) const {
  if (i >= rows_ || j >= columns_) return 0;
  const uint64_t* const row = grows_.data() + (rows_ - 1 - i) * words_;
  const size_t taken = columns_ - j;
  size_t length = 0;
  for (size_t word = 0; word < taken / 64; ++word)
    length += static_cast<size_t>(std::popcount(row[word]));
  if (taken % 64 == 0) return length;
  const uint64_t used = (uint64_t{1} << taken % 64) - 1;
  return length + static_cast<size_t>(std::popcount(row[taken / 64] & used));
}

}  // namespace assay
