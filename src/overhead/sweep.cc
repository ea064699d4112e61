#include "overhead/sweep.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/decimal.h"
#include "base/numbers.h"

namespace assay {
namespace {

constexpr double kBalance = 0.5;

double relative(double a, double b) { return a != 0 ? (b - a) / a : kNan; }

struct LinePoint {
  double size;
  double hdbi;
};

void cross_line(std::vector<LinePoint> line, bool along_batch, double fixed,
                std::vector<HdbiCrossover>& found) {
  std::sort(line.begin(), line.end(),
            [](const LinePoint& a, const LinePoint& b) { return a.size < b.size; });
  for (size_t i = 1; i < line.size(); ++i) {
    const LinePoint& a = line[i - 1];
    const LinePoint& b = line[i];
    if (!std::isfinite(a.hdbi) || !std::isfinite(b.hdbi)) continue;
    if ((a.hdbi < kBalance) == (b.hdbi < kBalance)) continue;
    const double share = (kBalance - a.hdbi) / (b.hdbi - a.hdbi);
    found.push_back({along_batch, fixed, a.size, b.size,
                     std::exp(std::log(a.size) + share * (std::log(b.size) - std::log(a.size))),
                     a.hdbi < b.hdbi});
  }
}

bool parse_size(const std::string& text, double& size) {
  return parse_double(text, size) && size > 0 && std::isfinite(size);
}

}  // namespace

double hdbi_of(const HostOverheadPoint& point) {
  const double both = point.t_device_ns + point.t_orch_ns;
  return point.t_orch_ns > 0 ? point.t_device_ns / both : kNan;
}

HostOverheadPoint point_of(const HostOverheadReport& report, double batch, double seq_len) {
  HostOverheadPoint point;
  point.batch = batch;
  point.seq_len = seq_len;
  const bool split = report.whole.sums.split_known;
  const HostOverheadMeans& means = report.means;
  if (report.window_source != WindowSource::kWholeTrace && means.t_orch_ns.n > 0) {
    point.n = means.n.mean;
    point.t_py_ns = means.t_py_ns.mean;
    point.ft_ns = split ? means.ft_ns.mean : kNan;
    point.ct_ns = split ? means.ct_ns.mean : kNan;
    point.kt_ns = means.kt_ns.mean;
    point.t_orch_ns = means.t_orch_ns.mean;
    point.t_device_ns = means.t_device_ns.mean;
    point.t_e2e_ns = means.t_e2e_ns.mean;
    point.repeats = means.t_orch_ns.n;
    return point;
  }
  const HostOverheadSums& sums = report.whole.sums;
  point.n = static_cast<double>(sums.n);
  point.t_py_ns = static_cast<double>(sums.t_py_ns);
  point.ft_ns = split ? static_cast<double>(sums.ft_ns) : kNan;
  point.ct_ns = split ? static_cast<double>(sums.ct_ns) : kNan;
  point.kt_ns = static_cast<double>(sums.kt_ns);
  point.t_orch_ns = static_cast<double>(sums.t_orch_ns);
  point.t_device_ns = static_cast<double>(sums.t_device_ns);
  point.t_e2e_ns = static_cast<double>(report.whole.t_e2e_ns);
  point.repeats = 1;
  return point;
}

Result<PointLabel> parse_point_label(const std::string& text) {
  PointLabel label;
  const size_t x = text.find_first_of("xX");
  const bool fine = x == std::string::npos ? parse_size(text, label.batch)
                                           : parse_size(text.substr(0, x), label.batch) &&
                                                 parse_size(text.substr(x + 1), label.seq_len);
  if (fine) return label;
  return Error{ErrorCode::kInvalidArgument,
               "'" + text + "' is neither a batch size (8) nor batch x sequence length (4x2048)",
               "", -1};
}

std::vector<HdbiCrossover> hdbi_crossovers(std::vector<HostOverheadPoint> points) {
  std::map<double, std::vector<LinePoint>> by_seq_len;
  std::map<double, std::vector<LinePoint>> by_batch;
  for (const HostOverheadPoint& point : points) {
    by_seq_len[point.seq_len].push_back({point.batch, hdbi_of(point)});
    if (point.seq_len > 0) by_batch[point.batch].push_back({point.seq_len, hdbi_of(point)});
  }
  std::vector<HdbiCrossover> found;
  for (const auto& [seq_len, line] : by_seq_len) cross_line(line, true, seq_len, found);
  for (const auto& [batch, line] : by_batch) cross_line(line, false, batch, found);
  return found;
}

HdbiSides hdbi_sides(const std::vector<HostOverheadPoint>& points) {
  HdbiSides sides;
  for (const HostOverheadPoint& point : points) {
    const double hdbi = hdbi_of(point);
    if (!std::isfinite(hdbi)) continue;
    sides.low = std::min(sides.low, hdbi);
    sides.high = std::max(sides.high, hdbi);
    const bool to_host = hdbi < kBalance;
    std::optional<HostOverheadPoint>& closest = to_host ? sides.host : sides.device;
    if (!closest || (to_host ? hdbi > hdbi_of(*closest) : hdbi < hdbi_of(*closest))) {
      closest = point;
    }
  }
  return sides;
}

std::vector<HostOverheadChange> overhead_changes(const std::vector<HostOverheadPoint>& a,
                                                 const std::vector<HostOverheadPoint>& b) {
  std::vector<HostOverheadChange> changes;
  for (const HostOverheadPoint& from : a) {
    const auto to = std::find_if(b.begin(), b.end(), [&](const HostOverheadPoint& other) {
      return other.batch == from.batch && other.seq_len == from.seq_len;
    });
    if (to == b.end()) continue;
    HostOverheadChange change;
    change.batch = from.batch;
    change.seq_len = from.seq_len;
    change.t_orch = to->charged() ? relative(from.t_orch_ns, to->t_orch_ns) : kNan;
    change.t_device = relative(from.t_device_ns, to->t_device_ns);
    change.t_e2e = relative(from.t_e2e_ns, to->t_e2e_ns);
    change.hdbi_a = hdbi_of(from);
    change.hdbi_b = hdbi_of(*to);
    change.t_e2e_from_orch = (1 - change.hdbi_a) * change.t_orch;
    changes.push_back(change);
  }
  return changes;
}

}  // namespace assay
