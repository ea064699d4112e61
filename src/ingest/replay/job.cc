#include "ingest/replay/job.h"

#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "base/files.h"
#include "base/json_tree.h"
#include "ingest/formats.h"
#include "ingest/text/whole_file.h"

namespace assay {
namespace {

using Json = nlohmann::json;

constexpr int64_t kJobVersion = 1;
constexpr size_t kMostInputs = 256;

const Json* field(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

Result<std::string> text_at(const Json& object, const char* key, const std::string& where) {
  const Json* value = field(object, key);
  if (value == nullptr) return std::string();
  if (!value->is_string()) return format_error(where + "." + key + " is not a string");
  return value->get<std::string>();
}

Result<uint64_t> count_at(const Json& object, const char* key, const std::string& where) {
  const Json* value = field(object, key);
  if (value == nullptr) return uint64_t{0};
  if (!value->is_number_unsigned())
    return format_error(where + "." + key + " is not a whole number from 0");
  return value->get<uint64_t>();
}

Result<Dim3> dim3_at(const Json& object, const char* key, const std::string& where) {
  Dim3 dims = {0, 0, 0};
  const Json* value = field(object, key);
  if (value == nullptr) return dims;
  const Error wrong = format_error(where + "." + key + " is not three whole numbers from 0");
  if (!value->is_array() || value->size() != 3) return wrong;
  for (size_t i = 0; i < 3; ++i) {
    const Json& one = (*value)[i];
    if (!one.is_number_unsigned() || one.get<uint64_t>() > UINT32_MAX) return wrong;
    dims[i] = one.get<uint32_t>();
  }
  return dims;
}

bool is_shape(const Json& value) {
  if (!value.is_array()) return false;
  for (const Json& one : value) {
    if (!one.is_number_integer()) return false;
  }
  return true;
}

// True for an array of integers or a list of such arrays.
bool is_shape_or_list(const Json& value) {
  if (is_shape(value)) return true;
  if (!value.is_array()) return false;
  for (const Json& one : value) {
    if (!is_shape(one)) return false;
  }
  return true;
}

// The i-th element of an array with `count` elements, one per argument; nullptr if unknown.
Result<const Json*> element(const Json& entry, const char* key, size_t i, size_t count,
                            const std::string& where) {
  const Json* array = field(entry, key);
  if (array == nullptr) return nullptr;
  if (!array->is_array()) return format_error(where + "." + key + " is not an array");
  if (array->size() != count) {
    return format_error(where + "." + key + " has " + std::to_string(array->size()) +
                        " elements, not " + std::to_string(count) + " as input_types");
  }
  return &(*array)[i];
}

Result<std::string> shape_text(const Json& entry, const char* key, size_t i, size_t count,
                               const std::string& where) {
  ASSAY_TRY_ASSIGN(const Json* value, element(entry, key, i, count, where));
  if (value == nullptr || value->is_null()) return std::string();
  if (!is_shape_or_list(*value)) {
    return format_error(where + "." + key + "[" + std::to_string(i) + "] is not a shape");
  }
  return value->dump();
}

Status read_inputs(const Json& entry, const std::string& where, ReplayRequest& request) {
  const Json* types = field(entry, "input_types");
  if (types == nullptr) return Ok{};
  if (!types->is_array()) return format_error(where + ".input_types is not an array");
  // Profilers of 2021 record shapes but no types.
  const Json* dims = field(entry, "input_dims");
  const bool typed = !types->empty() || dims == nullptr || !dims->is_array();
  const size_t count = typed ? types->size() : dims->size();
  if (count > kMostInputs) return format_error(where + ".input_types has too many elements");
  request.inputs_told = true;
  for (size_t i = 0; i < count; ++i) {
    RecordedInput input;
    if (typed && !(*types)[i].is_string()) {
      return format_error(where + ".input_types is not an array of strings");
    }
    if (typed) input.type = (*types)[i].get<std::string>();
    ASSAY_TRY_ASSIGN(input.dims, shape_text(entry, "input_dims", i, count, where));
    ASSAY_TRY_ASSIGN(input.strides, shape_text(entry, "input_strides", i, count, where));
    ASSAY_TRY_ASSIGN(const Json* value, element(entry, "concrete_inputs", i, count, where));
    if (value != nullptr && !value->is_null()) {
      input.value_told = true;
      input.value = value->is_string() ? value->get<std::string>() : value->dump();
    }
    request.inputs.push_back(std::move(input));
  }
  return Ok{};
}

Result<ReplayRequest> read_entry(const Json& entry, const std::string& where) {
  if (!entry.is_object()) return format_error(where + " is not an object");
  ReplayRequest request;
  ASSAY_TRY_ASSIGN(request.key, text_at(entry, "key", where));
  if (request.key.empty()) return format_error("no " + where + ".key");
  ASSAY_TRY_ASSIGN(request.name, text_at(entry, "name", where));
  ASSAY_TRY_ASSIGN(request.op, text_at(entry, "operator", where));
  ASSAY_TRY_ASSIGN(request.grid, dim3_at(entry, "grid", where));
  ASSAY_TRY_ASSIGN(request.block, dim3_at(entry, "block", where));
  ASSAY_TRY_ASSIGN(const uint64_t shared, count_at(entry, "shared_memory_bytes", where));
  request.shared_memory_bytes = static_cast<uint32_t>(std::min<uint64_t>(shared, UINT32_MAX));
  ASSAY_TRY_ASSIGN(request.frequency, count_at(entry, "frequency", where));
  ASSAY_TRY(read_inputs(entry, where, request));
  return request;
}

Status check_head(const Json& document) {
  if (!document.is_object()) return format_error("not a JSON object");
  ASSAY_TRY_ASSIGN(const std::string kind, text_at(document, "kind", "document"));
  if (kind != "assay-kernel-db") {
    return format_error("kind is '" + kind +
                        "', not 'assay-kernel-db': write one with assay overhead TRACE "
                        "--export-kernel-db FILE");
  }
  ASSAY_TRY_ASSIGN(const uint64_t version, count_at(document, "schema_version", "document"));
  if (version != kJobVersion) {
    return Error{ErrorCode::kUnsupported,
                 "schema_version " + std::to_string(version) + " is unknown; this program reads 1",
                 "", -1};
  }
  return Ok{};
}

Result<ReplayPlan> parse_database(const std::string& text) {
  const Json document = parsed_json(text);
  if (document.is_discarded()) return format_error("not JSON, or cut off");
  ASSAY_TRY(check_head(document));
  ReplayPlan plan;
  if (const Json* gpu = field(document, "gpu"); gpu != nullptr && gpu->is_object()) {
    ASSAY_TRY_ASSIGN(plan.gpu, text_at(*gpu, "name", "gpu"));
  }
  const Json* entries = field(document, "entries");
  if (entries == nullptr || !entries->is_array()) return format_error("no array entries");
  std::set<std::string> keys;
  for (size_t i = 0; i < entries->size(); ++i) {
    const std::string where = "entries[" + std::to_string(i) + "]";
    ASSAY_TRY_ASSIGN(ReplayRequest request, read_entry((*entries)[i], where));
    if (!keys.insert(request.key).second) return format_error(where + ".key occurs twice");
    plan.entries.push_back(std::move(request));
  }
  return plan;
}

// ---------------------------------------------------------------- the job

std::string escaped(const std::string& text) {
  static const std::map<char, const char*> kCodes = {
      {'%', "%25"}, {'\t', "%09"}, {'\n', "%0A"}, {'\r', "%0D"}};
  std::string safe;
  for (const char c : text) {
    const auto code = kCodes.find(c);
    if (code == kCodes.end()) {
      safe += c;
    } else {
      safe += code->second;
    }
  }
  return safe;
}

bool is_floating(const std::string& type) {
  return type == "float" || type == "double" || type == "c10::Half" || type == "c10::BFloat16";
}

// The element type assumed for lists of tensors, which the profiler does not record: that of the
// other inputs, else the floating-point type of most kernels in the database.
std::string common_type(const ReplayPlan& plan) {
  std::map<std::string, uint64_t> used;
  for (const ReplayRequest& entry : plan.entries) {
    for (const RecordedInput& input : entry.inputs) {
      if (is_floating(input.type)) used[input.type] += entry.frequency + 1;
    }
  }
  std::string best = "float";
  uint64_t most = 0;
  for (const auto& [type, count] : used) {
    if (count <= most) continue;
    best = type;
    most = count;
  }
  return best;
}

std::string list_type(const ReplayRequest& entry, const std::string& common) {
  for (const RecordedInput& input : entry.inputs) {
    if (is_floating(input.type)) return input.type;
  }
  return common;
}

std::string entry_lines(const ReplayRequest& entry, size_t number, const std::string& common) {
  const uint64_t elements = uint64_t{entry.grid[0]} * entry.block[0];
  std::string text = "entry\t" + std::to_string(number) + "\t" + escaped(entry.op) + "\t" +
                     std::to_string(elements) + "\t" + list_type(entry, common) + "\t" +
                     (entry.inputs_told ? std::to_string(entry.inputs.size()) : "-1") + "\n";
  for (const RecordedInput& input : entry.inputs) {
    text += "input\t" + escaped(input.type) + "\t" + input.dims + "\t" + input.strides + "\t" +
            (input.value_told ? "1" : "0") + "\t" + escaped(input.value) + "\n";
  }
  return text;
}

// ---------------------------------------------------------------- the answers

std::optional<ReplayStatus> status_from(const std::string& text) {
  for (const ReplayStatus status :
       {ReplayStatus::kOk, ReplayStatus::kOpMissing, ReplayStatus::kFailed}) {
    if (text == replay_status_name(status)) return status;
  }
  return std::nullopt;
}

Result<ReplayAnswer> answer_of(const Json& line, const std::string& where) {
  ReplayAnswer answer;
  ASSAY_TRY_ASSIGN(answer.entry, count_at(line, "entry", where));
  ASSAY_TRY_ASSIGN(const std::string status, text_at(line, "status", where));
  const auto known = status_from(status);
  if (!known) return format_error(where + ": status '" + status + "' is unknown");
  answer.status = *known;
  ASSAY_TRY_ASSIGN(answer.reason, text_at(line, "reason", where));
  ASSAY_TRY_ASSIGN(answer.call, text_at(line, "call", where));
  for (const Json& one : line.value("assumed", Json::array())) {
    if (one.is_string()) answer.assumed.push_back(one.get<std::string>());
  }
  for (const Json& one : line.value("host_ns", Json::array())) {
    if (one.is_number_integer()) answer.host_ns.push_back(one.get<int64_t>());
  }
  return answer;
}

}  // namespace

Result<ReplayPlan> read_kernel_database(const std::string& path) {
  const auto attempt = [&]() -> Result<ReplayPlan> {
    ASSAY_TRY_ASSIGN(
        const std::string text,
        read_whole_file(path, format_error("larger than 1 GiB: this is not a kernel database")));
    return parse_database(text);
  };
  Result<ReplayPlan> plan = attempt();
  if (plan) {
    plan->source = path;
    return plan;
  }
  return explained(plan.take_error(), path, FileFamily::kKernelDb);
}

std::string replay_job_text(const ReplayPlan& plan, const std::vector<size_t>& entries,
                            const ReplayJobOptions& options) {
  const std::string common = common_type(plan);
  std::string text = "assay-replay-job\t1\nwarmups\t" + std::to_string(options.warmups) +
                     "\nruns\t" + std::to_string(options.runs) + "\nentry_seconds\t" +
                     std::to_string(options.entry_seconds) + "\ndevice\t" + options.device + "\n";
  for (const size_t number : entries) text += entry_lines(plan.entries[number], number, common);
  return text;
}

Result<ReplayAnswers> read_replay_answers(const std::string& path, size_t entries) {
  // A program that ended before its first answer left no file.
  auto answers = file_text(path);
  std::istringstream file(answers ? *std::move(answers) : "");
  ReplayAnswers found;
  size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    const std::string where = path + ", line " + std::to_string(++number);
    const Json json = parsed_json(line);
    // The program may have been stopped in the middle of a line.
    if (json.is_discarded() || !json.is_object()) break;
    if (const Json* begun = field(json, "begin"); begun != nullptr) {
      ASSAY_TRY_ASSIGN(const uint64_t entry, count_at(json, "begin", where));
      if (entry < entries) found.unfinished = entry;
      continue;
    }
    ASSAY_TRY_ASSIGN(ReplayAnswer answer, answer_of(json, where));
    if (answer.entry >= entries) return format_error(where + ": no such entry");
    if (found.unfinished == answer.entry) found.unfinished.reset();
    found.answers.push_back(std::move(answer));
  }
  return found;
}

Result<ReplayProgram> parse_replay_program(const std::string& text) {
  const Json json = parsed_json(text);
  if (json.is_discarded() || !json.is_object()) return format_error("it does not say what it is");
  ReplayProgram program;
  ASSAY_TRY_ASSIGN(program.torch, text_at(json, "torch", "about"));
  ASSAY_TRY_ASSIGN(program.device, text_at(json, "device", "about"));
  ASSAY_TRY_ASSIGN(program.gpu.name, text_at(json, "gpu", "about"));
  ASSAY_TRY_ASSIGN(program.gpu.uuid, text_at(json, "uuid", "about"));
  ASSAY_TRY_ASSIGN(program.driver, text_at(json, "driver", "about"));
  program.labels = json.value("labels", false);
  return program;
}

}  // namespace assay
