#include "collect/sample/cpu.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

namespace assay::sample {
namespace {

constexpr std::string_view kBlanks = " \t\n";

// Removes and returns the next word of `text`; empty at the end.
std::string_view take_word(std::string_view& text) {
  const size_t begin = std::min(text.find_first_not_of(kBlanks), text.size());
  const size_t end = std::min(text.find_first_of(kBlanks, begin), text.size());
  const std::string_view word = text.substr(begin, end - begin);
  text.remove_prefix(end);
  return word;
}

template <typename Number>
bool to_number(std::string_view text, Number& value) {
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failed == std::errc() && end == text.data() + text.size();
}

int number_in(const std::string& path) {
  const std::string text = read_small_file(path);
  std::string_view rest = text;
  int value = -1;
  return to_number(take_word(rest), value) ? value : -1;
}

const CpuTicks* find_cpu(const std::vector<CpuTicks>& ticks, int cpu) {
  const auto at =
      std::lower_bound(ticks.begin(), ticks.end(), cpu,
                       [](const CpuTicks& one, int wanted) { return one.cpu < wanted; });
  return at != ticks.end() && at->cpu == cpu ? &*at : nullptr;
}

// Calls `use` with every numeric entry of a folder.
template <typename Use>
void each_number(const std::string& folder, const Use& use) {
  DIR* open = ::opendir(folder.c_str());
  if (open == nullptr) return;
  while (const dirent* entry = ::readdir(open)) {
    int number = 0;
    if (to_number(std::string_view(entry->d_name), number)) use(number);
  }
  ::closedir(open);
}

}  // namespace

std::string read_small_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  std::string text;
  std::array<char, 4096> buffer;
  for (ssize_t n = 0; (n = ::read(fd, buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<size_t>(n));
  }
  ::close(fd);
  return text;
}

std::vector<CpuTicks> parse_proc_stat(std::string_view text) {
  std::vector<CpuTicks> cpus;
  while (text.starts_with("cpu")) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(3, end - 3);
    text.remove_prefix(std::min(end + 1, text.size()));
    CpuTicks ticks;
    if (line.empty() || line.front() == ' ' || !to_number(take_word(line), ticks.cpu)) continue;
    // user nice system idle iowait irq softirq steal. The guest fields after them are already in
    // user and nice.
    constexpr int kIdle = 3;
    constexpr int kIoWait = 4;
    constexpr int kFields = 8;
    for (int field = 0; field < kFields; ++field) {
      uint64_t value = 0;
      if (!to_number(take_word(line), value)) break;
      ticks.all += value;
      if (field != kIdle && field != kIoWait) ticks.busy += value;
    }
    cpus.push_back(ticks);
  }
  std::sort(cpus.begin(), cpus.end(),
            [](const CpuTicks& a, const CpuTicks& b) { return a.cpu < b.cpu; });
  return cpus;
}

std::vector<std::optional<double>> utilization_percent(const std::vector<CpuTicks>& before,
                                                       const std::vector<CpuTicks>& after,
                                                       const std::vector<int>& cpus) {
  std::vector<std::optional<double>> percent;
  percent.reserve(cpus.size());
  for (const int cpu : cpus) {
    const CpuTicks* from = find_cpu(before, cpu);
    const CpuTicks* to = find_cpu(after, cpu);
    if (from == nullptr || to == nullptr || to->all <= from->all) {
      percent.emplace_back();
      continue;
    }
    const uint64_t busy = to->busy > from->busy ? to->busy - from->busy : 0;
    const uint64_t all = to->all - from->all;
    percent.emplace_back(100.0 * static_cast<double>(std::min(busy, all)) /
                         static_cast<double>(all));
  }
  return percent;
}

