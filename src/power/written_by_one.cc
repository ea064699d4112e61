#include "power/written_by_one.h"

#include <vector>

#include "base/turns.h"

namespace assay {

Status check_written_by_one(const PowerSeries& series, const EnergyReport& report,
                            const std::string& path, const std::string& else_do) {
  std::vector<double> powers;
  std::vector<double> left;
  for (const PowerReading& reading : series.readings) powers.push_back(reading.power_w);
  for (const EnergyReport::FitPoint& one : report.fit) left.push_back(one.power_w - one.model_w);
  const size_t writers = written_in_turn(powers);
  if (writers == 1 || (!left.empty() && written_in_turn(left) == 1)) return Ok{};
  const std::string count = std::to_string(writers);
  return Error{ErrorCode::kFormat,
               "its rows go together by " + count + "s, as if " + count +
                   " GPUs had written them in turn, and no column tells which is which: record "
                   "with one, as in nvidia-smi --query-gpu=index,timestamp,power.draw" +
                   else_do,
               path, -1};
}

}  // namespace assay
