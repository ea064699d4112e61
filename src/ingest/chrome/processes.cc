#include "ingest/chrome/processes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/ascii.h"
#include "base/byte_source.h"
#include "base/decimal.h"
#include "base/files.h"
#include "ingest/chrome/piece.h"

namespace assay {
namespace {

constexpr uint32_t kNobody = UINT32_MAX;
// Owner by position in the file, row by row: several machines have a device with this number.
constexpr uint32_t kByPlace = UINT32_MAX - 1;
// A process without launches, between the others in the file.
constexpr uint32_t kHelper = UINT32_MAX - 2;
// Maximum difference between the clocks of host and device.
constexpr int64_t kSlackNs = 10'000;

// Engines mark the rows of a rank by label and pid when they merge files: "[DP00-TP03] 2590092".
struct Labelled {
  std::string_view label;
  std::string_view pid;
};

std::optional<Labelled> labelled(std::string_view pid) {
  const size_t close = pid.find("] ");
  if (!pid.starts_with('[') || close == std::string_view::npos) return std::nullopt;
  const std::string_view label = pid.substr(1, close - 1);
  size_t at = 0;
  for (;;) {
    const size_t letters = at;
    while (at < label.size() && label[at] >= 'A' && label[at] <= 'Z') ++at;
    const size_t digits = at;
    while (at < label.size() && is_digit(label[at])) ++at;
    if (digits == letters || at == digits) return std::nullopt;
    if (at == label.size()) break;
    if (label[at++] != '-') return std::nullopt;
  }
  return Labelled{label, pid.substr(close + 2)};
}

bool is_host(Category category) {
  switch (category) {
    case Category::kOp:
    case Category::kFrame:
    case Category::kRuntimeCall:
    case Category::kDriverCall:
    case Category::kAnnotation:
    case Category::kOverhead:
      return true;
    default:
      return false;
  }
}

bool is_call(Category category) {
  return category == Category::kRuntimeCall || category == Category::kDriverCall;
}

bool is_work(Category category) {
  return category == Category::kKernel || category == Category::kMemcpy ||
         category == Category::kMemset;
}

bool is_duration(const RawEvent& event) {
  return event.has(Field::kPhase) && event[Field::kPhase].text == "X";
}

// The numbers in "[0, 1, 2]"; empty if the list is abbreviated ("...").
std::set<int64_t> ranks_in(std::string_view text) {
  std::set<int64_t> ranks;
  if (text.find("..") != std::string_view::npos) return ranks;
  for (size_t at = 0; at < text.size();) {
    if (!is_digit(text[at])) {
      ++at;
      continue;
    }
    size_t end = at;
    while (end < text.size() && is_digit(text[end])) ++end;
    int64_t rank = 0;
    if (parse_int64(text.substr(at, end - at), rank)) ranks.insert(rank);
    at = end;
  }
  return ranks;
}

// The distinct elements of an array, as written.
std::string distinct_elements(const JsonValue& array, JsonCursor cursor) {
  std::string text = "[";
  std::set<std::string_view> seen;
  cursor.at = array.position + 1;
  while (!cursor.ended() && cursor.peek() != ']') {
    if (cursor.peek() == ',') {
      ++cursor.at;
      continue;
    }
    JsonValue element;
    if (read_value(cursor, element) != Walk::kOk) break;
    if (!seen.insert(element.text).second) continue;
    const bool quoted = element.kind == JsonKind::kString;
    if (text.size() > 1) text += ',';
    text += (quoted ? "\"" : "") + std::string(element.text) + (quoted ? "\"" : "");
  }
  return text + "]";
}

// Data of the first pass: calls with their times, and device rows.
class Survey : public ElementSink {
 public:
  explicit Survey(const ChromePiece& piece) : piece_(piece) {}

  struct Pid {
    std::string text;    // as written
    std::string label;   // empty: none
    std::string number;  // without the label
    uint64_t first = UINT64_MAX;  // range of its host rows in the file
    uint64_t last = 0;
    std::unordered_map<uint32_t, int64_t> calls;  // correlation id -> start of its first call
    std::set<int64_t> devices;
    std::set<std::string> groups;  // members of process groups, as written
  };
  struct Row {
    uint32_t pid = 0;
    uint32_t correlation = 0;
    int64_t start_ns = 0;
    uint64_t place = 0;
  };

