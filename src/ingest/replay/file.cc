#include "ingest/replay/file.h"

#include <cmath>
#include <initializer_list>
#include <set>
#include <utility>

#include "base/json_string.h"
#include "base/json_tree.h"
#include "ingest/formats.h"
#include "ingest/text/whole_file.h"

namespace assay {
namespace {

using Json = nlohmann::json;

constexpr int64_t kFileVersion = 1;
// No launch, dispatch or kernel takes longer.
constexpr double kAbsurdNs = 1e11;
constexpr double kAbsurdFloorNs = 1e6;

// Finds the byte at which a text stops being valid JSON, without exceptions.
struct ErrorLocator : nlohmann::json_sax<Json> {
  size_t position = 0;
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(size_t) override { return true; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(size_t at, const std::string&, const Json::exception&) override {
    position = at;
    return false;
  }
};

Result<Json> parse_document(const std::string& text) {
  if (nested_too_deep(text)) return format_error("nested deeper than any file of its kind");
  Json document = parsed_json(text);
  if (document.is_discarded()) {
    ErrorLocator locator;
    (void)Json::sax_parse(text, &locator);
    const size_t at = locator.position > 0 ? locator.position - 1 : 0;
    return Error{at >= text.size() ? ErrorCode::kTruncated : ErrorCode::kFormat,
                 at >= text.size() ? "the JSON ends too early: the file is cut off"
                                   : "not JSON after this point",
                 "", static_cast<int64_t>(at)};
  }
  if (!document.is_object()) return format_error("not a JSON object");
  return document;
}

// One object of the file and its path, for messages such as "entries[3].launch.mean_ns".
class Fields {
 public:
  Fields(const Json& object, std::string where) : object_(object), where_(std::move(where)) {}

  std::string at(const std::string& key) const { return where_.empty() ? key : where_ + "." + key; }

  const Json* find(const char* key) const {
    const auto found = object_.find(key);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
  }

  Result<std::string> text(const char* key, bool needed) const {
    const Json* value = find(key);
    if (value == nullptr) {
      if (!needed) return std::string();
      return format_error("no " + at(key));
    }
    if (!value->is_string()) return format_error(at(key) + " is not a string");
    if (needed && value->get_ref<const std::string&>().empty())
      return format_error(at(key) + " is empty");
    return value->get<std::string>();
  }

  // An array of strings; empty if missing.
  Result<std::vector<std::string>> texts(const char* key) const {
    std::vector<std::string> found;
    const Json* value = find(key);
    if (value == nullptr) return found;
    if (!value->is_array()) return format_error(at(key) + " is not an array");
    for (const Json& one : *value) {
      if (!one.is_string()) return format_error(at(key) + " is not an array of strings");
      found.push_back(one.get<std::string>());
    }
    return found;
  }

  Result<uint64_t> count(const char* key) const {
    const Json* value = find(key);
    if (value == nullptr) return format_error("no " + at(key));
    if (!value->is_number_unsigned())
      return format_error(at(key) + " is not a whole number from 0");
    return value->get<uint64_t>();
  }

  Result<uint32_t> small_count(const char* key) const {
    if (find(key) == nullptr) return uint32_t{0};
    ASSAY_TRY_ASSIGN(const uint64_t value, count(key));
    if (value > UINT32_MAX) return format_error(at(key) + " is too large");
    return static_cast<uint32_t>(value);
  }

  Result<double> time(const char* key) const {
    const Json* value = find(key);
    if (value == nullptr) return format_error("no " + at(key));
    if (!value->is_number()) return format_error(at(key) + " is not a number");
    const double ns = value->get<double>();
    if (ns < 0) return format_error(at(key) + " is negative");
    if (!(ns <= kAbsurdNs))
      return format_error(at(key) + " is beyond 100 s: are these nanoseconds?");
    return ns;
  }

