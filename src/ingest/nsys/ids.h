#pragma once

// Decodes the ids of a Nsight Systems export: names by row of StringIds, threads and processes
// packed into global ids, and streams with equal numbers in several processes.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ingest/sqlite_file.h"
#include "trace/builder.h"

namespace assay {

// Form of a name: unchanged, or an API name without its _vNNNN suffix.
enum class NameForm : uint8_t { kPlain, kApi };

// Looks up a name when a row first needs it: files contain hundreds of thousands of symbols of call
// stacks that no table refers to.
class NsysNames {
 public:
  static Result<NsysNames> open(const SqliteFile& file);

  // The id of the empty string if the name is missing, which counts as missing_name.
  StringId find(int64_t id, NameForm form, TraceBuilder& builder);
  Status status() const { return lookup_.status(); }

 private:
  StringId read(int64_t id, NameForm form, TraceBuilder& builder);

  SqliteFile::Lookup lookup_;
  // False: a look-up would scan the whole table, so the table is read into all_ once.
  bool has_key_ = true;
  std::unordered_map<int64_t, std::string> all_;
  std::vector<StringId> small_[2];  // by id, per form; kNone = not looked up yet
  std::unordered_map<int64_t, StringId> large_[2];
  std::string scratch_;
};

constexpr uint32_t kNoProcess = UINT32_MAX;

// A global id is machine << 48 | process << 24 | thread (spec/formats 2).
class NsysLanes {
 public:
  explicit NsysLanes(TraceBuilder& builder) : builder_(builder) {}

  ThreadId thread(uint64_t global_tid);
  void name_thread(uint64_t global_tid, std::string_view name);
  // Names the process, and those of its threads seen so far that have no name of their own.
  void name_process(uint64_t global_pid, std::string_view name);
  bool knows_thread(uint64_t global_tid) const { return threads_.count(global_tid) != 0; }
  // Index of a process in order of appearance, for a global id of the process or of one of its
  // threads.
  uint32_t process(uint64_t global_id);
  size_t processes() const { return process_keys_.size(); }
  // The operating system's process id, with the suffix "@machine" except on the first machine of
  // the file.
  std::string pid_text(uint64_t global_id);
  // The lane of a stream. If several processes use one device, the streams of later processes get
  // distinct numbers: kStreamsPerProcess more for each earlier process.
  StreamId stream(uint32_t process, int64_t device, int64_t stream);
  // The same lane if stream() was called for it, else none.
  StreamId find_stream(uint32_t process, int64_t device, int64_t stream) const;

  static std::string tid_text(uint64_t global_tid) { return std::to_string(global_tid & 0xFFFFFF); }

 private:
  static constexpr int64_t kStreamsPerProcess = 1'000'000;

  StreamId add_stream(uint32_t process, int64_t device, int64_t stream);

  TraceBuilder& builder_;
  std::unordered_map<uint64_t, ThreadId> threads_;
  uint64_t last_global_tid_ = 0;
  ThreadId last_thread_;
  std::unordered_map<uint64_t, uint32_t> process_numbers_;
  std::vector<uint64_t> process_keys_;
  uint64_t last_process_key_ = UINT64_MAX;
  uint32_t last_process_ = kNoProcess;
  uint64_t first_machine_ = UINT64_MAX;
  std::unordered_map<uint64_t, std::vector<uint64_t>> threads_of_;  // by process key
  // By device: its processes, and the number of processes before each.
  std::map<int64_t, std::unordered_map<uint32_t, int64_t>> processes_on_;
  std::map<std::tuple<uint32_t, int64_t, int64_t>, StreamId> streams_;
  std::tuple<uint32_t, int64_t, int64_t> last_stream_key_;
  StreamId last_stream_;
};

// The names of one ENUM_* table: those in the file, else those of schema 3.
class NsysWords {
 public:
  NsysWords(std::vector<std::string> fallback) : words_(std::move(fallback)) {}
  Status read(const SqliteFile& file, const std::string& table, std::string_view column);
  // The name of a number; "Unknown" if it has none.
  std::string_view word(int64_t number) const;

 private:
  std::vector<std::string> words_;
};

// Kineto's name for a copy kind: "HtoD" for "CUDA_MEMCPY_KIND_UVM_HTOD".
std::string copy_direction(std::string_view word);

}  // namespace assay
