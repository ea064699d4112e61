#include "records/bench_table.h"

namespace assay {

std::string_view oddity_weight_name(OddityWeight weight) {
  switch (weight) {
    case OddityWeight::kNote:
      return "note";
    case OddityWeight::kLoss:
      return "loss";
    case OddityWeight::kWarning:
      return "warning";
  }
  return "";
}

void count_oddity(std::vector<BenchOddity>& oddities, std::string_view code, int64_t line,
                  bool dropped, std::string_view effect, OddityWeight weight) {
  for (BenchOddity& oddity : oddities) {
    if (oddity.code != code) continue;
    ++oddity.rows;
    oddity.dropped += dropped;
    return;
  }
  oddities.push_back({std::string(code), 1, dropped ? 1U : 0U, line, std::string(effect), weight});
}

}  // namespace assay
