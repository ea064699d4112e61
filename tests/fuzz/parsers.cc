#include "parsers.h"

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/byte_source.h"
#include "breakdown/counter_formulas.h"
#include "breakdown/expression.h"
#include "breakdown/mapping.h"
#include "diff/gate.h"
#include "flow/requests.h"
#include "ingest/bench/table.h"
#include "ingest/counters/files.h"
#include "ingest/formats.h"
#include "ingest/load.h"
#include "ingest/power/json.h"
#include "ingest/power/log.h"
#include "ingest/power/recording.h"
#include "ingest/power/telemetry.h"
#include "ingest/replay/file.h"
#include "ingest/replay/job.h"
#include "ingest/requests/log.h"
#include "job/judge.h"
#include "kernels/book.h"
#include "kernels/name.h"
#include "records/facts.h"
#include "rooms.h"
#include "throughput/model_file.h"

namespace assay::fuzz {
namespace {

uint64_t read_whole = 0;

// Whatever comes out is looked at, so that nothing of it can be left out by the compiler.
template <typename T>
void look_at(const Result<T>& result) {
  if (result) ++read_whole;
  if (!result && result.error().describe().empty()) __builtin_trap();  // a refusal says why
}

// In memory where there is such a place: an input is written anew thousands of times a second, and
// on a disk each waits.
std::string temporary_name() {
  constexpr const char* kInMemory = "/dev/shm";
  const std::filesystem::path folder =
      ::access(kInMemory, W_OK) == 0 ? kInMemory : std::filesystem::temp_directory_path();
  return (folder / "assay_fuzz_XXXXXX").string();
}

struct TemporaryFolder {
  TemporaryFolder() {
    path = temporary_name();
    if (::mkdtemp(path.data()) == nullptr) std::abort();
  }
  ~TemporaryFolder() {
    std::error_code gone;
    std::filesystem::remove_all(path, gone);
  }
  std::string path;
};

void trace(const std::string& bytes, const std::string& path) {
  const ReadOptions options{.allow_truncated = bytes.size() % 2 == 1,
                            .keep_op_inputs = true,
                            .threads = bytes.size() % 4 < 2 ? 1u : 2u};
  look_at(load_trace(path, options));
}
// The other rank of a job of two that do the same, where a file tells its rank as text.
std::string of_another_rank(std::string bytes) {
  constexpr std::string_view kRank = "\"rank\": ";
  const size_t at = bytes.find(kRank);
  if (at == std::string::npos || at + kRank.size() >= bytes.size()) return bytes;
  char& digit = bytes[at + kRank.size()];
  digit = digit == '0' ? '1' : '0';
  return bytes;
}

void rooms(const std::string& bytes, const std::string& path) {
  if (!every_answer(path, bytes.size() % 2 == 1)) return;
  ++read_whole;
  static InputFile second;
  if (bytes.size() % 3 == 0 && second.put(of_another_rank(bytes))) {
    every_answer_of_two(path, second.path());
  }
}
void counters(const std::string& bytes, const std::string& path) {
  look_at(read_counter_pass(path, bytes.size() % 2 == 1));
}
void telemetry(const std::string& bytes, const std::string& path) {
  look_at(read_telemetry(path, bytes.size() % 2 == 1));
}
void power_log(const std::string& bytes, const std::string& path) {
  const LogTiming told{{1'777'896'000'000'000'000, LogClock::kEpoch}, true, 100'000'000};
  look_at(read_power_log(path, {.timing = bytes.size() % 2 == 1 ? told : LogTiming{}}));
}
// What can be read can be joined: with the steps of an engine that the times of the log lie in, or not.
void request_log(const std::string& bytes, const std::string& path) {
  const auto log = parse_request_log(bytes, path);
  look_at(log);
  if (!log) return;
  std::vector<ServingStep> steps;
  constexpr int64_t kStartNs = 1'775'078'550'000'000'000;
  for (int64_t i = 0; i < 20; ++i) {
    const int64_t at = kStartNs + i * 1'000'000;
    steps.push_back({.told = {.kind = i % 5 == 0 ? StepKind::kMixed : StepKind::kDecode, .prompt_tokens = i, .decoding = 3},
                     .host = {at, at + 300'000},
                     .device = {at + 100'000, at + 900'000},
                     .token_gap_ns = 1'000'000});
  }
  const RequestsReport report = join_requests(*log, steps, {});
  for (const JoinedRequest& request : report.requests) {
    int64_t first_ns = 0;
    for (size_t p = 0; p < kFirstTokenParts; ++p) first_ns += request.parts[p];
    if (request.to_first && first_ns != *request.record.ttft_ns) __builtin_trap();
  }
}
void power_meta(const std::string&, const std::string& path) { look_at(read_sensor_model(path)); }
void calibration(const std::string&, const std::string& path) {
  look_at(read_sensor_calibration(path));
}
// A folder of four files, one behind the other as `head` prints several: a line ==> NAME before
// each.
void power_recording(const std::string& bytes, const std::string&) {
  static const TemporaryFolder folder;
  for (const char* name : {"samples.csv", "execs.csv", "sync.csv", "meta.json"}) {
    const std::string mark = std::string("==> ") + name + "\n";
    const size_t at = bytes.find(mark);
    const std::filesystem::path path = std::filesystem::path(folder.path) / name;
    if (at == std::string::npos) {
      std::filesystem::remove(path);
      continue;
    }
    const size_t begin = at + mark.size();
    std::ofstream(path, std::ios::binary) << bytes.substr(begin, bytes.find("==> ", begin) - begin);
  }
  look_at(read_power_recording(folder.path));
}
void bench(const std::string& bytes, const std::string& path) {
  look_at(bench_table_of_text(bytes, path, {}));
}
void floor_file(const std::string&, const std::string& path) { look_at(read_floor_file(path)); }
void replay(const std::string&, const std::string& path) { look_at(read_replay_file(path)); }
void kernel_db(const std::string&, const std::string& path) { look_at(read_kernel_database(path)); }
void model(const std::string& bytes, const std::string&) { look_at(read_model(bytes, "model")); }
void facts(const std::string& bytes, const std::string&) {
  FactBook book;
  look_at(book.add(bytes, "facts.ini"));
}
void kernel_table(const std::string& bytes, const std::string&) {
  KernelBook book;
  look_at(book.add(bytes, "kernels.txt"));
}
void kernel_name(const std::string& bytes, const std::string&) {
  const std::string clean = clean_kernel_name(bytes);
  (void)plain_kernel_name(clean);
  (void)base_kernel_name(bytes);
  (void)KernelBook::built_in()->classify(bytes);
  (void)KernelBook::built_in()->collective_of(bytes);
}
void level_rules(const std::string& bytes, const std::string&) {
  look_at(parse_level_rules(bytes, "breakdown.txt"));
}
void formula(const std::string& bytes, const std::string&) {
  auto expression = Expression::parse(bytes.substr(0, 200));
  look_at(expression);
  if (expression) (void)expression->evaluate(std::vector<double>(3, 2.5));
}
void counter_formulas(const std::string& bytes, const std::string&) {
  CounterFormulas formulas;
  look_at(formulas.add(bytes, "formulas.ini"));
}
void gate(const std::string& bytes, const std::string&) { look_at(parse_gate(bytes)); }
void format(const std::string&, const std::string& path) { (void)format_of_file(path); }
void packed(const std::string&, const std::string& path) {
  auto source = ByteSource::open(path);
  look_at(source);
  if (!source) return;
  const ReadFn read = source->stream(false);
  char block[4096];
  for (uint64_t total = 0; total < (uint64_t{64} << 20);) {
    const auto got = read(block, sizeof(block));
    look_at(got);
    if (!got) {
      // Readers ask again, to meet the damage themselves.
      for (int again = 0; again < 4; ++again) look_at(read(block, sizeof(block)));
      return;
    }
    if (*got == 0) return;
    total += *got;
  }
}
// A file of records; and a record's payload alone, since a checksum keeps changed bytes away from
// it. What can be read can be written, and put together with others.
void ranks(const std::string& bytes, const std::string&) {
  for (const FoundRecord& found : scan_records(bytes).records) look_at(read_record(found));
  const auto record = read_record({.payload = bytes});
  look_at(record);
  if (!record) return;
  const std::string again = record_bytes(*record);
  if (again.size() > kMostRecordBytes || scan_records(again).records.size() != 1) __builtin_trap();
  look_at(judge_records({*record}));
}

}  // namespace

const std::vector<ParserTarget>& parser_targets() {
  static const std::vector<ParserTarget> targets = {
      {"chrome", "kineto execution utf16", trace},
      {"nsys", "nsys.sqlite", trace},
      {"rocpd", "rocpd rpd", trace},
      {"xplane", "xspace", trace},
      {"pftrace", "pftrace", trace},
      {"assaytrace", "assaytrace", trace},
      {"assay", "assay.assay", trace},
      {"rocprof_csv", "rocprof_csv", trace},
      {"rocprof_json", "rocprof_json", trace},
      {"rooms",
       "kineto.json execution nsys.sqlite rocpd rpd xspace pftrace assaytrace assay.assay rocprof_csv "
       "rocprof_json",
       rooms},
      {"counters", "rocprof_counters rocprof_compute ncu_ counter_table", counters},
      {"telemetry", "samples nvidia_smi uprof chopper.gpu smi_dmon metrics_text wandb tegrastats",
       telemetry},
      {"power_log",
       "power_samples samples nvidia_smi uprof smi_dmon dcgmi_dmon metrics_text prometheus_json "
       "grafana amd_smi_csv amd_smi_json rocm_smi_csv rocm_smi_json zeus tegrastats rapl perf_stat "
       "turbostat codecarbon nvitop wandb powermetrics",
       power_log},
      {"request_log", "request_log", request_log},
      {"power_recording", "", power_recording},
      {"power_meta", "calibration campaign", power_meta},
      {"calibration", "calibration", calibration},
      {"bench", "bench sweep", bench},
      {"floor", "floor", floor_file},
      {"replay", "replay", replay},
      {"kernel_db", "kernel_db", kernel_db},
      {"model", "throughput_model", model},
      {"facts", "facts", facts},
      {"kernel_table", "kernels", kernel_table},
      {"kernel_name", "kernels kineto", kernel_name},
      {"level_rules", "breakdown_map", level_rules},
      {"formula", "counter_formulas", formula},
      {"counter_formulas", "counter_formulas", counter_formulas},
      {"gate", "breakdown_map facts", gate},
      {"format", "", format},
      {"packed", "kineto xz zip", packed},
      {"ranks", "", ranks},
  };
  return targets;
}

uint64_t inputs_read() { return read_whole; }

const ParserTarget* find_target(std::string_view name) {
  for (const ParserTarget& target : parser_targets()) {
    if (name == target.name) return &target;
  }
  return nullptr;
}

InputFile::InputFile() : path_(temporary_name()), descriptor_(::mkstemp(path_.data())) {}
InputFile::~InputFile() {
  ::close(descriptor_);
  remove();
}

void InputFile::remove() const { ::unlink(path_.c_str()); }

bool InputFile::put(std::string_view bytes) {
  return ::ftruncate(descriptor_, 0) == 0 &&
         ::pwrite(descriptor_, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size());
}

}  // namespace assay::fuzz
