// Writes the rank records of a job whose truth is known (support/job_model.h): fleet_model RANKS
// SEED FOLDER FILES [FAULT...], a fault as NAME:WHICH:SIZE[:EVERY]; prints what the faults cost.
// Beside the records lies hosts.tsv. What makes the faults: tests/golden/check_job.py,
// tools/measure_job.py.

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/files.h"
#include "support/job_model.h"

namespace {

using assay::testing::FleetFault;
using assay::testing::FleetModel;

FleetFault fault_of(const std::string& text) {
  constexpr std::pair<const char*, FleetFault::Kind> kNames[] = {
      {"slow_gpu", FleetFault::kSlowGpu},
      {"slow_node", FleetFault::kSlowNode},
      {"slow_pod_links", FleetFault::kSlowPodLinks},
      {"pauses", FleetFault::kPauses},
      {"fast_clock", FleetFault::kFastClock},
      {"absent", FleetFault::kAbsent},
      {"bursts", FleetFault::kBursts},
      {"moving_node", FleetFault::kMovingNode},
      {"slow_large", FleetFault::kSlowLarge},
      {"ends_early", FleetFault::kEndsEarly},
      {"absent_run", FleetFault::kAbsentRun},
      {"same_host", FleetFault::kSameHost},
      {"host_per_rank", FleetFault::kHostPerRank},
      {"world_told", FleetFault::kWorldTold},
      {"world_told_once", FleetFault::kWorldToldOnce}};
  char name[32] = {};
  long long which = 0;
  double size = 1;
  long long every = 1;
  const int read =
      std::sscanf(text.c_str(), "%31[a-z_]:%lld:%lf:%lld", name, &which, &size, &every);
  for (const auto& [known, kind] : kNames) {
    if (read >= 3 && std::string(name) == known) return {kind, which, size, every};
  }
  std::fprintf(stderr, "no fault: %s\n", text.c_str());
  std::exit(2);
}

void write(const std::string& path, const std::string& bytes) {
  const auto file = assay::open_file(path, "wb");
  if (!file || std::fwrite(bytes.data(), 1, bytes.size(), file->get()) != bytes.size()) {
    std::fprintf(stderr, "cannot write %s\n", path.c_str());
    std::exit(2);
  }
}

// What each fault costs, in ns, by the truth.
void tell_costs(const FleetModel& model, const std::vector<FleetFault>& faults) {
  std::printf("span %lld\n", static_cast<long long>(model.span_ns()));
  for (const FleetFault& fault : faults) {
    const bool node = fault.kind == FleetFault::kSlowNode;
    const bool rank = fault.kind == FleetFault::kSlowGpu || fault.kind == FleetFault::kPauses ||
                      fault.kind == FleetFault::kBursts;
    if (!node && !rank) continue;
    const int64_t saved_ns = model.saved_ns(
        [&](int64_t r) { return node ? model.node_of(r) == fault.which : r == fault.which; });
    std::printf("%s %lld %lld\n", node ? "node" : "rank", static_cast<long long>(fault.which),
                static_cast<long long>(saved_ns));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  std::vector<FleetFault> faults;
  for (int k = 5; k < argc; ++k) faults.push_back(fault_of(argv[k]));
  const int64_t ranks = std::atoll(argv[1]);
  const int64_t files = std::atoll(argv[4]);
  const std::string folder = argv[3];
  const FleetModel model(ranks, static_cast<uint64_t>(std::atoll(argv[2])), faults);
  if (!assay::make_folders(folder)) return 2;
  write(folder + "/hosts.tsv", model.hosts());
  for (int64_t f = 0; f < files; ++f) {
    std::string bytes;
    for (int64_t r = f * ranks / files; r < (f + 1) * ranks / files; ++r) {
      if (!model.is_absent(r)) bytes += model.record(r);
    }
    write(folder + "/model-" + std::to_string(f) + ".ranks", bytes);
  }
  tell_costs(model, faults);
  return 0;
}
