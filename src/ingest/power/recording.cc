#include "ingest/power/recording.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <system_error>

#include "base/decimal.h"
#include "base/files.h"
#include "base/json_tree.h"
#include "ingest/text/csv_table.h"
#include "ingest/text/log_rows.h"

namespace assay {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr const char* kSamples = "samples.csv";
constexpr const char* kExecs = "execs.csv";
constexpr const char* kSync = "sync.csv";
constexpr const char* kMeta = "meta.json";

std::string in_folder(const std::string& folder, const char* name) { return joined(folder, name); }

// ---- reading ----

// Drops a last line without an end: it was being written when the measurement run stopped, and its
// last number may be incomplete.
Result<CsvTable> read_recording_rows(const std::string& path) {
  ASSAY_TRY_ASSIGN(CsvTable table, read_csv_table(path));
  if (table.unfinished && !table.cut && !table.rows.empty()) {
    table.rows.pop_back();
    table.line.pop_back();
  }
  return table;
}

Result<int> needed_column(const CsvTable& table, const std::string& path, const char* name) {
  const int column = table.column(name);
  if (column < 0) {
    return Error{ErrorCode::kFormat, std::string("the header has no column ") + name, path, -1};
  }
  return column;
}

// Cells of one table, with errors that name the file and the line.
struct Cells {
  const CsvTable& table;
  const std::string& path;

  Error error(size_t row, std::string message) const {
    return csv_error_at(path, table.line[row], std::move(message));
  }
  Result<int64_t> integer(size_t row, int column, const char* name) const {
    int64_t value = 0;
    DecimalShape shape;
    const std::string_view text = cell(table, row, column);
    if (parse_decimal(text, 0, value, shape) != DecimalStatus::kOk || shape.fraction_digits > 0) {
      return error(row, "'" + std::string(text) + "' is not a whole number for " + name);
    }
    return value;
  }
  Result<double> watts(size_t row, int column, const char* name) const {
    double value = 0;
    const std::string_view text = cell(table, row, column);
    if (!parse_double(text, value)) {
      return error(row, "'" + std::string(text) + "' is not a number for " + name);
    }
    if (value < 0 || value > kMostWatts) {
      return error(row, std::string(name) + " of " + std::string(text) +
                            " cannot be watts; is the column in milliwatts?");
    }
    return value;
  }
  // NaN for an empty cell: the device has no such sensor.
  Result<double> optional_watts(size_t row, int column, const char* name) const {
    if (column < 0 || cell(table, row, column).empty()) return std::nan("");
    return watts(row, column, name);
  }
};

Status read_samples(const std::string& path, PowerRecording& recording) {
  ASSAY_TRY_ASSIGN(const CsvTable table, read_recording_rows(path));
  ASSAY_TRY_ASSIGN(const int time, needed_column(table, path, "t_ns"));
  ASSAY_TRY_ASSIGN(const int power, needed_column(table, path, "power_w"));
  const int xcd = table.column("xcd_w");
  const int iod = table.column("iod_w");
  const int hbm = table.column("hbm_w");
  const Cells cells{table, path};
  recording.samples.reserve(table.rows.size());
  for (size_t row = 0; row < table.rows.size(); ++row) {
    PowerSample sample;
    ASSAY_TRY_ASSIGN(sample.t_ns, cells.integer(row, time, "t_ns"));
    ASSAY_TRY_ASSIGN(sample.power_w, cells.watts(row, power, "power_w"));
    ASSAY_TRY_ASSIGN(sample.xcd_w, cells.optional_watts(row, xcd, "xcd_w"));
    ASSAY_TRY_ASSIGN(sample.iod_w, cells.optional_watts(row, iod, "iod_w"));
    ASSAY_TRY_ASSIGN(sample.hbm_w, cells.optional_watts(row, hbm, "hbm_w"));
    recording.samples.push_back(sample);
  }
  return Ok{};
}

// Maps kernel names to indices; adds names that are not in meta.json.
class KernelNames {
 public:
  explicit KernelNames(PowerRecording& recording) : recording_(recording) {
    for (size_t i = 0; i < recording.kernels.size(); ++i) {
      index_.emplace(recording.kernels[i], static_cast<uint32_t>(i));
    }
  }
  uint32_t of(std::string_view name) {
    const auto [place, is_new] =
        index_.emplace(name, static_cast<uint32_t>(recording_.kernels.size()));
    if (is_new) {
      recording_.kernels.emplace_back(name);
      recording_.kernel_flop.push_back(std::nan(""));
      recording_.kernel_bytes.push_back(std::nan(""));
    }
    return place->second;
  }

