#include "ingest/trace_readers.h"

#include <algorithm>
#include <cstring>

#include "base/files.h"
#include "ingest/assaytrace/reader.h"
#include "ingest/chrome/reader.h"
#include "ingest/columnar/file.h"
#include "ingest/nsys/reader.h"
#include "ingest/nsys/report.h"
#include "ingest/pftrace/reader.h"
#include "ingest/rocprof/run.h"
#include "ingest/xplane/reader.h"

namespace assay {
namespace {

// A stream that first returns the head that was already read.
ReadFn put_back(std::string head, ReadFn rest) {
  return [head = std::move(head), rest = std::move(rest), given = size_t{0}](
             char* dst, size_t n) mutable -> Result<size_t> {
    if (given == head.size()) return rest(dst, n);
    const size_t take = std::min(n, head.size() - given);
    std::memcpy(dst, head.data() + given, take);
    given += take;
    return take;
  };
}

void count_progress(TraceInput& input, const ReadOptions& options) {
  if (options.progress == nullptr) return;
  options.progress->stored_bytes = input.source.stored_bytes();
  input.source.count_reads(&options.progress->stored_bytes_read);
}

}  // namespace

Result<Trace> read_chrome_input(TraceInput& input, const ReadOptions& options) {
  if (!input.rest) return read_chrome_trace(input.source, options);
  return read_chrome_stream(put_back(std::move(input.head), std::move(input.rest)), options);
}

Result<Trace> read_nsys_input(TraceInput& input, const ReadOptions& options) {
  return read_nsys_sqlite(input.path, options);
}

Result<Trace> read_nsys_report_input(TraceInput& input, const ReadOptions& options) {
  ASSAY_TRY_ASSIGN(const ExportedReport report, export_report(input.path));
  auto trace = read_nsys_sqlite(report.path, options);
  if (!trace) (void)remove_file(report.path);  // the next load exports it again
  return trace;
}

Result<Trace> read_rocprof_csv_input(TraceInput& input, const ReadOptions& options) {
  ASSAY_TRY_ASSIGN(RocprofRun run, read_rocprof_csv(input.path, options.allow_truncated));
  if (run.kernels.empty() && run.rounded_time.empty()) {
    return Error{ErrorCode::kNotATrace,
                 "a table of rocprofv3 without its kernels: kernel_trace.csv of the same run must "
                 "be in the same folder, with the same name prefix",
                 "", -1};
  }
  return rocprof_trace(std::move(run));
}

Result<Trace> read_rocprof_json_input(TraceInput& input, const ReadOptions& /*options*/) {
  ASSAY_TRY_ASSIGN(RocprofRun run, read_rocprof_json(input.path));
  return rocprof_trace(std::move(run));
}

Result<Trace> read_rocpd_input(TraceInput& input, const ReadOptions& /*options*/) {
  ASSAY_TRY_ASSIGN(RocprofRun run, read_rocpd(input.path));
  return rocprof_trace(std::move(run));
}

Result<Trace> read_rpd_input(TraceInput& input, const ReadOptions& /*options*/) {
  ASSAY_TRY_ASSIGN(RocprofRun run, read_rpd(input.path));
  return rocprof_trace(std::move(run));
}

Result<Trace> read_xplane_input(TraceInput& input, const ReadOptions& options) {
  if (input.rest) {
    return read_xplane(put_back(std::move(input.head), std::move(input.rest)), options);
  }
  count_progress(input, options);
  return read_xplane(input.source.range(0, input.source.stored_bytes()), options);
}

Result<Trace> read_pftrace_input(TraceInput& input, const ReadOptions& options) {
  if (input.rest) {
    return read_pftrace(put_back(std::move(input.head), std::move(input.rest)), options);
  }
  count_progress(input, options);
  return read_pftrace(input.source.range(0, input.source.stored_bytes()), options);
}

Result<Trace> read_assaytrace_input(TraceInput& input, const ReadOptions& options) {
  if (input.rest) {
    return read_assaytrace(put_back(std::move(input.head), std::move(input.rest)), options);
  }
  count_progress(input, options);
  return read_assaytrace(input.source.range(0, input.source.stored_bytes()), options);
}

// Behaves like reading the source of the file with these options.
Result<Trace> read_columnar_input(TraceInput& input, const ReadOptions& options) {
  ASSAY_TRY_ASSIGN(Trace trace, read_columnar(input.path));
  if (trace.log.entry(ImportCode::kTruncated).count > 0 && !options.allow_truncated) {
    return Error{ErrorCode::kTruncated,
                 "made from a truncated trace; use --allow-truncated to work with what lies before "
                 "the cut",
                 "", -1};
  }
  if (!options.keep_op_inputs) trace.op_inputs.release();
  return trace;
}

}  // namespace assay
