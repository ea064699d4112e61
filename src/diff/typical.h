#pragma once

// How much the usual iteration changed, whatever a few far from the rest do.
//
// Problem: one iteration of 600 ms among thirty of 120 ms (a checkpoint, a first batch) widens the
// interval of the mean until a change of every other iteration lies inside it.
// Method: the shift of Hodges and Lehmann, the median of all differences between a block of B and
// one of A, with the interval of the Mann-Whitney test: differences of the rank that the test's
// distribution under no change cuts off (exact up to 30 blocks a side, else the normal
// approximation). It asks for no shape of the distribution, only that both sides have the same but
// for the shift.
// Effect: 16 steps of 150.6 ms that a loader's mending takes to 122.5 ms, one of 600 ms among them:
// the mean grows by 1.9 ms, -37 to +79; the shift is -27.9 ms, -28.4 to -27.2.

#include <vector>

namespace assay {

struct TypicalChange {
  bool known = false;  // enough blocks for 95 %: four a side, or three and five
  double change = 0;   // B less A
  double low = 0;
  double high = 0;
  double a = 0;  // median of A
  bool real() const { return known && (low > 0 || high < 0); }
};
// a, b: one value per block. Exchanged sides give the opposite.
TypicalChange typical_change(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace assay
