#include "diff/sequence.h"

#include <algorithm>
#include <utility>

namespace assay {
namespace {

struct Point {
  int64_t a = 0;
  int64_t b = 0;
};

// The furthest points per diagonal k = a - b after d edits: furthest[d][k + d].
using Frontiers = std::vector<std::vector<int64_t>>;

class Myers {
 public:
  Myers(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b) : a_(a), b_(b) {}

  bool search(size_t most_edits) {
    for (size_t edits = 0; edits <= most_edits; ++edits) {
      frontiers_.emplace_back(2 * edits + 1, 0);
      if (extend(static_cast<int64_t>(edits))) return true;
    }
    return false;
  }

  // Corners of the path from the end back to the start: every pair of neighbours is one edit
  // followed by a diagonal.
  std::vector<Hunk> hunks() const {
    std::vector<Hunk> reversed;
    Point at{size_of(a_), size_of(b_)};
    for (auto d = static_cast<int64_t>(frontiers_.size()) - 1; d > 0; --d) {
      const int64_t k = at.a - at.b;
      const bool down = is_down(d, k);
      const int64_t from_k = down ? k + 1 : k - 1;
      const int64_t from_a = value(d - 1, from_k);
      const Point from{from_a, from_a - from_k};
      const Point edited = down ? Point{from.a, from.b + 1} : Point{from.a + 1, from.b};
      prepend(reversed, from, edited);
      at = from;
    }
    std::reverse(reversed.begin(), reversed.end());
    return reversed;
  }

 private:
  static int64_t size_of(const std::vector<uint32_t>& v) { return static_cast<int64_t>(v.size()); }

  int64_t value(int64_t d, int64_t k) const {
    if (k < -d || k > d) return -1;
    return frontiers_[static_cast<size_t>(d)][static_cast<size_t>(k + d)];
  }

  bool is_down(int64_t d, int64_t k) const {
    return k == -d || (k != d && value(d - 1, k - 1) < value(d - 1, k + 1));
  }

  // Computes the furthest points with d edits. True if one of them is the end.
  bool extend(int64_t d) {
    for (int64_t k = -d; k <= d; k += 2) {
      int64_t x = 0;
      if (d > 0) x = is_down(d, k) ? value(d - 1, k + 1) : value(d - 1, k - 1) + 1;
      int64_t y = x - k;
      while (x < size_of(a_) && y < size_of(b_) && y >= 0 &&
             a_[static_cast<size_t>(x)] == b_[static_cast<size_t>(y)]) {
        ++x;
        ++y;
      }
      frontiers_[static_cast<size_t>(d)][static_cast<size_t>(k + d)] = x;
      if (x >= size_of(a_) && y >= size_of(b_)) return true;
    }
    return false;
  }

  // Walking backwards, an edit that ends where the previous hunk begins extends that hunk.
  static void prepend(std::vector<Hunk>& reversed, Point from, Point edited) {
    const auto index = [](int64_t i) { return static_cast<size_t>(i); };
    if (!reversed.empty() && reversed.back().a_begin == index(edited.a) &&
        reversed.back().b_begin == index(edited.b)) {
      reversed.back().a_begin = index(from.a);
      reversed.back().b_begin = index(from.b);
      return;
    }
    reversed.push_back({index(from.a), index(edited.a), index(from.b), index(edited.b)});
  }

  const std::vector<uint32_t>& a_;
  const std::vector<uint32_t>& b_;
  Frontiers frontiers_;
};

}  // namespace

std::optional<std::vector<Hunk>> align_sequences(const std::vector<uint32_t>& a,
                                                 const std::vector<uint32_t>& b,
                                                 size_t most_edits) {
  Myers myers(a, b);
  if (!myers.search(std::min(most_edits, a.size() + b.size()))) return std::nullopt;
  return myers.hunks();
}

}  // namespace assay