  void member(std::string_view key, const JsonValue& value, JsonCursor cursor,
              std::string_view text) override {
    if (key == "distributedInfo") return;  // belongs to at most one process
    if (key == "deviceProperties" && value.kind == JsonKind::kArray) {
      members_ += "\"deviceProperties\":" + distinct_elements(value, cursor) + ",\n";
      return;
    }
    members_ += std::string(text) + ",\n";
  }

  Status event(const RawEvent& event, std::string_view) override {
    const uint64_t place = places_++;
    if (!event.has(Field::kPid)) return Ok{};
    const uint32_t number = number_of(event[Field::kPid].text);
    Pid& pid = pids_[number];
    const bool host = is_host(event.category);
    if (host) {
      pid.first = std::min(pid.first, place);
      pid.last = std::max(pid.last, place);
    }
    if (event.has(Arg::kProcessGroupRanks)) {
      pid.groups.insert(std::string(event[Arg::kProcessGroupRanks].text));
    }
    if (!is_work(event.category) && !is_call(event.category)) return Ok{};
    const uint32_t correlation = correlation_of(event);
    const int64_t start_ns = start_of(event);
    if (is_work(event.category)) {
      int64_t device = -1;
      if (event.has(Arg::kDevice) && parse_int64(event[Arg::kDevice].text, device)) {
        pid.devices.insert(device);
      }
      rows_.push_back({number, correlation, start_ns, place});
    } else if (correlation != 0) {
      const auto [call, is_new] = pid.calls.try_emplace(correlation, start_ns);
      if (!is_new) call->second = std::min(call->second, start_ns);
    }
    return Ok{};
  }

  uint32_t number_of(std::string_view text) {
    if (!pids_.empty() && pids_[last_].text == text) return last_;
    const auto [found, is_new] =
        numbers_.try_emplace(std::string(text), static_cast<uint32_t>(pids_.size()));
    if (is_new) {
      const std::optional<Labelled> parts = labelled(text);
      Pid pid;
      pid.text = text;
      if (parts) pid.label = parts->label;
      pid.number = parts ? parts->pid : text;
      pids_.push_back(std::move(pid));
    }
    last_ = found->second;
    return last_;
  }

  const std::vector<Pid>& pids() const { return pids_; }
  const std::vector<Row>& rows() const { return rows_; }
  const std::string& members() const { return members_; }

 private:
  static uint32_t correlation_of(const RawEvent& event) {
    int64_t id = 0;
    if (!event.has(Arg::kCorrelation) || !parse_int64(event[Arg::kCorrelation].text, id)) return 0;
    return id > 0 && id <= UINT32_MAX ? static_cast<uint32_t>(id) : 0;
  }
  int64_t start_of(const RawEvent& event) const {
    int64_t start_ns = 0;
    DecimalShape shape;
    if (event.has(Field::kTime)) {
      parse_decimal(event[Field::kTime].text, piece_.time_scale(), start_ns, shape);
    }
    return start_ns;
  }

  const ChromePiece& piece_;
  std::unordered_map<std::string, uint32_t> numbers_;
  std::vector<Pid> pids_;
  std::vector<Row> rows_;
  std::string members_;
  uint64_t places_ = 0;
  uint32_t last_ = 0;
};

struct Process {
  std::string name;               // its label, rank or process id
  std::optional<int64_t> rank;
  std::vector<uint32_t> lanes;    // pids of its rows
  uint64_t first = UINT64_MAX;    // as for a pid
  uint64_t last = 0;
};

// Determines the process of each row.
class Owners {
 public:
  explicit Owners(const Survey& survey) : survey_(survey) {}

  Status find() {
    const std::vector<Survey::Pid>& pids = survey_.pids();
    owner_.assign(pids.size(), kNobody);
    std::set<std::string> labels;
    for (const Survey::Pid& pid : pids) {
      if (!pid.label.empty()) labels.insert(pid.label);
    }
    if (labels.size() > 1) {
      by_label(labels);
    } else {
      ASSAY_TRY(by_rows());
    }
    name_ranks(labels.size() > 1);
    return Ok{};
  }

  const std::vector<Process>& processes() const { return processes_; }
  uint32_t of(uint32_t pid, uint64_t place) const {
    const uint32_t owner = pid < owner_.size() ? owner_[pid] : kNobody;
    if (owner == kHelper) return kNobody;
    return owner == kByPlace || (owner == kNobody && in_runs_) ? placed(place) : owner;
  }