 private:
  PowerRecording& recording_;
  std::map<std::string, uint32_t, std::less<>> index_;
};

Result<uint32_t> small_integer(const Cells& cells, size_t row, int column, const char* name) {
  ASSAY_TRY_ASSIGN(const int64_t value, cells.integer(row, column, name));
  if (value < 0 || value > UINT32_MAX) {
    return cells.error(row, std::string(name) + " must be a count from 0");
  }
  return static_cast<uint32_t>(value);
}

Status read_executions(const std::string& path, PowerRecording& recording) {
  ASSAY_TRY_ASSIGN(const CsvTable table, read_recording_rows(path));
  ASSAY_TRY_ASSIGN(const int run, needed_column(table, path, "run"));
  ASSAY_TRY_ASSIGN(const int exec, needed_column(table, path, "exec"));
  ASSAY_TRY_ASSIGN(const int start, needed_column(table, path, "start_ns"));
  ASSAY_TRY_ASSIGN(const int end, needed_column(table, path, "end_ns"));
  const int kernel = table.column("kernel");
  if (kernel < 0 && recording.kernels.size() > 1) {
    return Error{ErrorCode::kFormat,
                 "the header has no column kernel, and meta.json names several kernels", path, -1};
  }
  const std::string only = recording.kernels.empty() ? "kernel" : recording.kernels.front();
  KernelNames names(recording);
  const Cells cells{table, path};
  for (size_t row = 0; row < table.rows.size(); ++row) {
    PowerExecution execution;
    ASSAY_TRY_ASSIGN(execution.run, small_integer(cells, row, run, "run"));
    ASSAY_TRY_ASSIGN(execution.index, small_integer(cells, row, exec, "exec"));
    ASSAY_TRY_ASSIGN(execution.start_ns, cells.integer(row, start, "start_ns"));
    ASSAY_TRY_ASSIGN(execution.end_ns, cells.integer(row, end, "end_ns"));
    if (execution.end_ns < execution.start_ns) {
      return cells.error(row, "the execution ends before it starts");
    }
    execution.kernel = names.of(kernel < 0 ? only : cell(table, row, kernel));
    recording.executions.push_back(execution);
  }
  std::stable_sort(recording.executions.begin(), recording.executions.end(),
                   [](const PowerExecution& a, const PowerExecution& b) {
                     return a.run != b.run ? a.run < b.run : a.index < b.index;
                   });
  return Ok{};
}

Status read_probes(const std::string& path, PowerRecording& recording) {
  ASSAY_TRY_ASSIGN(const CsvTable table, read_recording_rows(path));
  ASSAY_TRY_ASSIGN(const int c0, needed_column(table, path, "c0_ns"));
  ASSAY_TRY_ASSIGN(const int ticks, needed_column(table, path, "gpu_ticks"));
  ASSAY_TRY_ASSIGN(const int c1, needed_column(table, path, "c1_ns"));
  const Cells cells{table, path};
  for (size_t row = 0; row < table.rows.size(); ++row) {
    ClockProbe probe;
    ASSAY_TRY_ASSIGN(probe.c0_ns, cells.integer(row, c0, "c0_ns"));
    ASSAY_TRY_ASSIGN(probe.gpu_ticks, cells.integer(row, ticks, "gpu_ticks"));
    ASSAY_TRY_ASSIGN(probe.c1_ns, cells.integer(row, c1, "c1_ns"));
    recording.probes.push_back(probe);
  }
  return Ok{};
}

std::string text_of(const OrderedJson& meta, const char* key, const std::string& otherwise = "") {
  const auto found = meta.find(key);
  return found != meta.end() && found->is_string() ? found->get<std::string>() : otherwise;
}

double number_of(const OrderedJson& meta, const char* key, double otherwise) {
  const auto found = meta.find(key);
  return found != meta.end() && found->is_number() ? found->get<double>() : otherwise;
}

// A duration in microseconds as ns; 0 if missing or null.
Result<int64_t> duration_of(const OrderedJson& meta, const char* key, const std::string& path) {
  const double us = number_of(meta, key, 0);
  if (!(us >= 0 && us <= 1e9)) {
    return Error{ErrorCode::kFormat, std::string(key) + " must lie between 0 and 1e9 microseconds",
                 path, -1};
  }
  return static_cast<int64_t>(std::llround(us * 1000));
}

constexpr std::array<SensorMode, 5> kModes = {SensorMode::kBoxcar, SensorMode::kInstant,
                                              SensorMode::kOneSecondAverage,
                                              SensorMode::kEnergyCounter, SensorMode::kUnknown};

Result<SensorMode> mode_of(const OrderedJson& meta, int64_t window_ns, const std::string& path) {
  const std::string name = text_of(meta, "mode");
  if (name.empty()) return window_ns > 0 ? SensorMode::kBoxcar : SensorMode::kUnknown;
  for (const SensorMode mode : kModes) {
    if (name == sensor_mode_name(mode)) return mode;
  }
  return Error{
      ErrorCode::kFormat,
      "mode '" + name + "' is none of boxcar, instant, one_second_average, energy_counter, unknown",
      path, -1};
}

void read_kernels(const OrderedJson& meta, PowerRecording& recording) {
  const auto kernels = meta.find("kernels");
  if (kernels == meta.end() || !kernels->is_array()) return;
  for (const OrderedJson& kernel : *kernels) {
    if (!kernel.is_object()) continue;
    recording.kernels.push_back(text_of(kernel, "name", "kernel"));
    recording.kernel_flop.push_back(number_of(kernel, "flop", std::nan("")));
    recording.kernel_bytes.push_back(number_of(kernel, "bytes", std::nan("")));
  }
}

Status read_meta(const std::string& path, PowerRecording& recording) {
  ASSAY_TRY_ASSIGN(const std::string text, read_text_file(path));
  const OrderedJson meta = parsed_ordered_json(text);
  if (!meta.is_object()) {
    return Error{ErrorCode::kFormat, "is not a JSON object", path, -1};
  }
  recording.device = text_of(meta, "device");
  recording.driver = text_of(meta, "driver");
  recording.uuid = text_of(meta, "uuid");
  recording.parts = text_of(meta, "parts");
  recording.workload = text_of(meta, "workload");
  recording.tick_hz = number_of(meta, "tick_hz", 1e9);
  if (!(recording.tick_hz > 0 && recording.tick_hz <= 1e12)) {
    return Error{ErrorCode::kFormat, "tick_hz must be a positive frequency", path, -1};
  }
  recording.samples_on_cpu_clock = text_of(meta, "samples_clock", "gpu") == "cpu";
  const auto seed = meta.find("seed");
  if (seed != meta.end() && seed->is_number_unsigned()) recording.seed = seed->get<uint64_t>();
  SensorModel& sensor = recording.sensor;
  ASSAY_TRY_ASSIGN(sensor.window_ns, duration_of(meta, "w_us", path));
  ASSAY_TRY_ASSIGN(sensor.period_ns, duration_of(meta, "P_us", path));
  ASSAY_TRY_ASSIGN(sensor.delay_ns, duration_of(meta, "delay_us", path));
  if (meta.contains("ramp_us")) {
    ASSAY_TRY_ASSIGN(sensor.ramp_ns, duration_of(meta, "ramp_us", path));
  }
  ASSAY_TRY_ASSIGN(sensor.mode, mode_of(meta, sensor.window_ns, path));
  sensor.source = text_of(meta, "sensor_source", "meta.json");
  sensor.reading = text_of(meta, "sensor_reading");
  const auto calibrated = meta.find("sensor_calibrated");
  sensor.calibrated =
      calibrated != meta.end() && calibrated->is_boolean() && calibrated->get<bool>();
  read_kernels(meta, recording);
  return Ok{};
}

// ---- writing ----

void put(std::string& line, int64_t value) { line += std::to_string(value); }

// The shortest text that parses to the same double; nothing if the value is not finite.
void put(std::string& line, double value) {
  if (!std::isfinite(value)) return;
  line += shortest_text(value);
}

void put(std::string& line, const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) {
    line += text;
    return;
  }
  line += '"';
  for (const char c : text) {
    if (c == '"') line += '"';
    line += c;
  }
  line += '"';
}

