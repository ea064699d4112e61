#include "throughput/reach.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace assay {
namespace {

std::string number_text(double value) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.6g", value);
  return text.data();
}

}  // namespace

void Range::add(double value) {
  low = std::min(low, value);
  high = std::max(high, value);
}

double ratio_of(const BenchRow& row) { return row.in_len / row.out_len; }

void Reach::add(const BenchRow& row) {
  ratio.add(ratio_of(row));
  in_len.add(row.in_len);
  out_len.add(row.out_len);
  batch.add(row.batch);
  devices.add(row.devices);
}

void note_beyond(const char* what, double value, const Range& range, double factor,
                 std::vector<std::string>& reasons) {
  if (value > range.high * factor) {
    reasons.push_back(std::string(what) + " " + number_text(value) + " is more than " +
                      number_text(factor) + " times the largest measured (" +
                      number_text(range.high) + ")");
  } else if (value < range.low / factor) {
    reasons.push_back(std::string(what) + " " + number_text(value) + " is less than 1/" +
                      number_text(factor) + " of the smallest measured (" + number_text(range.low) +
                      ")");
  }
}

void note_ratio(double ratio, const Range& range, std::vector<std::string>& reasons) {
  constexpr double kRounding = 1 + 1e-9;
  if (ratio <= range.high * kRounding && ratio >= range.low / kRounding) return;
  if (range.low == 1 && range.high == 1) {
    reasons.push_back("the rows have equal input and output lengths only");
    return;
  }
  const std::string measured = range.low == range.high
                                   ? number_text(range.low) + " only"
                                   : number_text(range.low) + " to " + number_text(range.high);
  reasons.push_back("input over output length is " + number_text(ratio) + ", measured is " +
                    measured);
}

}  // namespace assay