 private:
  void by_label(const std::set<std::string>& labels) {
    std::map<std::string, uint32_t> numbers;
    for (const std::string& label : labels) {
      numbers[label] = static_cast<uint32_t>(processes_.size());
      processes_.push_back({.name = label});
    }
    for (uint32_t p = 0; p < owner_.size(); ++p) {
      const auto found = numbers.find(survey_.pids()[p].label);
      if (found == numbers.end()) continue;
      owner_[p] = found->second;
      processes_[found->second].lanes.push_back(p);
    }
  }

  Status by_rows() {
    std::unordered_set<uint32_t> known;
    for (const Survey::Pid& pid : survey_.pids()) {
      for (const auto& [id, start_ns] : pid.calls) known.insert(id);
    }
    std::vector<uint32_t> hosts;
    for (uint32_t p = 0; p < owner_.size(); ++p) {
      if (!survey_.pids()[p].calls.empty()) hosts.push_back(p);
    }
    std::sort(hosts.begin(), hosts.end(), [&](uint32_t a, uint32_t b) {
      return survey_.pids()[a].first < survey_.pids()[b].first;
    });
    in_runs_ = true;
    for (const uint32_t host : hosts) {
      const Survey::Pid& pid = survey_.pids()[host];
      if (!processes_.empty() && processes_.back().last >= pid.first) in_runs_ = false;
      owner_[host] = static_cast<uint32_t>(processes_.size());
      processes_.push_back({.name = "pid" + pid.text,
                            .lanes = {host},
                            .first = pid.first,
                            .last = pid.last});
    }
    for (uint32_t p = 0; p < owner_.size(); ++p) {
      const Survey::Pid& pid = survey_.pids()[p];
      if (owner_[p] != kNobody || pid.first == UINT64_MAX || !pid.devices.empty()) continue;
      const bool apart = std::all_of(processes_.begin(), processes_.end(), [&](const Process& one) {
        return pid.last < one.first || one.last < pid.first;
      });
      if (apart) owner_[p] = kHelper;
    }
    std::map<uint32_t, std::vector<const Survey::Row*>> by_lane;
    for (const Survey::Row& row : survey_.rows()) {
      // Activities launched before the recording have no call, and other rows may have no id.
      if (known.contains(row.correlation)) by_lane[row.pid].push_back(&row);
    }
    for (const auto& [lane, rows] : by_lane) {
      if (owner_[lane] != kNobody) continue;  // host and device rows under one pid
      if (in_runs_ && fits_by_place(rows)) {
        owner_[lane] = kByPlace;
        for (const Survey::Row* row : rows) add_lane(placed(row->place), lane);
      }
    }
    // Device rows outside these ranges show that the file is not a concatenation of files.
    for (const auto& [lane, rows] : by_lane) in_runs_ &= owner_[lane] != kNobody;
    return by_calls(by_lane);
  }

  // Assigns each remaining device to the process with calls before its rows. If several fit,
  // assigns it to the only one of them without activities, which must be somewhere.
  Status by_calls(const std::map<uint32_t, std::vector<const Survey::Row*>>& by_lane) {
    std::map<uint32_t, std::vector<uint64_t>> fitting;  // per process, of each lane
    for (const auto& [lane, rows] : by_lane) {
      if (owner_[lane] != kNobody) continue;
      fitting[lane] = fitting_rows(rows);
      owner_[lane] = best_fit(fitting[lane], rows.size());
      if (owner_[lane] != kNobody) add_lane(owner_[lane], lane);
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (const auto& [lane, rows] : by_lane) {
        if (owner_[lane] != kNobody) continue;
        std::vector<uint32_t> free;
        for (uint32_t p = 0; p < processes_.size(); ++p) {
          if (processes_[p].lanes.size() == 1 && fitting[lane][p] * 10 >= rows.size() * 9) {
            free.push_back(p);
          }
        }
        if (free.size() != 1) continue;
        owner_[lane] = free.front();
        add_lane(free.front(), lane);
        changed = true;
      }
    }
    for (const auto& [lane, rows] : by_lane) {
      if (owner_[lane] == kNobody) return undecided(lane);
    }
    return Ok{};
  }

