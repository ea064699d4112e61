#include "ingest/flight/dump.h"

#include <algorithm>
#include <deque>
#include <set>
#include <utility>

#include "base/ascii.h"
#include "base/decimal.h"
#include "base/files.h"
#include "base/json_tree.h"
#include "ingest/memory/pickle.h"
#include "ingest/text/shape.h"
#include "ingest/text/whole_file.h"

namespace assay {
namespace {

// Converts JSON to the values of a pickle, so that one reader handles the fields of both.
class JsonValues {
 public:
  Result<PickleDocument> convert(const std::string& text) {
    const nlohmann::json tree = parsed_json(text);
    if (tree.is_discarded()) {
      return Error{ErrorCode::kFormat, "no JSON: cut off, damaged or nested too deep", "", -1};
    }
    document_.root = add(tree);
    return std::move(document_);
  }

 private:
  uint32_t add(const nlohmann::json& node) {
    PickleValue value;
    if (node.is_boolean()) {
      value = {.kind = PickleKind::kBool, .integer = node.get<bool>()};
    } else if (node.is_number_integer()) {
      value = {.kind = PickleKind::kInteger, .integer = node.get<int64_t>()};
    } else if (node.is_number()) {
      value = {.kind = PickleKind::kReal, .real = node.get<double>()};
    } else if (node.is_string()) {
      value = text(node.get<std::string>());
    } else if (node.is_array()) {
      value.kind = PickleKind::kList;
      for (const nlohmann::json& one : node) value.of.push_back(add(one));
    } else if (node.is_object()) {
      value.kind = PickleKind::kDict;
      for (const auto& [key, one] : node.items()) {
        document_.values.push_back(text(key));
        value.of.push_back(static_cast<uint32_t>(document_.values.size() - 1));
        value.of.push_back(add(one));
      }
    }
    document_.values.push_back(std::move(value));
    return static_cast<uint32_t>(document_.values.size() - 1);
  }
  PickleValue text(std::string text) {
    return {.kind = PickleKind::kText, .text = texts_.emplace_back(std::move(text))};
  }

  PickleDocument document_;
  std::deque<std::string> texts_;
};

class DumpReader {
 public:
  explicit DumpReader(const PickleDocument& document) : document_(document) {}

  Result<FlightDump> read() {
    const PickleValue& root = document_.values[document_.root];
    const PickleValue* entries = document_.find(root, "entries");
    const PickleValue* groups = document_.find(root, "pg_config");
    if (entries == nullptr && groups == nullptr) {
      return Error{ErrorCode::kNotATrace,
                   "no flight-recorder dump: it has neither entries nor pg_config", "", -1};
    }
    dump_.version = text(document_.find(root, "version"));
    for (const char* key : {"nccl_version", "comm_lib_version"}) {
      if (dump_.library_version.empty()) dump_.library_version = text(document_.find(root, key));
    }
    ASSAY_TRY(add_groups(groups));
    ASSAY_TRY(add_status(document_.find(root, "pg_status")));
    ASSAY_TRY(add_entries(entries));
    std::stable_sort(
        dump_.entries.begin(), dump_.entries.end(),
        [](const FlightEntry& a, const FlightEntry& b) { return a.record < b.record; });
    return std::move(dump_);
  }

 private:
  // Limits the values read: values may be shared, so a small pickle could repeat one long list a
  // million times.
  Status spend(size_t values) {
    constexpr uint64_t kFree = 100'000;
    constexpr uint64_t kUses = 64;  // stacks and types are shared by many entries
    spent_ += values + 1;
    if (spent_ <= kFree + kUses * document_.values.size()) return Ok{};
    return Error{ErrorCode::kUnsupported, "lists that are shared more often than any dump does",
                 "", -1};
  }

  const PickleValue& at(uint32_t id) const { return document_.values[id]; }

  static std::string text(const PickleValue* value) {
    if (value == nullptr) return {};
    if (value->kind == PickleKind::kText) return std::string(value->text);
    if (value->kind == PickleKind::kInteger) return std::to_string(value->integer);
    return {};
  }

  // A number, possibly written as text; -1 for other values.
  static int64_t number(const PickleValue* value) {
    if (value == nullptr) return -1;
    if (value->kind == PickleKind::kInteger) return value->integer;
    int64_t told = -1;
    if (value->kind == PickleKind::kText && parse_int64(value->text, told)) return told;
    return -1;
  }

  static bool is_true(const PickleValue* value) {
    return value != nullptr && value->kind == PickleKind::kBool && value->integer != 0;
  }

