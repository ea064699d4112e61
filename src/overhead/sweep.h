#pragma once

// The decomposition over a sweep of batch sizes and sequence lengths (TaxBreak Figures 7 and 8) and
// between two platforms (Figures 10 and 11).

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "overhead/overhead.h"

namespace assay {

// One configuration: means over its iterations, or the whole trace if it has none.
struct HostOverheadPoint {
  double batch = 0;
  double seq_len = 0;  // 0 = unknown
  double n = 0;
  double t_py_ns = 0;
  double ft_ns = 0;
  double ct_ns = 0;
  double kt_ns = 0;
  double t_orch_ns = 0;
  double t_device_ns = 0;
  double t_e2e_ns = 0;
  size_t repeats = 0;

  bool charged() const { return n == 0 || t_orch_ns > 0; }  // as HostOverheadSums::charged
};
// T_Device / (T_Device + T_Orch) of the point; NaN if nothing is charged.
double hdbi_of(const HostOverheadPoint& point);
HostOverheadPoint point_of(const HostOverheadReport& report, double batch, double seq_len);

// "8" or "4x2048". Fails on anything else, and on sizes that are not positive.
struct PointLabel {
  double batch = 0;
  double seq_len = 0;
};
Result<PointLabel> parse_point_label(const std::string& text);

// Points where HDBI crosses 0.5 between two neighbours of a line: T_Orch and T_DeviceActive are
// equal. Interpolated over the logarithm of the size.
struct HdbiCrossover {
  bool along_batch = true;  // else along the sequence length
  double fixed = 0;         // the other size; 0 = unknown
  double from = 0;
  double to = 0;
  double interpolated = 0;
  bool to_device = true;  // HDBI rises through 0.5
};
// Points in any order. Lines along the batch size at every sequence length that has two, and along
// the sequence length at every batch size that has two.
std::vector<HdbiCrossover> hdbi_crossovers(std::vector<HostOverheadPoint> points);

// The points of a sweep on either side of HDBI = 0.5 that are closest to it, whatever their sizes.
// Points without charged host time are on neither side.
struct HdbiSides {
  std::optional<HostOverheadPoint> host;    // below 0.5, the closest to it
  std::optional<HostOverheadPoint> device;  // at 0.5 or above, the closest to it
  double low = 1;                           // over all points
  double high = 0;
};
HdbiSides hdbi_sides(const std::vector<HostOverheadPoint>& points);

// Relative changes from a to b at a configuration that both have, (b - a) / a; NaN if a is 0.
struct HostOverheadChange {
  double batch = 0;
  double seq_len = 0;
  double t_orch = 0;
  double t_device = 0;
  double t_e2e = 0;
  double hdbi_a = 0;
  double hdbi_b = 0;
  // Effect of the change of T_Orch alone on T_e2e, if host and device never overlapped: (1 - HDBI
  // of a) x change of T_Orch.
  double t_e2e_from_orch = 0;
};
std::vector<HostOverheadChange> overhead_changes(const std::vector<HostOverheadPoint>& a,
                                                 const std::vector<HostOverheadPoint>& b);

}  // namespace assay
