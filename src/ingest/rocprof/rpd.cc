#include <algorithm>
#include <array>
#include <unordered_map>

#include "ingest/rocprof/run.h"
#include "ingest/sqlite_file.h"
#include "ingest/text/json_text.h"
#include "trace/hip_kernels.h"

namespace assay {
namespace {

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// rocprofv3's words for a copy such as "CopyHostToDevice".
std::string_view copy_words(std::string_view type) {
  const bool from_host = has(type, "CopyHost");
  if (has(type, "ToHost")) return from_host ? "HOST_TO_HOST" : "DEVICE_TO_HOST";
  return from_host ? "HOST_TO_DEVICE" : "DEVICE_TO_DEVICE";
}

// Arguments of a launch or a copy.
struct RpdRequest {
  std::array<uint64_t, 3> grid = {};
  std::array<uint64_t, 3> group = {};
  int64_t bytes = -1;
};

class RpdRun {
 public:
  RpdRun(const SqliteFile& file, RocprofRun& run) : file_(file), run_(run) {}

  Status read() {
    ASSAY_TRY(read_strings());
    ASSAY_TRY(read_requests());
    ASSAY_TRY(read_calls());
    ASSAY_TRY(read_links());
    ASSAY_TRY(read_operations());
    for (const auto& [gpu, seen] : gpus_) {
      RocprofAgent agent;
      agent.id = gpu;
      agent.gpu = true;
      agent.facts.device = gpu;
      agent.facts.ordinal = gpu;
      run_.agents.push_back(std::move(agent));
    }
    return Ok{};
  }

 private:
  Status read_strings() {
    ASSAY_TRY_ASSIGN(SqliteRows rows, file_.rows("rocpd_string", {"id", "string"}));
    while (rows.next()) {
      std::string_view value;
      if (rows.text(1, value) != CellRead::kValue) continue;
      std::string scratch;
      uint64_t bad = 0;
      strings_[rows.integer_or(0, 0)] = run_.text(valid_utf8(value, scratch, bad));
      run_.log.add(ImportCode::kInvalidUtf8, -1, bad);
    }
    return rows.status();
  }

  Status read_requests() {
    ASSAY_TRY_ASSIGN(SqliteRows launches,
                     file_.rows("rocpd_kernelapi", {"api_ptr_id", "gridX", "gridY", "gridZ",
                                                    "workgroupX", "workgroupY", "workgroupZ"}));
    while (launches.next()) {
      RpdRequest request;
      for (size_t i = 0; i < 3; ++i) {
        const auto size = [&](int first) {
          return static_cast<uint64_t>(
              std::max<int64_t>(launches.integer_or(first + static_cast<int>(i), 0), 0));
        };
        request.grid[i] = size(1);
        request.group[i] = size(4);
      }
      requests_[launches.integer_or(0, 0)] = request;
    }
    ASSAY_TRY(launches.status());
    ASSAY_TRY_ASSIGN(SqliteRows copies, file_.rows("rocpd_copyapi", {"api_ptr_id", "size"}));
    while (copies.next()) {
      RpdRequest request;
      request.bytes = copies.integer_or(1, -1);
      requests_[copies.integer_or(0, 0)] = request;
    }
    return copies.status();
  }

  StringId string(const SqliteRows& rows, int cell) const {
    const auto found = strings_.find(rows.integer_or(cell, 0));
    return found == strings_.end() ? StringId(0) : found->second;
  }

  bool read_times(const SqliteRows& rows, int cell, int64_t& start, int64_t& end) {
    ++run_.rows;
    const bool known = rows.integer(cell, start) == CellRead::kValue &&
                       rows.integer(cell + 1, end) == CellRead::kValue;
    return run_.take_times(known, start, end);
  }