  Result<Dim3> dim3(const char* key) const {
    Dim3 dims = {0, 0, 0};
    const Json* value = find(key);
    if (value == nullptr) return dims;
    if (!value->is_array() || value->size() != 3)
      return format_error(at(key) + " is not three numbers");
    for (size_t i = 0; i < 3; ++i) {
      const Json& one = (*value)[i];
      if (!one.is_number_unsigned() || one.get<uint64_t>() > UINT32_MAX) {
        return format_error(at(key) + " is not three whole numbers from 0");
      }
      dims[i] = one.get<uint32_t>();
    }
    return dims;
  }

  Result<Fields> object(const char* key) const {
    const Json* value = find(key);
    if (value == nullptr) return format_error("no " + at(key));
    if (!value->is_object()) return format_error(at(key) + " is not an object");
    return Fields(*value, at(key));
  }

  // visit(Fields) for every element of an array of objects.
  template <typename Visit>
  Status each(const char* key, Visit&& visit) const {
    const Json* array = find(key);
    if (array == nullptr) return format_error("no " + at(key));
    if (!array->is_array()) return format_error(at(key) + " is not an array");
    for (size_t i = 0; i < array->size(); ++i) {
      const std::string where = at(key) + "[" + std::to_string(i) + "]";
      if (!(*array)[i].is_object()) return format_error(where + " is not an object");
      ASSAY_TRY(visit(Fields((*array)[i], where)));
    }
    return Ok{};
  }