  // Per process, the number of rows that may be its activities.
  std::vector<uint64_t> fitting_rows(const std::vector<const Survey::Row*>& rows) const {
    std::vector<uint64_t> fitting;
    for (uint32_t p = 0; p < processes_.size(); ++p) {
      fitting.push_back(static_cast<uint64_t>(std::count_if(
          rows.begin(), rows.end(), [&](const Survey::Row* row) { return fits(p, *row); })));
    }
    return fitting;
  }

  // The best process; kNobody if a second one fits about as well.
  static uint32_t best_fit(const std::vector<uint64_t>& fitting, uint64_t all) {
    uint64_t best = 0;
    uint64_t second = 0;
    uint32_t found = kNobody;
    for (uint32_t p = 0; p < fitting.size(); ++p) {
      const uint64_t fit = fitting[p];
      if (fit > best) {
        second = best;
        best = fit;
        found = p;
      } else {
        second = std::max(second, fit);
      }
    }
    const bool nearly_all = best * 10 >= all * 9 && (best - second) * 50 >= all;
    const bool far_more = best * 10 >= all * 6 && best >= 2 * second;
    return nearly_all || far_more ? found : kNobody;
  }

  Error undecided(uint32_t lane) const {
    return {ErrorCode::kUnsupported,
            std::to_string(processes_.size()) +
                " processes in one file, and several fit the work of GPU " +
                survey_.pids()[lane].text + ": give the file of each process instead",
            "", -1};
  }

  void add_lane(uint32_t process, uint32_t lane) {
    std::vector<uint32_t>& lanes = processes_[process].lanes;
    if (std::find(lanes.begin(), lanes.end(), lane) == lanes.end()) lanes.push_back(lane);
  }

  uint32_t placed(uint64_t place) const {
    const auto after = std::partition_point(processes_.begin(), processes_.end(),
                                            [&](const Process& p) { return p.first <= place; });
    const auto at = after - processes_.begin();
    return static_cast<uint32_t>(std::max<std::ptrdiff_t>(at - 1, 0));
  }

  bool fits(uint32_t process, const Survey::Row& row) const {
    const auto& calls = survey_.pids()[processes_[process].lanes.front()].calls;
    const auto call = calls.find(row.correlation);
    return call != calls.end() && call->second <= row.start_ns + kSlackNs;
  }

  bool fits_by_place(const std::vector<const Survey::Row*>& rows) const {
    std::map<uint32_t, std::pair<uint64_t, uint64_t>> fits_of;  // fitting rows, all rows
    for (const Survey::Row* row : rows) {
      auto& [fitting, all] = fits_of[placed(row->place)];
      fitting += fits(placed(row->place), *row);
      ++all;
    }
    return std::all_of(fits_of.begin(), fits_of.end(), [](const auto& one) {
      return one.second.first * 10 >= one.second.second * 6;
    });
  }

  void name_ranks(bool labels) {
    const bool told = labels ? ranks_of_labels() : ranks_of_groups();
    for (Process& process : processes_) {
      if (!told) process.rank.reset();
      if (told && !labels) process.name = "rank" + std::to_string(*process.rank);
    }
  }

  // Ranks by label: positions along the axes in the order below, unknown axes first. False unless
  // every combination occurs or there is only one axis.
  bool ranks_of_labels() {
    static constexpr std::string_view kOrder[] = {"DP", "PP", "EP", "TP"};
    constexpr int64_t kMostRanks = int64_t{1} << 30;          // larger numbers cannot be ranks
    std::map<std::pair<size_t, std::string>, int64_t> sizes;  // of axes, by their order
    std::vector<std::map<std::pair<size_t, std::string>, int64_t>> places;
    for (const Process& process : processes_) {
      auto& place = places.emplace_back();
      std::string_view rest = process.name;
      while (!rest.empty()) {
        const std::string_view part = rest.substr(0, rest.find('-'));
        rest.remove_prefix(std::min(rest.size(), part.size() + 1));
        const std::string axis(part.substr(0, part.find_first_of("0123456789")));
        int64_t number = 0;
        if (!parse_int64(part.substr(axis.size()), number) || number > kMostRanks) return false;
        const auto known = std::find(std::begin(kOrder), std::end(kOrder), axis);
        const size_t order =
            known == std::end(kOrder) ? 0 : static_cast<size_t>(known - std::begin(kOrder)) + 1;
        place[{order, axis}] = number;
        int64_t& size = sizes[{order, axis}];
        size = std::max(size, number + 1);
      }
    }
    std::set<int64_t> taken;
    for (size_t p = 0; p < processes_.size(); ++p) {
      int64_t rank = 0;
      for (const auto& [axis, size] : sizes) {
        rank = rank * size + places[p][axis];
        if (rank > kMostRanks) return false;
      }
      processes_[p].rank = rank;
      taken.insert(rank);
    }
    const bool whole = *taken.rbegin() + 1 == static_cast<int64_t>(processes_.size());
    return taken.size() == processes_.size() && (whole || sizes.size() == 1);
  }

