#include "throughput/reach.h"

#include <algorithm>
#include <cmath>

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
  length.add(row.in_len + row.out_len);
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

double doublings_beyond(double value, const Range& range) {
  if (value > range.high) return std::log2(value / range.high);
  return value < range.low ? std::log2(range.low / value) : 0;
}

bool note_only_batch(double batch, const Range& range, std::vector<std::string>& reasons) {
  if (range.low != range.high || batch == range.high) return false;
  reasons.push_back("all rows have batch " + rounded_text(range.high) +
                    ", and what another does is not known without physics");
  return true;
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
