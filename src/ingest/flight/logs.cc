#include "ingest/flight/logs.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/ascii.h"
#include "base/decimal.h"
#include "base/json_tree.h"
#include "ingest/text/whole_file.h"

namespace assay {
namespace {

constexpr size_t kMostLines = 64;

// The number after `key` and a blank.
std::optional<int64_t> number_after(std::string_view line, std::string_view key) {
  const size_t found = line.find(key);
  if (found == std::string_view::npos) return std::nullopt;
  size_t begin = found + key.size();
  while (begin < line.size() && line[begin] == ' ') ++begin;
  size_t end = begin;
  while (end < line.size() && is_digit(line[end])) ++end;
  int64_t number = 0;
  if (!parse_int64(line.substr(begin, end - begin), number)) return std::nullopt;
  return number;
}

class Logs {
 public:
  explicit Logs(size_t world) : world_(static_cast<int64_t>(world)) {}

  void read(const std::string& text) {
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find('\n', begin), text.size());
      const std::string_view line = std::string_view(text).substr(begin, end - begin);
      begin = end + 1;
      if (line.find(" NCCL ") != std::string_view::npos) {
        read_line(line);
      } else if (line.find("\"coll_perf\"") != std::string_view::npos) {
        read_inspector(std::string(line));
      }
    }
  }

  std::vector<CommLogLine> lines() {
    std::vector<CommLogLine> lines;
    for (const auto& [process, text] : warnings_) {
      const auto rank = ranks_.find(process);
      lines.push_back({rank == ranks_.end() ? std::nullopt : std::optional(rank->second), false,
                       text});
      if (lines.size() == kMostLines) break;
    }
    size_t told = 0;
    for (const auto& [key, last] : last_) {
      if (told++ == kMostLines) break;
      const auto& [comm, rank] = key;
      lines.push_back({last.ranks == world_ ? std::optional(rank) : std::nullopt, true,
                       "communicator " + comm + " rank " + std::to_string(rank) +
                           ": last finished " + last.name + " " + std::to_string(last.number)});
    }
    return lines;
  }

 private:
  struct Last {
    int64_t number = -1;
    int64_t ranks = 0;
    std::string name;
  };

  // "HOST:PID:TID [dev] NCCL INFO comm 0x.. rank 3 nranks 8 ...".
  void read_line(std::string_view line) {
    const size_t first = line.find(':');
    const size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) return;
    const std::string process(line.substr(0, second));
    const std::optional<int64_t> rank = number_after(line, " rank ");
    const std::optional<int64_t> of = number_after(line, " nranks ");
    if (rank && of && *of == world_) ranks_[process] = *rank;
    const size_t warns = line.find("NCCL WARN");
    if (warns == std::string_view::npos) return;
    const std::pair<std::string, std::string> one{process, std::string(line.substr(warns))};
    if (seen_.insert(one).second && warnings_.size() < 4 * kMostLines) warnings_.push_back(one);
  }

  void read_inspector(const std::string& line) {
    const nlohmann::json tree = parsed_json(line);
    if (!tree.is_object() || !tree.contains("header") || !tree.contains("coll_perf")) return;
    const nlohmann::json& header = tree["header"];
    const nlohmann::json& perf = tree["coll_perf"];
    if (!header.is_object() || !perf.is_object()) return;
    const auto number = [](const nlohmann::json& of, const char* key) -> int64_t {
      const auto found = of.find(key);
      return found != of.end() && found->is_number_integer() ? found->get<int64_t>() : -1;
    };
    const auto text = [](const nlohmann::json& of, const char* key) -> std::string {
      const auto found = of.find(key);
      return found != of.end() && found->is_string() ? found->get<std::string>() : "";
    };
    Last& last = last_[{text(header, "id"), number(header, "rank")}];
    const int64_t at = number(perf, "coll_sn");
    if (at < last.number) return;
    last = {.number = at, .ranks = number(header, "n_ranks"), .name = text(perf, "coll")};
  }

  int64_t world_;
  std::map<std::string, int64_t> ranks_;  // by "HOST:PID"
  std::vector<std::pair<std::string, std::string>> warnings_;
  std::set<std::pair<std::string, std::string>> seen_;
  std::map<std::pair<std::string, int64_t>, Last> last_;  // by communicator and rank in it
};

}  // namespace

std::vector<CommLogLine> read_comm_logs(const std::vector<std::string>& files, size_t world) {
  Logs logs(world);
  for (const std::string& file : files) {
    const auto head = read_head(file, size_t{64} << 10);
    if (!head) continue;
    const bool fits = head->find(" NCCL INFO") != std::string::npos ||
                      head->find(" NCCL WARN") != std::string::npos ||
                      head->find("\"coll_perf\"") != std::string::npos;
    if (!fits) continue;
    const auto text = read_whole_file(file, {ErrorCode::kUnsupported, "a log of more than 1 GiB", "", -1});
    if (text) logs.read(*text);
  }
  return logs.lines();
}

}  // namespace assay