 private:
  const Json& object_;
  std::string where_;
};

// Checks the order of the quantiles, and that the mean is between its bounds up to rounding.
Status check_order(const SampleStats& s, const std::string& where) {
  const bool sorted =
      s.min_ns <= s.p5_ns && s.p5_ns <= s.p50_ns && s.p50_ns <= s.p95_ns && s.p95_ns <= s.max_ns;
  const double slack = 1 + 1e-9 * s.max_ns;
  const bool inside = s.mean_ns >= s.min_ns - slack && s.mean_ns <= s.max_ns + slack;
  if (!sorted) return format_error(where + ": min, p5, p50, p95 and max are not in that order");
  if (!inside) return format_error(where + ": the mean lies outside min and max");
  return Ok{};
}

Result<SampleStats> read_stats(const Fields& parent, const char* key, uint64_t at_most_n) {
  ASSAY_TRY_ASSIGN(const Fields fields, parent.object(key));
  SampleStats s;
  ASSAY_TRY_ASSIGN(s.n, fields.count("n"));
  if (s.n == 0) return format_error(fields.at("n") + " is 0: leave out what was not measured");
  if (s.n > at_most_n) {
    return format_error(fields.at("n") + " is " + std::to_string(s.n) + ", more than the " +
                        std::to_string(at_most_n) + " runs that were measured");
  }
  ASSAY_TRY_ASSIGN(s.mean_ns, fields.time("mean_ns"));
  ASSAY_TRY_ASSIGN(s.std_ns, fields.time("std_ns"));
  ASSAY_TRY_ASSIGN(s.min_ns, fields.time("min_ns"));
  ASSAY_TRY_ASSIGN(s.p5_ns, fields.time("p5_ns"));
  ASSAY_TRY_ASSIGN(s.p50_ns, fields.time("p50_ns"));
  ASSAY_TRY_ASSIGN(s.p95_ns, fields.time("p95_ns"));
  ASSAY_TRY_ASSIGN(s.max_ns, fields.time("max_ns"));
  ASSAY_TRY(check_order(s, parent.at(key)));
  return s;
}

Result<MeasurementHead> read_head(const Fields& document, const std::string& kind) {
  ASSAY_TRY_ASSIGN(const std::string found, document.text("kind", true));
  if (found != kind) return format_error("kind is '" + found + "', not '" + kind + "'");
  ASSAY_TRY_ASSIGN(const uint64_t version, document.count("schema_version"));
  if (version != kFileVersion) {
    return Error{ErrorCode::kUnsupported,
                 "schema_version " + std::to_string(version) + " of " + kind +
                     " is unknown; this program reads version " + std::to_string(kFileVersion),
                 "", -1};
  }
  MeasurementHead head;
  ASSAY_TRY_ASSIGN(const std::string tracer, document.text("tracer", true));
  head.tracer = tracer_from_name(tracer);
  if (head.tracer == CollectorTracer::kUnknown) {
    return format_error("tracer '" + tracer + "' is none of cupti, nsys, kineto, rocprofiler" +
                        (kind == "assay-replay" ? ", host" : ", hip"));
  }
  ASSAY_TRY_ASSIGN(head.driver, document.text("driver", false));
  ASSAY_TRY_ASSIGN(head.warmups, document.count("warmups"));
  ASSAY_TRY_ASSIGN(head.runs, document.count("runs"));
  if (head.runs == 0) return format_error("runs is 0: nothing was measured");
  return head;
}

Result<GpuIdentity> read_gpu(const Fields& fields) {
  GpuIdentity gpu;
  ASSAY_TRY_ASSIGN(gpu.name, fields.text("name", true));
  ASSAY_TRY_ASSIGN(gpu.uuid, fields.text("uuid", false));
  return gpu;
}

Status check_launch(const Fields& fields, const SampleStats& launch) {
  if (launch.mean_ns >= 1 && launch.mean_ns <= kAbsurdFloorNs) return Ok{};
  return format_error(fields.at("launch.mean_ns") +
                      " lies outside 1 ns to 1 ms: no launch of an empty kernel takes that");
}

Result<LaunchPath> read_path(const Fields& fields) {
  ASSAY_TRY_ASSIGN(const std::string name, fields.text("path", false));
  const LaunchPath path = launch_path_of(name);
  if (path != LaunchPath::kUnknown || name.empty()) return path;
  return format_error(fields.at("path") + " '" + name +
                      "' is neither cudaLaunchKernel nor cuLaunchKernel");
}

Result<CallSample> read_call_sample(const Fields& fields, uint64_t runs) {
  CallSample floor;
  ASSAY_TRY_ASSIGN(floor.path, read_path(fields));
  ASSAY_TRY_ASSIGN(floor.launch, read_stats(fields, "launch", runs));
  ASSAY_TRY_ASSIGN(floor.duration, read_stats(fields, "duration", runs));
  ASSAY_TRY_ASSIGN(floor.sm_mhz_before, fields.small_count("sm_mhz_before"));
  ASSAY_TRY_ASSIGN(floor.sm_mhz_after, fields.small_count("sm_mhz_after"));
  ASSAY_TRY(check_launch(fields, floor.launch));
  return floor;
}

Result<GpuFloor> read_gpu_floor(const Fields& fields, uint64_t runs) {
  GpuFloor floor;
  ASSAY_TRY_ASSIGN(floor.gpu, read_gpu(fields));
  ASSAY_TRY_ASSIGN(floor.launch, read_stats(fields, "launch", runs));
  ASSAY_TRY_ASSIGN(floor.duration, read_stats(fields, "duration", runs));
  ASSAY_TRY(check_launch(fields, floor.launch));
  ASSAY_TRY_ASSIGN(floor.path, read_path(fields));
  if (fields.find("paths") == nullptr) return floor;  // as in files of version 0.1
  ASSAY_TRY(fields.each("paths", [&floor, runs](const Fields& one) -> Status {
    ASSAY_TRY_ASSIGN(const CallSample path, read_call_sample(one, runs));
    floor.paths.push_back(path);
    return Ok{};
  }));
  return floor;
}

Result<FloorFile> read_floor(const Json& json) {
  const Fields document(json, "");
  FloorFile file;
  ASSAY_TRY_ASSIGN(file.head, read_head(document, "assay-floor"));
  if (file.head.tracer == CollectorTracer::kHost)
    return format_error("tracer 'host' sees no kernels");
  ASSAY_TRY(document.each("gpus", [&file](const Fields& fields) -> Status {
    ASSAY_TRY_ASSIGN(GpuFloor floor, read_gpu_floor(fields, file.head.runs));
    file.gpus.push_back(std::move(floor));
    return Ok{};
  }));
  if (file.gpus.empty()) return format_error("gpus is empty: nothing was measured");
  for (const GpuFloor& floor : file.gpus) {
    if (floor.gpu.name != file.gpus.front().gpu.name) {
      return format_error("launch-overhead floors of different GPUs in one file (" +
                          file.gpus.front().gpu.name + ", " + floor.gpu.name +
                          "): their minimum means nothing");
    }
  }
  return file;
}

Result<ReplayCandidate> read_candidate(const Fields& fields, uint64_t ranges) {
  ReplayCandidate candidate;
  ASSAY_TRY_ASSIGN(candidate.name, fields.text("name", true));
  ASSAY_TRY_ASSIGN(candidate.grid, fields.dim3("grid"));
  ASSAY_TRY_ASSIGN(candidate.block, fields.dim3("block"));
  ASSAY_TRY_ASSIGN(candidate.shared_memory_bytes, fields.small_count("shared_memory_bytes"));
  ASSAY_TRY_ASSIGN(candidate.registers, fields.small_count("registers"));
  ASSAY_TRY_ASSIGN(candidate.count, fields.count("count"));
  ASSAY_TRY_ASSIGN(candidate.dispatch, read_stats(fields, "dispatch", ranges));
  ASSAY_TRY_ASSIGN(candidate.launch, read_stats(fields, "launch", ranges));
  ASSAY_TRY_ASSIGN(candidate.duration, read_stats(fields, "duration", ranges));
  if (candidate.count < candidate.launch.n) {
    return format_error(fields.at("count") + " is less than launch.n: fewer launches than samples");
  }
  return candidate;
}

Result<ReplayStatus> read_status(const Fields& fields) {
  ASSAY_TRY_ASSIGN(const std::string text, fields.text("status", true));
  for (const ReplayStatus status : {ReplayStatus::kOk, ReplayStatus::kSkippedDynamic,
                                    ReplayStatus::kOpMissing, ReplayStatus::kFailed}) {
    if (text == replay_status_name(status)) return status;
  }
  return format_error(fields.at("status") + " '" + text +
                      "' is none of ok, skipped_dynamic, op_missing, failed");
}

Result<ReplayEntry> read_entry(const Fields& fields, uint64_t runs) {
  ReplayEntry entry;
  ASSAY_TRY_ASSIGN(entry.key, fields.text("key", true));
  ASSAY_TRY_ASSIGN(entry.status, read_status(fields));
  const bool ok = entry.status == ReplayStatus::kOk;
  ASSAY_TRY_ASSIGN(entry.reason, fields.text("reason", entry.status == ReplayStatus::kFailed));
  ASSAY_TRY_ASSIGN(entry.call, fields.text("call", false));
  ASSAY_TRY_ASSIGN(entry.assumed, fields.texts("assumed"));
  if (!ok) return entry;
  ASSAY_TRY_ASSIGN(entry.ranges, fields.count("ranges"));
  if (entry.ranges == 0 || entry.ranges > runs) {
    return format_error(fields.at("ranges") + " lies outside 1 to runs (" + std::to_string(runs) +
                        ")");
  }
  ASSAY_TRY(fields.each("candidates", [&entry](const Fields& one) -> Status {
    ASSAY_TRY_ASSIGN(ReplayCandidate candidate, read_candidate(one, entry.ranges));
    entry.candidates.push_back(std::move(candidate));
    return Ok{};
  }));
  if (fields.find("host") != nullptr) {
    ASSAY_TRY_ASSIGN(entry.host, read_stats(fields, "host", entry.ranges));
  }
  return entry;
}

// Files without this key are from the C++ program.
Result<ReplayThrough> read_through(const Fields& document) {
  if (document.find("through") == nullptr) return ReplayThrough::kCpp;
  ASSAY_TRY_ASSIGN(const std::string name, document.text("through", true));
  if (const auto through = replay_through_from(name)) return *through;
  return format_error("through '" + name + "' is neither cpp nor python");
}

Result<ReplayFile> read_replay(const Json& json) {
  const Fields document(json, "");
  ReplayFile file;
  ASSAY_TRY_ASSIGN(file.head, read_head(document, "assay-replay"));
  if (file.head.tracer == CollectorTracer::kHip)
    return format_error("tracer 'hip' does not separate kernels");
  ASSAY_TRY_ASSIGN(const Fields gpu, document.object("gpu"));
  ASSAY_TRY_ASSIGN(file.gpu, read_gpu(gpu));
  ASSAY_TRY_ASSIGN(file.framework, document.text("framework", false));
  ASSAY_TRY_ASSIGN(file.through, read_through(document));
  std::set<std::string> keys;
  ASSAY_TRY(document.each("entries", [&](const Fields& fields) -> Status {
    ASSAY_TRY_ASSIGN(ReplayEntry entry, read_entry(fields, file.head.runs));
    if (!keys.insert(entry.key).second) {
      return format_error(fields.at("key") + " occurs twice: '" + entry.key + "'");
    }
    file.entries.push_back(std::move(entry));
    return Ok{};
  }));
  return file;
}

using Written = nlohmann::ordered_json;

Written stats_json(const SampleStats& s) {
  return {{"n", s.n},         {"mean_ns", s.mean_ns}, {"std_ns", s.std_ns}, {"min_ns", s.min_ns},
          {"p5_ns", s.p5_ns}, {"p50_ns", s.p50_ns},   {"p95_ns", s.p95_ns}, {"max_ns", s.max_ns}};
}

Written candidate_json(const ReplayCandidate& candidate) {
  return {{"name", candidate.name},
          {"grid", candidate.grid},
          {"block", candidate.block},
          {"shared_memory_bytes", candidate.shared_memory_bytes},
          {"registers", candidate.registers},
          {"count", candidate.count},
          {"dispatch", stats_json(candidate.dispatch)},
          {"launch", stats_json(candidate.launch)},
          {"duration", stats_json(candidate.duration)}};
}

Written entry_json(const ReplayEntry& entry) {
  Written json = {{"key", entry.key}, {"status", replay_status_name(entry.status)}};
  if (!entry.reason.empty()) json["reason"] = entry.reason;
  if (!entry.call.empty()) json["call"] = entry.call;
  if (!entry.assumed.empty()) json["assumed"] = entry.assumed;
  if (entry.status != ReplayStatus::kOk) return json;
  json["ranges"] = entry.ranges;
  json["candidates"] = Written::array();
  for (const ReplayCandidate& candidate : entry.candidates) {
    json["candidates"].push_back(candidate_json(candidate));
  }
  if (entry.host) json["host"] = stats_json(*entry.host);
  return json;
}

template <typename File, typename Read>
Result<File> read_file(const std::string& path, FileFamily wanted, Read&& read) {
  const auto attempt = [&]() -> Result<File> {
    ASSAY_TRY_ASSIGN(
        const std::string text,
        read_whole_file(path, Error{ErrorCode::kUnsupported,
                                    "larger than 1 GiB: this is no such file", "", -1}));
    ASSAY_TRY_ASSIGN(const Json document, parse_document(text));
    return read(document);
  };
  Result<File> file = attempt();
  if (file) {
    file->source = path;
    return file;
  }
  return explained(file.take_error(), path, wanted);
}

}  // namespace

Result<FloorFile> read_floor_file(const std::string& path) {
  return read_file<FloorFile>(path, FileFamily::kFloor, read_floor);
}

Result<ReplayFile> read_replay_file(const std::string& path) {
  return read_file<ReplayFile>(path, FileFamily::kReplay, read_replay);
}

std::string replay_file_json(const ReplayFile& file) {
  Written entries = Written::array();
  for (const ReplayEntry& entry : file.entries) entries.push_back(entry_json(entry));
  Written document = {{"kind", "assay-replay"},
                      {"schema_version", kFileVersion},
                      {"tracer", tracer_name(file.head.tracer)},
                      {"driver", file.head.driver},
                      {"warmups", file.head.warmups},
                      {"runs", file.head.runs},
                      {"gpu", {{"name", file.gpu.name}, {"uuid", file.gpu.uuid}}},
                      {"framework", file.framework},
                      {"through", replay_through_name(file.through)},
                      {"entries", std::move(entries)}};
  // json_text tolerates kernel names that are not UTF-8.
  return json_text(document, 1) + "\n";
}

}  // namespace assay