template <typename First, typename... Rest>
void put_line(std::string& text, const First& first, const Rest&... rest) {
  put(text, first);
  ((text += ',', put(text, rest)), ...);
  text += '\n';
}

OrderedJson number_or_null(double value) {
  return std::isfinite(value) ? OrderedJson(value) : OrderedJson(nullptr);
}

std::string meta_text(const PowerRecording& head) {
  OrderedJson meta;
  meta["device"] = head.device;
  meta["driver"] = head.driver;
  meta["uuid"] = head.uuid;
  if (!head.parts.empty()) meta["parts"] = head.parts;
  meta["tick_hz"] = head.tick_hz;
  meta["samples_clock"] = head.samples_on_cpu_clock ? "cpu" : "gpu";
  meta["mode"] = sensor_mode_name(head.sensor.mode);
  meta["w_us"] = static_cast<double>(head.sensor.window_ns) / 1000;
  meta["P_us"] = static_cast<double>(head.sensor.period_ns) / 1000;
  meta["delay_us"] = static_cast<double>(head.sensor.delay_ns) / 1000;
  if (head.sensor.ramp_ns > 0) {
    meta["ramp_us"] = static_cast<double>(head.sensor.ramp_ns) / 1000;
  }
  meta["sensor_source"] = head.sensor.source;
  meta["sensor_reading"] = head.sensor.reading;
  meta["sensor_calibrated"] = head.sensor.calibrated;
  meta["workload"] = head.workload;
  meta["seed"] = head.seed;
  OrderedJson& kernels = meta["kernels"] = OrderedJson::array();
  for (size_t i = 0; i < head.kernels.size(); ++i) {
    const auto known = [i](const std::vector<double>& values) {
      return i < values.size() ? number_or_null(values[i]) : OrderedJson(nullptr);
    };
    kernels.push_back({{"name", head.kernels[i]},
                       {"flop", known(head.kernel_flop)},
                       {"bytes", known(head.kernel_bytes)}});
  }
  return json_text(meta, 2) + "\n";
}

