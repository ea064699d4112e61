#pragma once

// Detects a file's format from its beginning: one pure function of bytes per format, used by the
// rows of formats.cc.

#include <string>
#include <string_view>
#include <vector>

#include "ingest/text/shape.h"

namespace assay {

// Strength of a match.
enum class FormatMatch : uint8_t {
  kNo,
  kShape,  // possible; only the reader can decide
  kMarks,  // has marks that only this format has
};

// The decompressed start of a file, with properties that several formats need.
struct FileHead {
  std::string_view bytes;
  bool binary = false;  // has a zero byte among the first 64
  bool json = false;    // starts with an object or an array
  bool sqlite = false;
  JsonKeys keys;                    // of the first object, for JSON
  std::vector<std::string> header;  // trimmed lower-case cells of the first line, for other texts
  std::vector<std::string> tables;  // of an SQLite file that could be opened
  // A table of kernels in a folder of tables of rocprof-compute runs.
  bool among_counter_runs = false;
};
// path: to read the tables of an SQLite file, and the files next to a table of kernels; empty if it
// cannot be opened by name.
FileHead file_head(std::string_view bytes, const std::string& path);
// True if it is an SQLite file with this table.
bool has_table(const FileHead& head, std::string_view name);
constexpr FormatMatch marks_if(bool fits) { return fits ? FormatMatch::kMarks : FormatMatch::kNo; }

// ---- traces ----
FormatMatch match_chrome(const FileHead& head);
FormatMatch match_nsys(const FileHead& head);
FormatMatch match_rocprof_csv(const FileHead& head);
FormatMatch match_rocprof_json(const FileHead& head);
FormatMatch match_rocpd(const FileHead& head);
FormatMatch match_assaytrace(const FileHead& head);
FormatMatch match_columnar(const FileHead& head);
FormatMatch match_rank_records(const FileHead& head);

// ---- logs for use with traces ----
FormatMatch match_rocprof_counters(const FileHead& head);
FormatMatch match_ncu_raw(const FileHead& head);
FormatMatch match_ncu_details(const FileHead& head);
FormatMatch match_rocprof_compute(const FileHead& head);
FormatMatch match_counter_table(const FileHead& head);
FormatMatch match_rocprof_compute_times(const FileHead& head);
FormatMatch match_samples(const FileHead& head);

// ---- power logs of other programs: ingest/power/logs/told.cc ----
FormatMatch match_smi_dmon(const FileHead& head);
FormatMatch match_dcgmi_dmon(const FileHead& head);
FormatMatch match_metrics_text(const FileHead& head);
FormatMatch match_prometheus_json(const FileHead& head);
FormatMatch match_grafana(const FileHead& head);
FormatMatch match_amd_smi_csv(const FileHead& head);
FormatMatch match_amd_smi_json(const FileHead& head);
FormatMatch match_rocm_smi_csv(const FileHead& head);
FormatMatch match_rocm_smi_json(const FileHead& head);
FormatMatch match_zeus(const FileHead& head);
FormatMatch match_tegrastats(const FileHead& head);
FormatMatch match_rapl(const FileHead& head);
FormatMatch match_perf_stat(const FileHead& head);
FormatMatch match_turbostat(const FileHead& head);
FormatMatch match_codecarbon(const FileHead& head);
FormatMatch match_nvitop(const FileHead& head);
FormatMatch match_request_log(const FileHead& head);
FormatMatch match_wandb(const FileHead& head);
FormatMatch match_powermetrics(const FileHead& head);

// ---- logs for use with traces, continued ----
FormatMatch match_nvidia_smi(const FileHead& head);
FormatMatch match_uprof(const FileHead& head);
FormatMatch match_chopper(const FileHead& head);
FormatMatch match_power_samples(const FileHead& head);
FormatMatch match_bench(const FileHead& head);
FormatMatch match_model(const FileHead& head);
FormatMatch match_sweep(const FileHead& head);
FormatMatch match_replay(const FileHead& head);
FormatMatch match_floor(const FileHead& head);
FormatMatch match_kernel_db(const FileHead& head);
FormatMatch match_memory_snapshot(const FileHead& head);
FormatMatch match_flight_recorder(const FileHead& head);
FormatMatch match_calibration(const FileHead& head);
FormatMatch match_campaign(const FileHead& head);
FormatMatch match_facts(const FileHead& head);
FormatMatch match_formulas(const FileHead& head);
FormatMatch match_kernels(const FileHead& head);
FormatMatch match_breakdown_map(const FileHead& head);
FormatMatch match_document(const FileHead& head);
FormatMatch match_report_page(const FileHead& head);

// ---- formats without a reader ----
FormatMatch match_nsys_raw(const FileHead& head);
FormatMatch match_ncu_raw_report(const FileHead& head);
FormatMatch match_nsys_stats(const FileHead& head);
FormatMatch match_rpd(const FileHead& head);
FormatMatch match_nvprof(const FileHead& head);
FormatMatch match_xspace(const FileHead& head);
FormatMatch match_perfetto(const FileHead& head);
FormatMatch match_pickle(const FileHead& head);
FormatMatch match_execution_trace(const FileHead& head);
FormatMatch match_stacks(const FileHead& head);
FormatMatch match_speedscope(const FileHead& head);
FormatMatch match_trtexec_times(const FileHead& head);
FormatMatch match_trtexec_profile(const FileHead& head);
FormatMatch match_call_tree(const FileHead& head);
FormatMatch match_rocprof_stats(const FileHead& head);
FormatMatch match_rocprof_v1_counters(const FileHead& head);
FormatMatch match_nvprof_text(const FileHead& head);
FormatMatch match_power_without_times(const FileHead& head);
FormatMatch match_parquet(const FileHead& head);
FormatMatch match_workbook(const FileHead& head);
FormatMatch match_zip(const FileHead& head);
FormatMatch match_tar(const FileHead& head);
FormatMatch match_xz(const FileHead& head);
FormatMatch match_bzip2(const FileHead& head);
FormatMatch match_lz4(const FileHead& head);
FormatMatch match_utf16(const FileHead& head);
FormatMatch match_web_page(const FileHead& head);

}  // namespace assay