  Status read_calls() {
    enum { kId, kPid, kTid, kStart, kEnd, kName, kArguments };
    ASSAY_TRY_ASSIGN(SqliteRows rows, file_.rows("rocpd_api", {"id", "pid", "tid", "start", "end",
                                                               "apiName_id", "args_id"}));
    while (rows.next()) {
      RocprofCall call;
      if (!read_times(rows, kStart, call.start_ns, call.end_ns)) continue;
      const int64_t id = rows.integer_or(kId, 0);
      call.process = rows.integer_or(kPid, 0);
      call.thread = rows.integer_or(kTid, 0);
      call.name = string(rows, kName);
      call.correlation = static_cast<uint64_t>(std::max<int64_t>(id, 0));
      const std::string_view name = run_.strings.view(call.name);
      threads_[id] = {call.process, call.thread};
      // hipExtModuleLaunchKernel counts work-items, all other launches workgroups.
      const auto request = requests_.find(id);
      if (request != requests_.end() && !name.starts_with("hipExt")) {
        for (size_t i = 0; i < 3; ++i) request->second.grid[i] *= request->second.group[i];
      }
      if (name == "UserMarker") {
        call.domain = run_.text("MARKER_CORE_RANGE_API");
        call.name = string(rows, kArguments);
        call.correlation = 0;
      } else if (!name.starts_with("hip")) {
        call.domain = run_.text("RPD");
      }
      run_.calls.push_back(call);
    }
    return rows.status();
  }

  Status read_links() {
    ASSAY_TRY_ASSIGN(SqliteRows rows, file_.rows("rocpd_api_ops", {"api_id", "op_id"}));
    while (rows.next()) call_of_op_[rows.integer_or(1, 0)] = rows.integer_or(0, 0);
    return rows.status();
  }

  Status read_operations() {
    enum { kId, kGpu, kQueue, kStart, kEnd, kDescription, kType };
    ASSAY_TRY_ASSIGN(SqliteRows rows,
                     file_.rows("rocpd_op", {"id", "gpuId", "queueId", "start", "end",
                                             "description_id", "opType_id"}));
    while (rows.next()) {
      int64_t start_ns = 0;
      int64_t end_ns = 0;
      if (!read_times(rows, kStart, start_ns, end_ns)) continue;
      const std::string type(run_.strings.view(string(rows, kType)));
      const auto link = call_of_op_.find(rows.integer_or(kId, 0));
      const int64_t call = link == call_of_op_.end() ? 0 : link->second;
      const auto found = requests_.find(call);
      const RpdRequest request = found == requests_.end() ? RpdRequest{} : found->second;
      const auto correlation = static_cast<uint64_t>(std::max<int64_t>(call, 0));
      const int64_t gpu = rows.integer_or(kGpu, 0);
      const int64_t queue = rows.integer_or(kQueue, -1);
      gpus_[gpu] = true;
      if (kind_of_hip_command(type) == ActivityKind::kMemcpy) {
        RocprofCopy copy;
        copy.start_ns = start_ns;
        copy.end_ns = end_ns;
        copy.name = run_.text(copy_words(type));
        copy.to_agent = gpu;
        copy.stream = queue;
        copy.process = threads_[call].first;
        copy.correlation = correlation;
        copy.bytes = request.bytes;
        run_.copies.push_back(copy);
        continue;
      }
      RocprofKernel kernel;
      kernel.start_ns = start_ns;
      kernel.end_ns = end_ns;
      kernel.agent = gpu;
      kernel.queue = queue;
      kernel.process = threads_[call].first;
      kernel.thread = threads_[call].second;
      kernel.dispatch = static_cast<int64_t>(run_.kernels.size());
      kernel.correlation = correlation;
      kernel.name = string(rows, kDescription);
      if (kernel.name == StringId(0) || run_.strings.view(kernel.name).empty()) {
        kernel.name = run_.text(type);
      }
      kernel.grid = request.grid;
      kernel.group = request.group;
      run_.kernels.push_back(kernel);
    }
    return rows.status();
  }

  const SqliteFile& file_;
  RocprofRun& run_;
  std::unordered_map<int64_t, StringId> strings_;
  std::unordered_map<int64_t, RpdRequest> requests_;                  // by call
  std::unordered_map<int64_t, std::pair<int64_t, int64_t>> threads_;  // call -> (process, thread)
  std::unordered_map<int64_t, int64_t> call_of_op_;
  std::map<int64_t, bool> gpus_;
};

}  // namespace

Result<RocprofRun> read_rpd(const std::string& path) {
  ASSAY_TRY_ASSIGN(const SqliteFile file, SqliteFile::open(path));
  RocprofRun run;
  run.format = "RPD";
  run.content_bytes = file.bytes();
  ASSAY_TRY(RpdRun(file, run).read());
  if (run.kernels.empty()) {
    return Error{ErrorCode::kNotATrace,
                 "an RPD profile without kernels; record with runTracer.sh COMMAND", "",
                 -1};
  }
  return run;
}

}  // namespace assay
