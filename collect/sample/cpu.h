#pragma once

// The state of the processors and of one process tree, from Linux. The parsers take text; only
// ProcStat, ProcessTree, read_topology() and read_small_file() open files.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace assay::sample {

// Clock ticks of one logical processor since boot. Guest time is part of user time.
struct CpuTicks {
  int cpu = 0;
  uint64_t busy = 0;  // all but idle and I/O wait
  uint64_t all = 0;
};
// Parses the lines "cpu<N> ..." of /proc/stat and ignores the others.
std::vector<CpuTicks> parse_proc_stat(std::string_view text);

// Busy share of the time between two samples in percent, in the order of `cpus`. nullopt if a
// processor is offline in one of them or no tick passed. Counters that decrease count as 0.
std::vector<std::optional<double>> utilization_percent(const std::vector<CpuTicks>& before,
                                                       const std::vector<CpuTicks>& after,
                                                       const std::vector<int>& cpus);

// The location of a logical processor: SMT siblings share package and core.
struct CpuPlace {
  int cpu = 0;
  int package = -1;  // -1 = unknown
  int core = -1;
};
// Every processor in /proc/stat, with its location from `root`/devices/system/cpu.
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

// CPU time of a process, its descendants, and the ended children that it waited for.
class ProcessTree {
 public:
  ProcessTree(std::string proc_root, int pid) : root_(std::move(proc_root)), pid_(pid) {}
  // nullopt after the process ended. `refresh` searches for new children, which is the expensive
  // part.
  std::optional<double> cpu_seconds(bool refresh);

 private:
  std::optional<ProcessTicks> stat_of(int pid) const;
  void find_children(int pid, std::map<int, uint64_t>& found) const;

  std::string root_;
  int pid_;
  std::optional<uint64_t> start_;     // of pid_: the pid may be reused
  std::map<int, uint64_t> children_;  // pid -> start time
  double largest_ = 0;                // CPU time of a child that ends before a wait disappears
};

}  // namespace assay::sample