std::vector<CpuPlace> read_topology(const std::string& root, const std::vector<CpuTicks>& cpus) {
  std::vector<CpuPlace> places;
  for (const CpuTicks& one : cpus) {
    const std::string folder =
        root + "/devices/system/cpu/cpu" + std::to_string(one.cpu) + "/topology/";
    places.push_back(
        {one.cpu, number_in(folder + "physical_package_id"), number_in(folder + "core_id")});
  }
  return places;
}

std::optional<ProcessTicks> parse_process_stat(std::string_view text) {
  // The name is in parentheses and may contain any text, including parentheses.
  const size_t name_end = text.rfind(')');
  if (name_end == std::string_view::npos) return std::nullopt;
  text.remove_prefix(name_end + 1);
  ProcessTicks process;
  const std::string_view state = take_word(text);
  if (state.empty()) return std::nullopt;
  process.state = state.front();
  // proc(5): the state is field 3, the times are fields 14 to 17, the start is field 22.
  for (int field = 4; field <= 22; ++field) {
    const std::string_view word = take_word(text);
    uint64_t value = 0;
    const bool time = field >= 14 && field <= 17;
    if (!time && field != 22) continue;
    if (!to_number(word, value)) return std::nullopt;
    if (time) {
      process.ticks += value;
    } else {
      process.start = value;
    }
  }
  return process;
}

Result<ProcStat> ProcStat::open(const std::string& proc_root) {
  const std::string path = proc_root + "/stat";
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return Error{ErrorCode::kIo,
                 std::string("cannot be opened: ") + std::strerror(errno) +
                     "; CPU utilisation comes from there",
                 path, -1};
  }
  return ProcStat(fd);
}

ProcStat::~ProcStat() {
  if (fd_ >= 0) ::close(fd_);
}

std::vector<CpuTicks> ProcStat::read() {
  constexpr size_t kRoom = 64 * 1024;
  if (buffer_.empty()) buffer_.resize(kRoom);
  size_t used = 0;
  while (true) {
    const ssize_t n =
        ::pread(fd_, buffer_.data() + used, buffer_.size() - used, static_cast<off_t>(used));
    if (n <= 0) break;
    used += static_cast<size_t>(n);
    // The processors come first. Stop before the long line of interrupts.
    const std::string_view text(buffer_.data(), used);
    if (text.find("\nintr") != std::string_view::npos) break;
    if (used == buffer_.size()) buffer_.resize(2 * buffer_.size());
  }
  return parse_proc_stat(std::string_view(buffer_.data(), used));
}

std::optional<ProcessTicks> ProcessTree::stat_of(int pid) const {
  return parse_process_stat(read_small_file(root_ + "/" + std::to_string(pid) + "/stat"));
}

void ProcessTree::find_children(int pid, std::map<int, uint64_t>& found) const {
  const std::string tasks = root_ + "/" + std::to_string(pid) + "/task";
  each_number(tasks, [&](int thread) {
    const std::string text = read_small_file(tasks + "/" + std::to_string(thread) + "/children");
    std::string_view rest = text;
    for (std::string_view word = take_word(rest); !word.empty(); word = take_word(rest)) {
      int child = 0;
      if (!to_number(word, child) || found.count(child) != 0) continue;
      const auto stat = stat_of(child);
      if (!stat) continue;
      found.emplace(child, stat->start);
      find_children(child, found);
    }
  });
}

std::optional<double> ProcessTree::cpu_seconds(bool refresh) {
  static const auto per_second = static_cast<double>(::sysconf(_SC_CLK_TCK));
  const auto own = stat_of(pid_);
  if (!own || own->state == 'Z' || (start_ && own->start != *start_)) return std::nullopt;
  start_ = own->start;
  if (refresh) {
    children_.clear();
    find_children(pid_, children_);
  }
  uint64_t ticks = own->ticks;
  for (const auto& [child, start] : children_) {
    const auto stat = stat_of(child);
    if (stat && stat->start == start) ticks += stat->ticks;
  }
  largest_ = std::max(largest_, static_cast<double>(ticks) / per_second);
  return largest_;
}

}  // namespace assay::sample