Error write_error(const std::string& path) {
  return Error{ErrorCode::kIo, std::string("cannot write: ") + std::strerror(errno), path, -1};
}

// Cuts a file after its last complete line.
Status drop_cut_line(const std::string& path) {
  ASSAY_TRY_ASSIGN(const std::string text, read_text_file(path));
  if (text.empty() || text.back() == '\n') return Ok{};
  const size_t last = text.rfind('\n');
  return cut_file(path, last == std::string::npos ? 0 : last + 1);
}

Status write_all(std::FILE* file, const std::string& text, const std::string& path) {
  const bool written =
      std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0;
  if (!written) return write_error(path);
  return Ok{};
}

}  // namespace

Result<PowerRecording> read_power_recording(const std::string& folder) {
  if (!is_folder(folder)) {
    return Error{ErrorCode::kIo,
                 "is not a folder; a recording is a folder with samples.csv, execs.csv, sync.csv "
                 "and meta.json",
                 folder, -1};
  }
  PowerRecording recording;
  ASSAY_TRY(read_meta(in_folder(folder, kMeta), recording));
  ASSAY_TRY(read_samples(in_folder(folder, kSamples), recording));
  ASSAY_TRY(read_executions(in_folder(folder, kExecs), recording));
  const std::string sync = in_folder(folder, kSync);
  if (!recording.samples_on_cpu_clock || file_exists(sync)) {
    ASSAY_TRY(read_probes(sync, recording));
  }
  return recording;
}

Result<SensorModel> read_sensor_model(const std::string& path) {
  PowerRecording recording;
  ASSAY_TRY(read_meta(path, recording));
  return recording.sensor;
}

