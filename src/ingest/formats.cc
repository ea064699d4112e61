#include "ingest/formats.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/files.h"
#include "ingest/text/whole_file.h"
#include "ingest/trace_readers.h"

namespace assay {
namespace {

// The order is that of the tables in the documents. It also decides if a file has the marks of two
// formats, because a program may print anything before its counters. tools/gen_format_docs.py
// parses this text: one field per line, literals only.
constexpr FileFormat kFormats[] = {
    // ---- traces ----
    {
        .key = "kineto",
        .name = "a trace of the PyTorch profiler or other Chrome-trace JSON",
        .family = FileFamily::kTrace,
        .endings = ".json",
        .compressed = true,
        .match = match_chrome,
        .give = "give it to any verb that takes traces: assay report FILE",
        .page = "kineto.md",
        .plural = "PyTorch profiler and other Chrome-trace JSON",
        .read = read_chrome_input,
        .in_folder = InFolder::kByEnding,
    },
    {
        .key = "nsys",
        .name = "an Nsight Systems export",
        .family = FileFamily::kTrace,
        .endings = ".sqlite",
        .compressed = true,
        .match = match_nsys,
        .give = "give it to any verb that takes traces: assay report FILE",
        .page = "nsys.md",
        .plural = "Nsight Systems exports",
        .read = read_nsys_input,
        .storage = Storage::kInPlace,
        .in_folder = InFolder::kByEnding,
    },
    {
        .key = "nsys_raw",
        .name = "a raw Nsight Systems report",
        .family = FileFamily::kTrace,
        .endings = ".nsys-rep .qdrep",
        .match = match_nsys_raw,
        .give = "give it where nsys is installed, or export it: nsys export --type sqlite FILE",
        .page = "nsys.md",
        .plural = "Nsight Systems exports",
        .read = read_nsys_report_input,
        .storage = Storage::kInPlace,
        .in_folder = InFolder::kUnlessOthers,
    },
    {
        .key = "rocprof_csv",
        .name = "a table of rocprofv3's trace",
        .family = FileFamily::kTrace,
        .endings = "kernel_trace.csv",
        .compressed = true,
        .match = match_rocprof_csv,
        .give = "give its kernel_trace.csv to any verb that takes traces: assay report FILE",
        .page = "rocprof.md",
        .plural = "rocprofv3",
        .read = read_rocprof_csv_input,
        .storage = Storage::kFile,
        .in_folder = InFolder::kOncePerRun,
    },
    {
        .key = "rocprof_json",
        .name = "a results.json of rocprofv3",
        .family = FileFamily::kTrace,
        .endings = "results.json",
        .compressed = true,
        .match = match_rocprof_json,
        .give = "give it to any verb that takes traces: assay report FILE",
        .page = "rocprof.md",
        .plural = "rocprofv3",
        .read = read_rocprof_json_input,
        .storage = Storage::kFile,
    },
    {
        .key = "rocpd",
        .name = "a rocpd database of rocprofv3",
        .family = FileFamily::kTrace,
        .endings = "_results.db",
        .compressed = true,
        .match = match_rocpd,
        .give = "give it to any verb that takes traces: assay report FILE",
        .page = "rocprof.md",
        .plural = "rocprofv3",
        .read = read_rocpd_input,
        .storage = Storage::kInPlace,
        .in_folder = InFolder::kByResultsName,
    },
    {
        .key = "rpd",
        .name = "a ROCm RPD profile",
        .family = FileFamily::kTrace,
        .endings = ".rpd",
        .compressed = true,
        .match = match_rpd,
        .give = "give it to any verb that takes traces: assay report FILE",
        .page = "rocprof.md",
        .plural = "rocprofv3",
        .read = read_rpd_input,
        .storage = Storage::kInPlace,
        .in_folder = InFolder::kByEnding,
    },
    {
        .key = "xspace",
        .name = "an XSpace profile of JAX, TensorFlow or PyTorch/XLA",
        .family = FileFamily::kTrace,
        .endings = ".xplane.pb",
        .compressed = true,
        .match = match_xspace,
        .give = "give it to any verb that takes traces: assay report FILE",
        .page = "xplane.md",
        .plural = "XSpace profiles",
        .read = read_xplane_input,
        .in_folder = InFolder::kByEnding,
    },
    {
        .key = "pftrace",
        .name = "a Perfetto trace in protobuf, as rocprofv3 and rocprofiler-systems write",
        .family = FileFamily::kTrace,
        .endings = ".pftrace .perfetto-trace .proto",
        .compressed = true,
        .match = match_perfetto,
        .give = "give it to any verb that takes traces: assay report FILE",
        .page = "pftrace.md",
        .plural = "Perfetto traces",
        .read = read_pftrace_input,
        .in_folder = InFolder::kOncePerRun,
    },
    {
        .key = "assaytrace",
        .name = "a recording of assay record",
        .family = FileFamily::kTrace,
        .endings = ".assaytrace",
        .compressed = true,
        .match = match_assaytrace,
        .give = "give it to any verb that takes traces: assay report FILE",
        .page = "assaytrace.md",
        .plural = "recordings",
        .read = read_assaytrace_input,
        .in_folder = InFolder::kByEnding,
    },
    {
        .key = "assay",
        .name = "a cached trace of assay cache",
        .family = FileFamily::kTrace,
        .endings = ".assay",
        .match = match_columnar,
        .give = "give it to any verb that takes traces: assay report FILE",
        .page = "assay.md",
        .plural = "cached forms",
        .read = read_columnar_input,
        .storage = Storage::kInPlace,
        .in_folder = InFolder::kUnlessOthers,
    },
    // ---- beside a trace ----
    {
        .key = "rocprof_counters",
        .name = "counters of rocprofv3 (counter_collection.csv)",
        .family = FileFamily::kCounters,
        .endings = "counter_collection.csv",
        .compressed = true,
        .match = match_rocprof_counters,
        .no_trace = ": its kernels ran one at a time, so their times do not show the run",
        .give = "give it with the trace: assay breakdown TRACE --counters FILE",
        .page = "rocprof.md",
    },
    {
        .key = "ncu_raw",
        .name = "counters of Nsight Compute (ncu --csv --page raw)",
        .family = FileFamily::kCounters,
        .endings = ".csv",
        .compressed = true,
        .match = match_ncu_raw,
        .no_trace = ": its kernels ran one at a time, so their times do not show the run",
        .give = "give it with the trace: assay breakdown TRACE --counters FILE",
        .page = "ncu.md",
    },
    {
        .key = "ncu_details",
        .name = "counters of Nsight Compute (ncu --csv --page details)",
        .family = FileFamily::kCounters,
        .endings = ".csv",
        .compressed = true,
        .match = match_ncu_details,
        .no_trace = ": its kernels ran one at a time, so their times do not show the run",
        .give = "give it with the trace: assay breakdown TRACE --counters FILE",
        .page = "ncu.md",
    },
    {
        .key = "ncu_report",
        .name = "a raw Nsight Compute report",
        .family = FileFamily::kCounters,
        .endings = ".ncu-rep",
        .match = match_ncu_raw_report,
        .no_trace = ": its kernels ran one at a time, so their times do not show the run",
        .give = "give it with the trace where ncu is installed (assay breakdown TRACE --counters "
                "FILE), or print its table (ncu --import FILE --csv --page raw > counters.csv)",
        .page = "ncu.md",
    },
    {
        .key = "rocprof_compute",
        .name = "counters of rocprof-compute (pmc_perf.csv)",
        .family = FileFamily::kCounters,
        .endings = "pmc_perf.csv",
        .compressed = true,
        .match = match_rocprof_compute,
        .no_trace = ": its kernels ran one at a time, so their times do not show the run",
        .give = "give it with the trace: assay breakdown TRACE --counters FILE",
        .page = "rocprof.md",
    },
    {
        .key = "counter_table",
        .name = "a table of counters per kernel",
        .family = FileFamily::kCounters,
        .endings = ".csv",
        .compressed = true,
        .match = match_counter_table,
        .no_trace = ": its kernels ran one at a time, so their times do not show the run",
        .give = "give it with the trace: assay breakdown TRACE --counters FILE",
        .page = "ncu.md",
    },
    {
        .key = "samples",
        .name = "samples of assay sample",
        .family = FileFamily::kSamples,
        .endings = ".csv",
        .compressed = true,
        .match = match_samples,
        .give = "give it with the trace: assay breakdown TRACE --telemetry FILE, or assay power "
                "attribute TRACE --samples FILE",
        .page = "samples.md",
    },
    {
        .key = "nvidia_smi",
        .name = "a log of nvidia-smi",
        .family = FileFamily::kSamples,
        .endings = ".csv",
        .compressed = true,
        .match = match_nvidia_smi,
        .give = "give it with the trace: assay breakdown TRACE --telemetry FILE, or assay power "
                "attribute TRACE --samples FILE",
        .page = "power_log.md",
    },
    {
        .key = "uprof",
        .name = "a timechart of AMDuProf",
        .family = FileFamily::kSamples,
        .endings = ".csv",
        .compressed = true,
        .match = match_uprof,
        .give = "give it with the trace: assay breakdown TRACE --telemetry FILE, or assay power "
                "attribute TRACE --samples FILE",
        .page = "power_log.md",
    },
    {
        .key = "smi_dmon",
        .name = "a log of nvidia-smi dmon",
        .family = FileFamily::kSamples,
        .endings = ".txt .log .csv",
        .compressed = true,
        .match = match_smi_dmon,
        .give = "give it with the trace: assay power attribute TRACE --samples FILE",
        .page = "power_log.md",
    },
    {
        .key = "dcgmi_dmon",
        .name = "a log of dcgmi dmon",
        .family = FileFamily::kSamples,
        .endings = ".txt .log",
        .compressed = true,
        .match = match_dcgmi_dmon,
        .give = "give it with the trace: assay power attribute TRACE --samples FILE",
        .page = "power_log.md",
    },
    {
        .key = "metrics_text",
        .name = "metrics as Prometheus scrapes them (dcgm-exporter and others)",
        .family = FileFamily::kSamples,
        .endings = ".prom .txt",
        .compressed = true,
        .match = match_metrics_text,
        .give = "give it with the trace: assay power attribute TRACE --samples FILE",
        .page = "power_log.md",
    },
    {
        .key = "prometheus_json",
        .name = "an answer of Prometheus",
        .family = FileFamily::kSamples,
        .endings = ".json",
        .compressed = true,
        .match = match_prometheus_json,
        .give = "give it with the trace: assay power attribute TRACE --samples FILE",
        .page = "power_log.md",
    },
    {
        .key = "grafana",
        .name = "a table out of Grafana",
        .family = FileFamily::kSamples,
        .endings = ".csv",
        .compressed = true,
        .match = match_grafana,
        .give = "give it with the trace: assay power attribute TRACE --samples FILE",
        .page = "power_log.md",
    },
    {
        .key = "amd_smi_csv",
        .name = "a log of amd-smi",
        .family = FileFamily::kSamples,
        .endings = ".csv",
        .compressed = true,
        .match = match_amd_smi_csv,
        .give = "give it with the trace: assay power attribute TRACE --samples FILE",
        .page = "power_log.md",
    },
    {
        .key = "amd_smi_json",
        .name = "metrics of amd-smi",
        .family = FileFamily::kSamples,
        .endings = ".json",
        .compressed = true,
        .match = match_amd_smi_json,
        .give = "give it with the trace: assay power attribute TRACE --samples FILE",
        .page = "power_log.md",
    },
    {
        .key = "rocm_smi_csv",
        .name = "a log of rocm-smi",
        .family = FileFamily::kSamples,
        .endings = ".csv",
        .compressed = true,
        .match = match_rocm_smi_csv,
        .give = "give it with the trace: assay power attribute TRACE --samples FILE",
        .page = "power_log.md",
    },
    {
        .key = "rocm_smi_json",
        .name = "output of rocm-smi --json",
        .family = FileFamily::kSamples,
        .endings = ".json",
        .compressed = true,
        .match = match_rocm_smi_json,
        .give = "give it with the trace: assay power attribute TRACE --samples FILE",
        .page = "power_log.md",
    },
    {
        .key = "zeus",
        .name = "a log of Zeus",
        .family = FileFamily::kSamples,
        .endings = ".csv",
        .compressed = true,
        .match = match_zeus,
        .give = "give it with the trace: assay power attribute TRACE --samples FILE",
        .page = "power_log.md",
    },
    {
        .key = "tegrastats",
        .name = "a log of tegrastats",
        .family = FileFamily::kSamples,
        .endings = ".txt .log",
        .compressed = true,
        .match = match_tegrastats,
        .give = "give it with the trace: assay power attribute TRACE --samples FILE",
        .page = "power_log.md",
    },
    {
        .key = "rapl",
        .name = "polls of RAPL energy counters",
        .family = FileFamily::kSamples,
        .endings = ".csv",
        .compressed = true,
        .match = match_rapl,
        .give = "give it with the trace: assay power attribute TRACE --samples FILE",
        .page = "power_log.md",
    },
    {
        .key = "perf_stat",
        .name = "energies of perf stat -I",
        .family = FileFamily::kSamples,
        .endings = ".txt .csv",
        .compressed = true,
        .match = match_perf_stat,
        .give = "give it with the trace: assay power attribute TRACE --samples FILE",
        .page = "power_log.md",
    },
    {
        .key = "turbostat",
        .name = "a log of turbostat",
        .family = FileFamily::kSamples,
        .endings = ".txt .tsv",
        .compressed = true,
        .match = match_turbostat,
        .give = "give it with the trace: assay power attribute TRACE --samples FILE",
        .page = "power_log.md",
    },
    {
        .key = "codecarbon",
        .name = "emissions of codecarbon",
        .family = FileFamily::kSamples,
        .endings = ".csv",
        .compressed = true,
        .match = match_codecarbon,
        .give = "give it with the trace: assay power attribute TRACE --samples FILE",
        .page = "power_log.md",
    },
    {
        .key = "nvitop",
        .name = "metrics of nvitop",
        .family = FileFamily::kSamples,
        .endings = ".csv",
        .compressed = true,
        .match = match_nvitop,
        .give = "give it with the trace: assay power attribute TRACE --samples FILE",
        .page = "power_log.md",
    },
    {
        .key = "request_log",
        .name = "a log of a serving engine's requests",
        .family = FileFamily::kRequests,
        .endings = ".json .jsonl .log",
        .compressed = true,
        .match = match_request_log,
        .give = "give it with the engine's trace: assay report TRACE --requests FILE",
        .page = "request_log.md",
    },
    {
        .key = "execution_trace",
        .name = "an execution trace of PyTorch (a graph of operators without times or devices)",
        .family = FileFamily::kOperators,
        .endings = "_et.json .et",
        .compressed = true,
        .match = match_execution_trace,
        .give = "give it with the profiler's trace of the same run (export_chrome_trace): assay "
                "breakdown TRACE --execution-trace FILE",
        .page = "execution_trace.md",
    },
    {
        .key = "wandb",
        .name = "system metrics of W&B",
        .family = FileFamily::kSamples,
        .endings = ".jsonl",
        .compressed = true,
        .match = match_wandb,
        .give = "give it with the trace: assay power attribute TRACE --samples FILE",
        .page = "power_log.md",
    },
    {
        .key = "powermetrics",
        .name = "a log of powermetrics",
        .family = FileFamily::kSamples,
        .endings = ".txt",
        .compressed = true,
        .match = match_powermetrics,
        .give = "give it with the trace: assay power attribute TRACE --samples FILE",
        .page = "power_log.md",
    },
    {
        .key = "chopper",
        .name = "a log of Chopper's sampler",
        .family = FileFamily::kSamples,
        .endings = ".csv",
        .compressed = true,
        .match = match_chopper,
        .give = "give it with the trace: assay breakdown TRACE --telemetry FILE",
        .page = "telemetry.md",
    },
    {
        .key = "power_samples",
        .name = "samples of power in Assay's own columns",
        .family = FileFamily::kSamples,
        .endings = ".csv",
        .compressed = true,
        .match = match_power_samples,
        .give = "give it with the trace (assay power attribute TRACE --samples FILE), or its "
                "folder to assay power profile",
        .page = "power_recording.md",
    },
    {
        .key = "bench",
        .name = "measured throughput (a table, or a result of a serving benchmark)",
        .family = FileFamily::kBench,
        .endings = ".csv .json",
        .compressed = true,
        .match = match_bench,
        .give = "give it to assay throughput fit or assay report",
        .page = "bench.md",
    },
    {
        .key = "throughput_model",
        .name = "a model of assay throughput fit",
        .family = FileFamily::kModel,
        .endings = ".json",
        .compressed = true,
        .match = match_model,
        .give = "give it to assay throughput predict or assay report",
        .page = "throughput_model.md",
    },
    {
        .key = "sweep",
        .name = "launch figures over batch sizes",
        .family = FileFamily::kSweep,
        .endings = ".csv",
        .compressed = true,
        .match = match_sweep,
        .give = "give it to assay sweep --table",
        .page = "sweep.md",
    },
    {
        .key = "replay",
        .name = "a replay file",
        .family = FileFamily::kReplay,
        .endings = ".json",
        .compressed = true,
        .match = match_replay,
        .give = "give it with the trace: assay overhead TRACE --replay FILE",
        .page = "replay.md",
    },
    {
        .key = "floor",
        .name = "a floor file",
        .family = FileFamily::kFloor,
        .endings = ".json",
        .compressed = true,
        .match = match_floor,
        .give = "give it with the trace: assay report TRACE --floor FILE",
        .page = "floor.md",
    },
    {
        .key = "kernel_db",
        .name = "a kernel database",
        .family = FileFamily::kKernelDb,
        .endings = ".json",
        .compressed = true,
        .match = match_kernel_db,
        .give = "give it to assay replay",
        .page = "kernel_db.md",
    },
    {
        .key = "memory_snapshot",
        .name = "a memory snapshot of PyTorch",
        .family = FileFamily::kMemory,
        .endings = ".pickle .pkl",
        .compressed = true,
        .match = match_memory_snapshot,
        .give = "give it alone: assay breakdown FILE",
        .page = "memory_snapshot.md",
    },
    {
        .key = "flight_recorder",
        .name = "a flight-recorder dump of PyTorch",
        .family = FileFamily::kDump,
        .endings = ".pickle .pkl .json",
        .compressed = true,
        .match = match_flight_recorder,
        .give = "give the folder with the dumps of all ranks: assay hang DIR",
        .page = "flight_recorder.md",
    },
    {
        .key = "calibration",
        .name = "the calibration of a power sensor",
        .family = FileFamily::kSettings,
        .endings = ".json",
        .match = match_calibration,
        .give = "give it to assay power run with --calibration",
        .page = "calibration.md",
    },
    {
        .key = "facts",
        .name = "specifications of models and devices",
        .family = FileFamily::kSettings,
        .endings = ".ini",
        .match = match_facts,
        .give = "give it with --specs",
        .page = "facts.md",
    },
    {
        .key = "counter_formulas",
        .name = "formulas over counters",
        .family = FileFamily::kSettings,
        .endings = ".ini",
        .match = match_formulas,
        .give = "give it to assay breakdown with --formulas",
        .page = "counter_formulas.md",
    },
    {
        .key = "kernels",
        .name = "rules of what kernels are",
        .family = FileFamily::kSettings,
        .endings = ".txt",
        .match = match_kernels,
        .give = "give it with --kernels",
        .page = "kernels.md",
    },
    {
        .key = "breakdown_map",
        .name = "a mapping file of assay breakdown",
        .family = FileFamily::kSettings,
        .endings = ".txt",
        .match = match_breakdown_map,
        .give = "give it to assay breakdown with --attribution-rules",
        .page = "breakdown_map.md",
    },
    // ---- what Assay itself said ----
    {
        .key = "document",
        .name = "what Assay said of other files (--format json)",
        .family = FileFamily::kResult,
        .endings = ".json",
        .match = match_document,
        .give = "give the files it was made from",
        .page = "summary.md",
    },
    {
        .key = "report_html",
        .name = "a report page of Assay",
        .family = FileFamily::kResult,
        .endings = ".html",
        .match = match_report_page,
        .give = "open it in a browser, or give the trace it was made from",
        .page = "report_html.md",
    },
    {
        .key = "ranks",
        .name = "a file of rank records",
        .family = FileFamily::kResult,
        .endings = ".ranks",
        .match = match_rank_records,
        .give = "assay job --summaries takes it",
        .page = "ranks.md",
    },
    {
        .key = "campaign",
        .name = "the figures of a measurement run",
        .family = FileFamily::kResult,
        .endings = ".json",
        .match = match_campaign,
        .give = "tests/gpu/write_measured.py takes its folder",
        .page = "campaign.md",
    },
    {
        .key = "workbook",
        .name = "an Excel workbook",
        .family = FileFamily::kForeign,
        .endings = ".xlsx",
        .match = match_workbook,
        .give = "save its sheet as CSV, or give the trace it was made from",
        .page = "xlsx.md",
    },
    {
        .key = "parquet",
        .name = "a Parquet table",
        .family = FileFamily::kForeign,
        .endings = ".parquet",
        .match = match_parquet,
        .give = "give the trace it was made from; of a table of throughput write CSV",
        .page = "export.md",
    },
    // ---- what other programs write and nothing here reads ----
    {
        .key = "nsys_stats",
        .name = "a table of nsys stats or of a viewer, without links between its rows",
        .endings = ".csv",
        .match = match_nsys_stats,
        .is_text = true,
        .give = "give the whole export: nsys export --type sqlite REPORT.nsys-rep",
    },
    {
        .key = "nvprof",
        .name = "an nvprof database, a format unrelated to that of Nsight Systems",
        .endings = ".nvvp .nvprof",
        .match = match_nvprof,
        .give = "record with nsys profile and export with nsys export --type sqlite",
    },
    {
        .key = "pickle",
        .name = "a Python pickle that is neither a memory snapshot nor a flight-recorder dump of "
                "PyTorch",
        .endings = ".pickle .pkl",
        .match = match_pickle,
        .give = "record with torch.profiler and export_chrome_trace, or device memory with "
                "torch.cuda.memory._dump_snapshot",
    },
    {
        .key = "rocprof_compute_times",
        .name = "kernel times of a run of rocprof-compute (timestamps.csv), in which kernels ran "
                "one at a time",
        .endings = "timestamps.csv",
        .match = match_rocprof_compute_times,
        .is_text = true,
        .give = "record a trace: rocprofv3 --kernel-trace --hip-runtime-trace -- COMMAND; then "
                "give both: assay breakdown TRACE --counters FOLDER",
    },
    {
        .key = "speedscope",
        .name = "a speedscope profile of a host's stacks",
        .endings = ".speedscope.json",
        .match = match_speedscope,
        .is_text = true,
        .give = "it has no kernels: record with torch.profiler and export_chrome_trace",
    },
    {
        .key = "stacks",
        .name = "stacks with sums, as torch.profiler's export_stacks writes for flame graphs: "
                "without starts and kernels",
        .endings = ".stacks .txt",
        .match = match_stacks,
        .is_text = true,
        .give = "give the trace of the same profiler: export_chrome_trace",
    },
    {
        .key = "trtexec_times",
        .name = "times of inferences from TensorRT's trtexec (--exportTimes), without kernels",
        .endings = ".json",
        .match = match_trtexec_times,
        .is_text = true,
        .give = "record the same program: nsys profile -t cuda,nvtx trtexec ..., then nsys export "
                "--type sqlite",
    },
    {
        .key = "trtexec_profile",
        .name = "mean times of layers from TensorRT's trtexec (--exportProfile), without when they "
                "ran",
        .endings = ".json",
        .match = match_trtexec_profile,
        .is_text = true,
        .give = "record the same program: nsys profile -t cuda,nvtx trtexec ..., then nsys export "
                "--type sqlite",
    },
    {
        .key = "call_tree",
        .name = "a call tree of Triton's Proton or of Hatchet: sums per function, without starts",
        .endings = ".hatchet .json",
        .match = match_call_tree,
        .is_text = true,
        .give = "record the same program with torch.profiler and export_chrome_trace, with nsys "
                "profile, or with rocprofv3",
    },
    {
        .key = "rocprof_stats",
        .name = "statistics of rocprof (a *_stats.csv): totals per name, without times of single "
                "kernels",
        .endings = "_stats.csv",
        .match = match_rocprof_stats,
        .is_text = true,
        .give = "give the run's kernel_trace.csv, results.json or results.db, or record: rocprofv3 "
                "--kernel-trace --hip-trace --memory-copy-trace -- PROGRAM",
    },
    {
        .key = "rocprof_v1_counters",
        .name = "a table of rocprof v1 with counters or without times, a form that is not read",
        .endings = ".csv",
        .match = match_rocprof_v1_counters,
        .is_text = true,
        .give = "count with rocprofv3 --pmc COUNTERS --output-format csv -- PROGRAM, and give that "
                "with a trace: assay breakdown TRACE --counters FILE",
    },
    {
        .key = "nvprof_text",
        .name = "a list or totals that nvprof printed",
        .endings = ".csv .txt .log",
        .match = match_nvprof_text,
        .is_text = true,
        .give = "record with nsys profile and export with nsys export --type sqlite",
    },
    {
        .key = "power_without_times",
        .name = "a column of power without times",
        .endings = ".csv",
        .match = match_power_without_times,
        .is_text = true,
        .give = "log the time with it: nvidia-smi --query-gpu=timestamp,index,power.draw "
                "--format=csv -lms 100, or assay sample",
    },
    {
        .key = "zip",
        .name = "a zip archive",
        .endings = ".zip",
        .match = match_zip,
        .give = "give it by its name, alone: assay report FILE",
    },
    {
        .key = "tar",
        .name = "a tar archive",
        .endings = ".tar .tar.gz .tgz",
        .match = match_tar,
        .give = "give it by its name, alone: assay report FILE",
    },
    {
        .key = "xz",
        .name = "xz-compressed",
        .endings = ".xz",
        .match = match_xz,
        .give = "decompress it first (xz -d)",
    },
    {
        .key = "bzip2",
        .name = "bzip2-compressed",
        .endings = ".bz2",
        .match = match_bzip2,
        .give = "decompress it first (bunzip2)",
    },
    {
        .key = "lz4",
        .name = "lz4-compressed",
        .endings = ".lz4",
        .match = match_lz4,
        .give = "decompress it first (lz4 -d)",
    },
    {
        .key = "utf16",
        .name = "UTF-16 text",
        .endings = ".json .csv .txt",
        .match = match_utf16,
        .give = "save it as UTF-8 (iconv -f UTF-16 -t UTF-8)",
    },
    {
        .key = "web_page",
        .name = "a web page, as a server sends in place of a file that needs a login",
        .endings = ".html",
        .match = match_web_page,
        .is_text = true,
        .give = "fetch the file itself",
    },
};

template <typename Use>
void each_ending(const FileFormat& format, const Use& use) {
  std::string_view rest = format.endings;
  while (!rest.empty()) {
    const size_t blank = std::min(rest.find(' '), rest.size());
    use(rest.substr(0, blank));
    rest.remove_prefix(std::min(blank + 1, rest.size()));
  }
}

void append(std::string& list, std::string_view separator, std::string_view part) {
  if (!list.empty()) list += separator;
  list += part;
}

// Endings of all trace formats of a page, separated by commas.
std::string endings_of_page(std::string_view page) {
  std::string list;
  for (const FileFormat& format : kFormats) {
    if (format.page != page || format.family != FileFamily::kTrace) continue;
    each_ending(format, [&list](std::string_view ending) {
      append(list, ", ", ending.starts_with('_') ? ending.substr(1) : ending);
    });
  }
  return list;
}

}  // namespace

std::string_view family_words(FileFamily family) {
  switch (family) {
    case FileFamily::kTrace:
      return "trace";
    case FileFamily::kCounters:
      return "run of counters";
    case FileFamily::kSamples:
      return "log of samples";
    case FileFamily::kRequests:
      return "log of requests";
    case FileFamily::kOperators:
      return "execution trace";
    case FileFamily::kBench:
      return "table of throughput";
    case FileFamily::kModel:
      return "throughput model";
    case FileFamily::kSweep:
      return "table of a batch sweep";
    case FileFamily::kReplay:
      return "replay file";
    case FileFamily::kFloor:
      return "floor file";
    case FileFamily::kKernelDb:
      return "kernel database";
    case FileFamily::kMemory:
      return "memory snapshot";
    case FileFamily::kDump:
      return "flight-recorder dump";
    case FileFamily::kSettings:
      return "file of rules or facts";
    case FileFamily::kResult:
      return "result of Assay";
    case FileFamily::kForeign:
      break;
  }
  return "file of a known format";
}

std::span<const FileFormat> file_formats() { return kFormats; }

const FileFormat* format_of(const FileHead& head) {
  const FileFormat* shaped = nullptr;
  for (const FileFormat& format : kFormats) {
    const FormatMatch match = format.match(head);
    if (match == FormatMatch::kMarks) return &format;
    if (match == FormatMatch::kShape && shaped == nullptr) shaped = &format;
  }
  return shaped;
}

const FileFormat* format_of_file(const std::string& path) {
  const auto bytes = read_head(path, kFormatHeadBytes);
  return bytes ? format_of(file_head(*bytes, path)) : nullptr;
}

const FileFormat* format_among_files(const std::string& path) {
  const FileFormat* format = format_of_file(path);
  if (format == nullptr || format->family == FileFamily::kForeign) return nullptr;
  const bool is_trace = format->family == FileFamily::kTrace;
  return is_trace && !has_ending(file_name(path), *format) ? nullptr : format;
}

Error not_a(FileFamily wanted, const FileFormat& is) {
  // Texts in a folder that are not traces are skipped, because results are often in the folder of
  // their input.
  const bool passed_over = is.family != FileFamily::kForeign || is.is_text;
  const ErrorCode code = passed_over ? ErrorCode::kNotATrace : ErrorCode::kUnsupported;
  const std::string tail = "; " + std::string(is.give);
  if (is.family == FileFamily::kForeign) {
    return Error{code, "unsupported: " + std::string(is.name) + tail, "", -1};
  }
  std::string text = "this is " + std::string(is.name);
  text += is.no_trace.empty() || wanted != FileFamily::kTrace
              ? ", no " + std::string(family_words(wanted))
              : std::string(is.no_trace);
  return Error{code, text + tail, "", -1};
}

Error explained(Error error, const std::string& path, FileFamily wanted) {
  error.file = path;
  const bool about_content =
      error.code == ErrorCode::kFormat || error.code == ErrorCode::kNotATrace;
  const bool named_already = error.message.starts_with("this is ");
  if (!about_content || named_already || path == "-") return error;
  const auto bytes = read_head(path, kFormatHeadBytes);
  if (!bytes) return error;
  const FileHead head = file_head(*bytes, path);
  const FileFormat* is = format_of(head);
  const bool plain = is != nullptr && is->match(head) == FormatMatch::kMarks;
  if (!plain || is->family == wanted) return error;
  Error named = not_a(wanted, *is);
  named.code = error.code;
  named.file = path;
  return named;
}

std::string trace_inputs_words() {
  std::string words;
  std::string_view page;
  for (const FileFormat& format : kFormats) {
    if (format.family != FileFamily::kTrace || format.page == page) continue;
    page = format.page;
    std::string endings = endings_of_page(page);
    if (format.match == match_chrome) endings += ", .json.gz, .json.zst";
    append(words, ", ", std::string(format.plural) + " (" + endings + ")");
  }
  return words;
}

std::string folder_names_words() {
  std::string words;
  for (const FileFormat& format : kFormats) {
    if (format.in_folder == InFolder::kNo) continue;
    each_ending(format, [&words](std::string_view ending) {
      append(words, ", ", "*" + std::string(ending));
    });
  }
  return words;
}

bool has_ending(std::string_view name, const FileFormat& format) {
  const std::string lowered = lower(name);
  bool found = false;
  each_ending(format, [&](std::string_view ending) {
    const auto ends = [&](const std::string& with) {
      const bool has_stem = lowered.size() > with.size() || !with.starts_with('.');
      return has_stem && lowered.ends_with(with);
    };
    const std::string plain(ending);
    found = found || ends(plain) ||
            (format.compressed && (ends(plain + ".gz") || ends(plain + ".zst")));
  });
  return found;
}

}  // namespace assay