  // Ranks from the text "[0, 1]" or from a list of numbers.
  Result<std::vector<int64_t>> ranks(const PickleValue* value) {
    std::vector<int64_t> ranks;
    if (value == nullptr) return ranks;
    if (value->kind == PickleKind::kList) {
      ASSAY_TRY(spend(value->of.size()));
      for (const uint32_t id : value->of) ranks.push_back(number(&at(id)));
      return ranks;
    }
    if (value->kind != PickleKind::kText) return ranks;
    const std::string_view text = value->text;
    ASSAY_TRY(spend(text.size() / 2));
    for (size_t from = 0; from < text.size();) {
      size_t to = from;
      while (to < text.size() && is_digit(text[to])) ++to;
      int64_t rank = 0;
      if (to > from && parse_int64(text.substr(from, to - from), rank)) ranks.push_back(rank);
      from = std::max(to, from + 1);
    }
    return ranks;
  }

  Status add_groups(const PickleValue* groups) {
    if (groups == nullptr || groups->kind != PickleKind::kDict) return Ok{};
    for (size_t i = 0; i + 1 < groups->of.size(); i += 2) {
      const PickleValue& group = at(groups->of[i + 1]);
      ASSAY_TRY(spend(group.of.size()));
      std::string name = text(document_.find(group, "name"));
      if (name.empty()) name = text(&at(groups->of[i]));
      FlightGroup& into = dump_.groups[name];
      into.desc = text(document_.find(group, "desc"));
      ASSAY_TRY_ASSIGN(into.ranks, ranks(document_.find(group, "ranks")));
    }
    return Ok{};
  }

  Status add_status(const PickleValue* all) {
    if (all == nullptr || all->kind != PickleKind::kDict) return Ok{};
    for (size_t i = 0; i + 1 < all->of.size(); i += 2) {
      const PickleValue& one = at(all->of[i + 1]);
      ASSAY_TRY(spend(one.of.size()));
      dump_.status[number(&at(all->of[i]))] = {
          .enqueued = number(document_.find(one, "last_enqueued_collective")),
          .completed = number(document_.find(one, "last_completed_collective"))};
    }
    return Ok{};
  }

  Status add_entries(const PickleValue* entries) {
    if (entries == nullptr || entries->kind != PickleKind::kList) return Ok{};
    for (const uint32_t id : entries->of) {
      const PickleValue& row = at(id);
      ASSAY_TRY(spend(row.of.size()));
      ASSAY_TRY_ASSIGN(FlightEntry entry, read_entry(row));
      if (entry.call.empty()) {
        ++dump_.odd_entries;
        continue;
      }
      if (entry.record < 0) entry.record = static_cast<int64_t>(dump_.entries.size());
      dump_.entries.push_back(std::move(entry));
    }
    return Ok{};
  }

  Result<FlightEntry> read_entry(const PickleValue& row) {
    const auto field = [&](std::string_view key) { return document_.find(row, key); };
    FlightEntry entry{.record = number(field("record_id")), .pg = number(field("pg_id"))};
    if (const PickleValue* group = field("process_group");
        group != nullptr && group->kind == PickleKind::kList && !group->of.empty()) {
      entry.group = text(&at(group->of.front()));
      if (group->of.size() > 1) entry.desc = text(&at(group->of[1]));
    }
    entry.p2p = is_true(field("is_p2p"));
    entry.call = text(field("profiling_name"));
    const std::string_view kind = std::string_view(entry.call).substr(entry.call.find(':') + 1);
    entry.p2p |= kind.starts_with("send ") || kind.starts_with("recv ");
    entry.seq = number(field("collective_seq_id"));
    if (field("collective_seq_id") == nullptr) entry.seq = number(field("seq_id"));
    entry.timeout_ms = number(field("timeout_ms"));
    ASSAY_TRY_ASSIGN(entry.in_elements, elements(field("input_sizes")));
    ASSAY_TRY_ASSIGN(entry.out_elements, elements(field("output_sizes")));
    ASSAY_TRY_ASSIGN(entry.in_types, texts(field("input_dtypes")));
    ASSAY_TRY_ASSIGN(entry.out_types, texts(field("output_dtypes")));
    const std::string state = text(field("state"));
    if (state == "completed") entry.state = FlightState::kCompleted;
    if (state == "started") entry.state = FlightState::kStarted;
    if (state != "completed" && state != "started" && state != "scheduled") entry.call.clear();
    ASSAY_TRY_ASSIGN(entry.frames, frames(field("frames")));
    return entry;
  }