struct PowerRecordingWriter::Files {
  std::string folder;
  std::vector<std::string> kernels;
  FileHandle samples;
  FileHandle execs;
  FileHandle sync;
};

PowerRecordingWriter::PowerRecordingWriter(std::unique_ptr<Files> files)
    : files_(std::move(files)) {}
PowerRecordingWriter::PowerRecordingWriter(PowerRecordingWriter&&) noexcept = default;
PowerRecordingWriter& PowerRecordingWriter::operator=(PowerRecordingWriter&&) noexcept = default;
PowerRecordingWriter::~PowerRecordingWriter() = default;

Result<PowerRecordingWriter> PowerRecordingWriter::create(const std::string& folder,
                                                          const PowerRecording& head) {
  ASSAY_TRY(make_folders(folder));
  for (const char* name : {kMeta, kSamples, kExecs, kSync}) {
    if (file_exists(in_folder(folder, name))) {
      return Error{ErrorCode::kInvalidArgument,
                   "a recording is in this folder already; resume it or name another",
                   in_folder(folder, name), -1};
    }
  }
  auto files = std::make_unique<Files>();
  files->folder = folder;
  files->kernels = head.kernels;
  ASSAY_TRY_ASSIGN(const FileHandle meta, open_file(in_folder(folder, kMeta), "wb"));
  ASSAY_TRY(write_all(meta.get(), meta_text(head), in_folder(folder, kMeta)));
  const auto start = [&](const char* name, const char* header, FileHandle& file) -> Status {
    const std::string path = in_folder(folder, name);
    ASSAY_TRY_ASSIGN(file, open_file(path, "wb"));
    return write_all(file.get(), header, path);
  };
  ASSAY_TRY(start(kSamples, "t_ns,power_w,xcd_w,iod_w,hbm_w\n", files->samples));
  ASSAY_TRY(start(kExecs, "run,exec,start_ns,end_ns,kernel\n", files->execs));
  ASSAY_TRY(start(kSync, "c0_ns,gpu_ticks,c1_ns\n", files->sync));
  return PowerRecordingWriter(std::move(files));
}

Result<PowerRecordingWriter> PowerRecordingWriter::resume(const std::string& folder) {
  PowerRecording head;
  ASSAY_TRY(read_meta(in_folder(folder, kMeta), head));
  auto files = std::make_unique<Files>();
  files->folder = folder;
  files->kernels = head.kernels;
  const auto go_on = [&](const char* name, FileHandle& file) -> Status {
    const std::string path = in_folder(folder, name);
    ASSAY_TRY(drop_cut_line(path));
    ASSAY_TRY_ASSIGN(file, open_file(path, "ab"));
    return Ok{};
  };
  ASSAY_TRY(go_on(kSamples, files->samples));
  ASSAY_TRY(go_on(kExecs, files->execs));
  ASSAY_TRY(go_on(kSync, files->sync));
  return PowerRecordingWriter(std::move(files));
}

Status PowerRecordingWriter::append(const std::vector<PowerSample>& samples) {
  std::string text;
  for (const PowerSample& s : samples) {
    put_line(text, s.t_ns, s.power_w, s.xcd_w, s.iod_w, s.hbm_w);
  }
  return write_all(files_->samples.get(), text, in_folder(files_->folder, kSamples));
}

Status PowerRecordingWriter::append(const std::vector<PowerExecution>& executions) {
  std::string text;
  for (const PowerExecution& e : executions) {
    if (e.kernel >= files_->kernels.size()) {
      return Error{ErrorCode::kInternal, "an execution of a kernel that meta.json does not name",
                   in_folder(files_->folder, kExecs), -1};
    }
    put_line(text, int64_t{e.run}, int64_t{e.index}, e.start_ns, e.end_ns,
             files_->kernels[e.kernel]);
  }
  return write_all(files_->execs.get(), text, in_folder(files_->folder, kExecs));
}

Status PowerRecordingWriter::append(const std::vector<ClockProbe>& probes) {
  std::string text;
  for (const ClockProbe& p : probes) put_line(text, p.c0_ns, p.gpu_ticks, p.c1_ns);
  return write_all(files_->sync.get(), text, in_folder(files_->folder, kSync));
}

}  // namespace assay