  // A rank is in all process groups of its process. If several are, the device decides: the ranks
  // of a machine use its devices in turn.
  bool ranks_of_groups() {
    std::vector<std::set<int64_t>> of_process(processes_.size());
    std::set<int64_t> devices;
    for (size_t p = 0; p < processes_.size(); ++p) {
      for (const uint32_t lane : processes_[p].lanes) {
        const Survey::Pid& pid = survey_.pids()[lane];
        of_process[p].insert(pid.devices.begin(), pid.devices.end());
      }
      if (of_process[p].size() != 1) return false;
      devices.insert(of_process[p].begin(), of_process[p].end());
    }
    const int64_t local = std::max<int64_t>(*devices.rbegin() + 1, 1);
    std::set<int64_t> taken;
    for (size_t p = 0; p < processes_.size(); ++p) {
      const int64_t device = *of_process[p].begin();
      const std::optional<std::set<int64_t>> may_be = members_of(processes_[p]);
      if (!may_be) {
        if (devices.size() != processes_.size()) return false;
        processes_[p].rank = device;
      } else {
        std::vector<int64_t> ranks(may_be->begin(), may_be->end());
        if (ranks.size() > 1) std::erase_if(ranks, [&](int64_t r) { return r % local != device; });
        if (ranks.size() != 1) return false;
        processes_[p].rank = ranks.front();
      }
      taken.insert(*processes_[p].rank);
    }
    return taken.size() == processes_.size();
  }

  std::optional<std::set<int64_t>> members_of(const Process& process) const {
    std::optional<std::set<int64_t>> all;
    for (const uint32_t lane : process.lanes) {
      if (owner_[lane] == kByPlace) continue;
      for (const std::string& text : survey_.pids()[lane].groups) {
        const std::set<int64_t> members = ranks_in(text);
        if (members.empty()) continue;
        if (!all) {
          all = members;
        } else {
          std::erase_if(*all, [&](int64_t rank) { return !members.contains(rank); });
        }
      }
    }
    return all;
  }

  const Survey& survey_;
  std::vector<uint32_t> owner_;  // by pid: a process, kByPlace, kNobody
  std::vector<Process> processes_;
  bool in_runs_ = false;
};

// The second pass: writes each event to the file of its process.
class Writer : public ElementSink {
 public:
  Writer(Survey& survey, const Owners& owners) : survey_(survey), owners_(owners) {}

  Status open(const std::vector<std::string>& paths, const DistributedInfo& told) {
    for (size_t p = 0; p < paths.size(); ++p) {
      ASSAY_TRY_ASSIGN(FileHandle file, open_file(paths[p], "wb"));
      files_.push_back(std::move(file));
      std::string head = "{\n" + survey_.members();
      const std::optional<int64_t>& rank = owners_.processes()[p].rank;
      if (rank || told.world_size) {
        head += "\"distributedInfo\":{";
        if (rank) head += "\"rank\":" + std::to_string(*rank) + (told.world_size ? "," : "");
        if (told.world_size) head += "\"world_size\":" + std::to_string(*told.world_size);
        const bool plain = std::all_of(told.backend.begin(), told.backend.end(),
                                       [](char c) { return is_letter(c) || is_digit(c); });
        if (plain && !told.backend.empty()) head += ",\"backend\":\"" + told.backend + "\"";
        head += "},\n";
      }
      ASSAY_TRY(put(p, head + "\"traceEvents\":["));
    }
    empty_.assign(paths.size(), true);
    return Ok{};
  }

  void member(std::string_view, const JsonValue&, JsonCursor, std::string_view) override {}

