#include "throughput/reach.h"

#include <algorithm>

#include "base/decimal.h"

namespace assay {

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
  ++rows;
}

void note_beyond(const char* what, double value, const Range& range, double factor,
                 std::vector<std::string>& reasons) {
  if (value > range.high * factor) {
    reasons.push_back(std::string(what) + " " + rounded_text(value) + " is more than " +
                      rounded_text(factor) + " times the largest measured (" +
                      rounded_text(range.high) + ")");
  } else if (value < range.low / factor) {
    reasons.push_back(std::string(what) + " " + rounded_text(value) + " is less than 1/" +
                      rounded_text(factor) + " of the smallest measured (" +
                      rounded_text(range.low) + ")");
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
                                   ? rounded_text(range.low) + " only"
                                   : rounded_text(range.low) + " to " + rounded_text(range.high);
  reasons.push_back("input over output length is " + rounded_text(ratio) + ", measured is " +
                    measured);
}

}  // namespace assay
