#include "ingest/nsys/ids.h"

#include <algorithm>

#include "ingest/text/json_text.h"
#include "trace/api_names.h"
#include "trace/process_facts.h"

namespace assay {
namespace {

// Smaller ids index a vector: files number their names upwards from 0 or 1.
constexpr int64_t kSmallIds = 1 << 22;
constexpr size_t kMostWords = 15;  // CUPTI has 14 kinds of copies and 8 of memory

}  // namespace

Result<NsysNames> NsysNames::open(const SqliteFile& file) {
  NsysNames names;
  names.has_key_ = file.is_key("StringIds", "id");
  if (names.has_key_) {
    ASSAY_TRY_ASSIGN(names.lookup_, file.lookup("StringIds", "id", "value"));
    return names;
  }
  ASSAY_TRY_ASSIGN(SqliteRows rows, file.rows("StringIds", {"id", "value"}));
  while (rows.next()) {
    int64_t id = 0;
    std::string_view text;
    if (rows.integer(0, id) == CellRead::kValue && rows.text(1, text) == CellRead::kValue) {
      names.all_.try_emplace(id, text);
    }
  }
  ASSAY_TRY(rows.status());
  return names;
}

StringId NsysNames::read(int64_t id, NameForm form, TraceBuilder& builder) {
  std::string_view text;
  if (has_key_) {
    if (lookup_.find(id, text) != CellRead::kValue) text = {};
  } else if (const auto found = all_.find(id); found != all_.end()) {
    text = found->second;
  }
  uint64_t invalid = 0;
  text = valid_utf8(text, scratch_, invalid);
  if (invalid != 0) builder.log.add(ImportCode::kInvalidUtf8, -1, invalid);
  return builder.text(form == NameForm::kApi ? without_api_version(text) : text);
}

StringId NsysNames::find(int64_t id, NameForm form, TraceBuilder& builder) {
  const auto f = static_cast<size_t>(form);
  StringId name;
  if (id >= 0 && id < kSmallIds) {
    const auto place = static_cast<size_t>(id);
    if (place >= small_[f].size()) small_[f].resize(std::max(place + 1, 2 * small_[f].size()));
    if (!small_[f][place]) small_[f][place] = read(id, form, builder);
    name = small_[f][place];
  } else {
    const auto [found, added] = large_[f].try_emplace(id);
    if (added) found->second = read(id, form, builder);
    name = found->second;
  }
  if (name == StringId(0)) builder.log.add(ImportCode::kMissingName);
  return name;
}

ThreadId NsysLanes::thread(uint64_t global_tid) {
  if (last_thread_ && global_tid == last_global_tid_) return last_thread_;
  const auto [found, added] = threads_.try_emplace(global_tid);
  if (added) {
    threads_of_[global_tid >> 24].push_back(global_tid);
    found->second = builder_.thread(pid_text(global_tid), tid_text(global_tid));
  }
  last_global_tid_ = global_tid;
  last_thread_ = found->second;
  return last_thread_;
}

void NsysLanes::name_thread(uint64_t global_tid, std::string_view name) {
  builder_.name_lane(pid_text(global_tid), tid_text(global_tid), name);
}

void NsysLanes::name_process(uint64_t global_pid, std::string_view name) {
  const auto found = threads_of_.find(global_pid >> 24);
  if (found == threads_of_.end()) return;
  builder_.tell_process(kProcessName, pid_text(global_pid), name);
  for (const uint64_t global_tid : found->second) name_thread(global_tid, name);
}

uint32_t NsysLanes::process(uint64_t global_id) {
  const uint64_t key = global_id >> 24;
  if (key == last_process_key_) return last_process_;
  const auto number = static_cast<uint32_t>(process_keys_.size());
  const auto [found, added] = process_numbers_.try_emplace(key, number);
  if (added) process_keys_.push_back(key);
  last_process_key_ = key;
  last_process_ = found->second;
  return last_process_;
}

std::string NsysLanes::pid_text(uint64_t global_id) {
  const uint64_t machine = global_id >> 48;
  if (first_machine_ == UINT64_MAX) first_machine_ = machine;
  std::string text = std::to_string(global_id >> 24 & 0xFFFFFF);
  if (machine != first_machine_) text += "@" + std::to_string(machine);
  return text;
}

StreamId NsysLanes::stream(uint32_t process, int64_t device, int64_t stream) {
  const std::tuple<uint32_t, int64_t, int64_t> key(process, device, stream);
  if (last_stream_ && key == last_stream_key_) return last_stream_;
  const auto [found, added] = streams_.try_emplace(key);
  if (added) found->second = add_stream(process, device, stream);
  last_stream_key_ = key;
  last_stream_ = found->second;
  return last_stream_;
}

StreamId NsysLanes::find_stream(uint32_t process, int64_t device, int64_t stream) const {
  const auto found = streams_.find({process, device, stream});
  return found == streams_.end() ? StreamId() : found->second;
}

StreamId NsysLanes::add_stream(uint32_t process, int64_t device, int64_t stream) {
  auto& users = processes_on_[device];
  const int64_t before = users.try_emplace(process, users.size()).first->second;
  if (before == 0 || stream < 0) return builder_.stream(device, stream);
  const int64_t own = stream + before * kStreamsPerProcess;
  const std::string pid =
      process < process_keys_.size() ? pid_text(process_keys_[process] << 24) : "unknown";
  builder_.name_lane(std::to_string(device), std::to_string(own),
                     "stream " + std::to_string(stream) + " of process " + pid);
  return builder_.stream(device, own);
}

Status NsysWords::read(const SqliteFile& file, const std::string& table, std::string_view column) {
  ASSAY_TRY_ASSIGN(SqliteRows rows, file.rows(table, {"id", column}));
  while (rows.next()) {
    int64_t id = 0;
    std::string_view text;
    if (rows.integer(0, id) != CellRead::kValue || id < 0) continue;
    const auto place = static_cast<size_t>(id);
    if (place >= kMostWords || rows.text(1, text) != CellRead::kValue) continue;
    if (place >= words_.size()) words_.resize(place + 1);
    words_[place] = text;
  }
  return rows.status();
}

std::string_view NsysWords::word(int64_t number) const {
  const bool known = number >= 0 && static_cast<size_t>(number) < words_.size() &&
                     !words_[static_cast<size_t>(number)].empty();
  return known ? std::string_view(words_[static_cast<size_t>(number)]) : "Unknown";
}

std::string copy_direction(std::string_view word) {
  const std::string_view end = word.substr(word.rfind('_') + 1);
  const bool told = end.size() == 4 && end.substr(1, 2) == "TO";
  if (!told) return "Unknown";
  return std::string(1, end[0]) + "to" + end[3];
}

}  // namespace assay