  // Number of elements of each tensor, at most 2^62.
  Result<std::vector<int64_t>> elements(const PickleValue* sizes) {
    std::vector<int64_t> products;
    if (sizes == nullptr || sizes->kind != PickleKind::kList) return products;
    ASSAY_TRY(spend(sizes->of.size()));
    for (const uint32_t id : sizes->of) {
      const PickleValue& extents = at(id);
      ASSAY_TRY(spend(extents.of.size()));
      constexpr int64_t kMost = int64_t{1} << 62;
      int64_t product = 1;
      for (const uint32_t extent : extents.of) {
        const int64_t n = std::max<int64_t>(number(&at(extent)), 0);
        product = n != 0 && product > kMost / n ? kMost : product * n;
      }
      products.push_back(product);
    }
    return products;
  }

  Result<std::vector<std::string>> texts(const PickleValue* list) {
    std::vector<std::string> texts;
    if (list == nullptr || list->kind != PickleKind::kList) return texts;
    ASSAY_TRY(spend(list->of.size()));
    for (const uint32_t id : list->of) texts.push_back(text(&at(id)));
    return texts;
  }

  Result<std::vector<FlightFrame>> frames(const PickleValue* list) {
    constexpr size_t kMost = 64;
    std::vector<FlightFrame> frames;
    if (list == nullptr || list->kind != PickleKind::kList) return frames;
    for (size_t i = 0; i < std::min(list->of.size(), kMost); ++i) {
      const PickleValue& frame = at(list->of[i]);
      if (frame.kind != PickleKind::kDict || frame.of.size() > 32) continue;
      frames.push_back({.function = text(document_.find(frame, "name")),
                        .file = text(document_.find(frame, "filename")),
                        .line = number(document_.find(frame, "line"))});
    }
    return frames;
  }

  const PickleDocument& document_;
  FlightDump dump_;
  uint64_t spent_ = 0;
};

std::optional<int64_t> rank_of(const FlightDump& dump) {
  std::optional<std::set<int64_t>> shared;
  for (const auto& [name, group] : dump.groups) {
    const std::set<int64_t> members(group.ranks.begin(), group.ranks.end());
    if (members.empty()) continue;
    if (!shared) {
      shared = members;
    } else {
      std::erase_if(*shared, [&](int64_t rank) { return !members.contains(rank); });
    }
  }
  const std::optional<int64_t> named = rank_in_dump_name(dump.file);
  if (named && (!shared || shared->contains(*named))) return named;
  if (shared && shared->size() == 1) return *shared->begin();
  return std::nullopt;
}

Result<FlightDump> read_bytes(const std::string& bytes) {
  if (bytes.starts_with('\x80')) {
    ASSAY_TRY_ASSIGN(const PickleDocument document, parse_pickle(bytes));
    return DumpReader(document).read();
  }
  JsonValues json;
  ASSAY_TRY_ASSIGN(const PickleDocument document, json.convert(bytes));
  return DumpReader(document).read();
}

}  // namespace

bool is_flight_head(std::string_view head) {
  const bool pickle = head.starts_with('\x80');
  const size_t first = first_text_byte(head);
  const bool json = first != std::string_view::npos && head[first] == '{';
  if (!pickle && !json) return false;
  // Kineto's traces have a key "pg_config", too.
  if (contains_any(head, {"traceEvents", "schemaVersion", "deviceProperties"})) return false;
  return contains(head, "pg_config") ||
         (contains(head, "entries") && contains(head, "profiling_name"));
}

std::optional<int64_t> rank_in_dump_name(const std::string& path) {
  std::string name = file_name(path);
  for (const char* ending : {".gz", ".zst", ".json", ".pickle", ".pkl", ".txt", ".bin"}) {
    if (name.ends_with(ending)) name.resize(name.size() - std::string_view(ending).size());
  }
  size_t begin = name.size();
  while (begin > 0 && is_digit(name[begin - 1])) --begin;
  int64_t number = 0;
  if (!parse_int64(std::string_view(name).substr(begin), number)) return std::nullopt;
  return number;
}

Result<FlightDump> read_flight_dump(const std::string& path) {
  const Error too_large{ErrorCode::kUnsupported, "more than 1 GiB: no dump of a flight recorder", "",
                        -1};
  auto dump = [&]() -> Result<FlightDump> {
    ASSAY_TRY_ASSIGN(const std::string bytes, read_whole_file(path, too_large));
    return read_bytes(bytes);
  }();
  if (!dump) {
    Error error = dump.take_error();
    error.file = path;
    return error;
  }
  dump->file = path;
  dump->rank = rank_of(*dump);
  return dump;
}

}  // namespace assay
