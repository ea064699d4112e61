#pragma once

// What Linux says about its processors and one process tree. Texts in, numbers out; only the two
// readers at the end open files.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace assay::sample {

// Clock ticks since boot of one logical processor. Time for guests is in user time already.
struct CpuTicks {
  int cpu = 0;
  uint64_t busy = 0;  // all but idle and waiting for I/O
  uint64_t all = 0;
};
// The lines "cpu<N> ..." of /proc/stat; other lines are passed over.
std::vector<CpuTicks> parse_proc_stat(std::string_view text);

// Busy share of the time between two readings in percent, in the order of `cpus`; nullopt where a
// processor is offline in one of them or no tick passed. Counters that go back count as 0.
std::vector<std::optional<double>> utilization_percent(const std::vector<CpuTicks>& before,
                                                       const std::vector<CpuTicks>& after,
                                                       const std::vector<int>& cpus);

// Where a logical processor sits: siblings of SMT share package and core.
struct CpuPlace {
  int cpu = 0;
  int package = -1;  // -1 = not told
  int core = -1;
};
// Every processor that /proc/stat shows, placed by `root`/devices/system/cpu.
std::vector<CpuPlace> read_topology(const std::string& root, const std::vector<CpuTicks>& cpus);

// utime + stime + cutime + cstime, start time and state of /proc/PID/stat.
struct ProcessTicks {
  uint64_t ticks = 0;
  uint64_t start = 0;
  char state = '?';
};
std::optional<ProcessTicks> parse_process_stat(std::string_view text);

std::string read_small_file(const std::string& path);

// /proc/stat, kept open.
class ProcStat {
 public:
  static Result<ProcStat> open(const std::string& proc_root);
  ProcStat(ProcStat&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ProcStat& operator=(ProcStat&&) = delete;
  ~ProcStat();
  std::vector<CpuTicks> read();

 private:
  explicit ProcStat(int fd) : fd_(fd) {}
  int fd_;
  std::string buffer_;
};

// CPU time of a process and everything it started that is still known to it.
class ProcessTree {
 public:
  ProcessTree(std::string proc_root, int pid) : root_(std::move(proc_root)), pid_(pid) {}
  // nullopt once the process is gone. Looks for new children when `refresh` says so: that is what
  // costs.
  std::optional<double> cpu_seconds(bool refresh);

 private:
  std::optional<ProcessTicks> stat_of(int pid) const;
  void find_children(int pid, std::map<int, uint64_t>& found) const;

  std::string root_;
  int pid_;
  std::optional<uint64_t> start_;     // of pid_: a later process may have its number
  std::map<int, uint64_t> children_;  // pid -> start time
  double largest_ = 0;                // a child that ends unwaited takes its time along
};

}  // namespace assay::sample