  Status event(const RawEvent& event, std::string_view text) override {
    const uint64_t place = places_++;
    uint32_t process = kNobody;
    if (event.has(Field::kPid)) {
      process = owners_.of(survey_.number_of(event[Field::kPid].text), place);
    }
    if (process == kNobody) {
      left_out_ += is_duration(event);
      return Ok{};
    }
    ASSAY_TRY(put(process, empty_[process] ? "\n" : ",\n"));
    empty_[process] = false;
    const std::optional<Labelled> parts =
        event[Field::kPid].kind == JsonKind::kString ? labelled(event[Field::kPid].text)
                                                     : std::nullopt;
    if (!parts) return put(process, text);
    int64_t number = 0;
    const bool quoted = !parse_int64(parts->pid, number);
    const std::string_view written = event[Field::kPid].text;
    const auto begin = static_cast<size_t>(written.data() - text.data()) - 1;
    std::string changed(text.substr(0, begin));
    changed += (quoted ? "\"" : "") + std::string(parts->pid) + (quoted ? "\"" : "");
    changed += text.substr(begin + written.size() + 2);
    return put(process, changed);
  }

  Status close(bool whole) {
    for (size_t p = 0; p < files_.size(); ++p) {
      if (whole) ASSAY_TRY(put(p, "\n]}\n"));
      if (std::fflush(files_[p].get()) != 0) return cannot_write();
    }
    return Ok{};
  }
  uint64_t left_out() const { return left_out_; }

 private:
  static Error cannot_write() {
    return {ErrorCode::kIo,
            "its processes cannot be written apart, each into a temporary file: is the disk full? "
            "TMPDIR names another folder",
            "", -1};
  }
  Status put(size_t process, std::string_view text) {
    std::FILE* file = files_[process].get();
    if (std::fwrite(text.data(), 1, text.size(), file) != text.size()) return cannot_write();
    return Ok{};
  }

  Survey& survey_;
  const Owners& owners_;
  std::vector<FileHandle> files_;
  std::vector<bool> empty_;
  uint64_t places_ = 0;
  uint64_t left_out_ = 0;
};

// True if the document is complete.
Result<bool> read_elements(ChromePiece& piece, ElementSink& sink) {
  piece.set_sink(&sink);
  ASSAY_TRY(piece.read_header());
  if (piece.stage() != Stage::kEnd) ASSAY_TRY(piece.run(UINT64_MAX));
  return piece.stage() == Stage::kEnd && !piece.source_truncated();
}

}  // namespace

size_t launching_processes(const TraceBuilder& builder) {
  std::unordered_set<uint32_t> launched;
  const ActivityTable& rows = builder.activities;
  const ApiCallTable& calls = builder.api_calls;
  if (calls.size() == 0) return 0;
  const std::string& first = builder.lane(calls.thread[0]).pid;
  bool several = false;
  for (size_t t = 0; t < builder.threads() && !several; ++t) {
    several = builder.lane(ThreadId(t)).pid != first;
  }
  if (!several) return 1;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows.correlation[i] != 0 && is_plain_work(rows.kind[i])) {
      launched.insert(rows.correlation[i]);
    }
  }
  std::set<std::string_view> pids;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (launched.contains(calls.correlation[i])) pids.insert(builder.lane(calls.thread[i]).pid);
  }
  return pids.size();
}

Result<SplitFile> split_processes(const std::string& path, const std::string& folder) {
  ASSAY_TRY_ASSIGN(ByteSource source, ByteSource::open(path));
  ChromePiece first(source.stream(true), 0, Stage::kStart);
  Survey survey(first);
  ASSAY_TRY(read_elements(first, survey));
  Owners owners(survey);
  ASSAY_TRY(owners.find());
  std::vector<std::string> paths;
  while (paths.size() < owners.processes().size()) {
    paths.push_back(joined(folder, std::to_string(paths.size()) + ".json"));
  }
  Writer writer(survey, owners);
  ASSAY_TRY(writer.open(paths, first.header.distributed));
  ASSAY_TRY_ASSIGN(ByteSource again, ByteSource::open(path));
  ChromePiece second(again.stream(true), 0, Stage::kStart);
  ASSAY_TRY_ASSIGN(const bool whole, read_elements(second, writer));
  ASSAY_TRY(writer.close(whole));
  SplitFile split{.left_out = writer.left_out()};
  std::vector<size_t> order(paths.size());
  for (size_t p = 0; p < order.size(); ++p) order[p] = p;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return owners.processes()[a].rank.value_or(0) < owners.processes()[b].rank.value_or(0);
  });
  for (const size_t p : order) split.parts.push_back({paths[p], owners.processes()[p].name});
  return split;
}

}  // namespace assay
