#include "ingest/counters/tables.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "base/ascii.h"
#include "base/decimal.h"
#include "ingest/text/json_text.h"

namespace assay {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

// Columns that describe the launch and are not counters, in lower case without spaces and
// underscores.
const std::set<std::string, std::less<>> kAbout = {"id",
                                                   "processid",
                                                   "processname",
                                                   "hostname",
                                                   "kernelname",
                                                   "context",
                                                   "stream",
                                                   "blocksize",
                                                   "gridsize",
                                                   "device",
                                                   "cc",
                                                   "sectionname",
                                                   "invocations",
                                                   "threadid",
                                                   "thread",
                                                   "name",
                                                   "rangename",
                                                   "kernel",
                                                   "range",
                                                   "dispatchid",
                                                   "gpuid",
                                                   "queueid",
                                                   "pid",
                                                   "tid",
                                                   "workgroupsize",
                                                   "ldsperworkgroup",
                                                   "scratchperworkitem",
                                                   "archvgpr",
                                                   "accumvgpr",
                                                   "sgpr",
                                                   "wavesize",
                                                   "correlationid",
                                                   "xccindex",
                                                   "starttimestamp",
                                                   "endtimestamp",
                                                   "nodeid",
                                                   "agentid",
                                                   "deviceid",
                                                   "metricname",
                                                   "metricunit",
                                                   "metricvalue",
                                                   "value",
                                                   "metric",
                                                   "unit",
                                                   "rulename",
                                                   "ruletype",
                                                   "ruledescription",
                                                   "estimatedspeedup",
                                                   "estimatedspeeduptype",
                                                   "kernelid"};

// Labels on the details page for metrics that formulas need.
struct Label {
  std::string_view label;
  std::string_view metric;
};
constexpr std::array<Label, 3> kLabels = {{{"Elapsed Cycles", "gpc__cycles_elapsed.max"},
                                           {"Duration", "gpu__time_duration.sum"},
                                           {"SM Active Cycles", "sm__cycles_active.avg"}}};

std::string key_of(std::string_view header) {
  std::string key;
  for (const char c : header) {
    if (c == ' ' || c == '_') continue;
    key += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return key;
}

// Parses "1,234.5" and "1234.5". A comma is a thousands separator only if three digits follow it.
bool read_number(std::string_view text, double& value) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != ',') {
      plain += text[i];
      continue;
    }
    size_t digits = 0;
    while (i + 1 + digits < text.size() &&
           std::isdigit(static_cast<unsigned char>(text[i + 1 + digits])) != 0)
      ++digits;
    if (digits != 3 || plain.empty() || plain.find('.') != std::string::npos) return false;
  }
  return parse_double(plain, value);
}

// The product of the numbers in "(256, 1, 1)"; 0 if there are none.
uint64_t product_in(std::string_view text) {
  uint64_t product = 1;
  bool any = false;
  for (size_t i = 0; i < text.size();) {
    if (std::isdigit(static_cast<unsigned char>(text[i])) == 0) {
      ++i;
      continue;
    }
    size_t end = i;
    while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
    uint64_t number = 0;
    if (!parse_uint64(text.substr(i, end - i), number)) return 0;
    if (__builtin_mul_overflow(product, number, &product)) return 0;
    any = true;
    i = end;
  }
  return any ? product : 0;
}

// TCC_HIT[12] -> TCC_HIT_sum, rocprofv3's name for the sum over channels.
std::string channel_sum(std::string_view header) {
  const size_t bracket = header.find('[');
  if (bracket == std::string_view::npos || header.back() != ']') return std::string(header);
  return std::string(header.substr(0, bracket)) + "_sum";
}

class TableReading {
 public:
  TableReading(const std::vector<CsvRecord>& records, CounterTableKind kind,
               const std::string& source)
      : records_(records), kind_(kind) {
    pass_.source = source;
    pass_.format = counter_table_words(kind);
    for (size_t i = 0; i < records.front().cells.size(); ++i) {
      columns_.emplace(key_of(trimmed(records.front().cells[i])), i);
    }
  }

  Result<CounterPass> read();

 private:
  struct Counted {
    std::map<std::string, double> values;
  };

  bool has(std::string_view key) const { return columns_.find(key) != columns_.end(); }
  std::string_view cell(const CsvRecord& record, std::string_view key) const {
    const auto found = columns_.find(key);
    if (found == columns_.end() || found->second >= record.cells.size()) return {};
    return record.cells[found->second];
  }
  int64_t integer(const CsvRecord& record, std::initializer_list<std::string_view> keys,
                  int64_t missing) const;
  bool is_units(const CsvRecord& record) const;
  bool repeats(std::string_view name, size_t column) const;
  CounterDispatch dispatch_of(const CsvRecord& record, int64_t order);
  void read_wide();
  void read_long();
  void read_wide_row(const CsvRecord& record, const std::vector<std::string>& units);
  void add(Counted& counted, std::string_view name, std::string_view unit, std::string_view text,
           bool sums);
  void finish();

  const std::vector<CsvRecord>& records_;
  const CounterTableKind kind_;
  std::map<std::string, size_t, std::less<>> columns_;
  CounterPass pass_;
  std::vector<Counted> counted_;
  std::map<std::string, uint32_t> names_;
};

int64_t TableReading::integer(const CsvRecord& record, std::initializer_list<std::string_view> keys,
                              int64_t missing) const {
  for (const std::string_view key : keys) {
    int64_t value = 0;
    if (parse_int64(trimmed(cell(record, key)), value)) return value;
  }
  return missing;
}

CounterDispatch TableReading::dispatch_of(const CsvRecord& record, int64_t order) {
  CounterDispatch dispatch;
  dispatch.order = integer(record, {"id", "dispatchid"}, order);
  dispatch.device = integer(record, {"device", "gpuid", "deviceid"}, 0);
  dispatch.process = integer(record, {"processid", "pid"}, 0);
  dispatch.thread = integer(record, {"threadid", "tid", "thread"}, -1);
  std::string name;
  for (const char* key : {"kernelname", "kernel", "rangename", "range", "name"}) {
    if (has(key)) {
      std::string scratch;
      uint64_t bad = 0;
      name = std::string(valid_utf8(trimmed(cell(record, key)), scratch, bad));
      break;
    }
  }
  const auto [found, is_new] = names_.try_emplace(name, static_cast<uint32_t>(names_.size()));
  if (is_new) pass_.kernels.push_back(name);
  dispatch.kernel = found->second;
  const uint64_t grid = product_in(cell(record, "gridsize"));
  if (kind_ == CounterTableKind::kRocprofCompute) {
    const uint64_t group = product_in(cell(record, "workgroupsize"));
    if (grid > 0 && group > 0) {
      dispatch.blocks = (grid + group - 1) / group;
      dispatch.threads_per_block = group;
    }
  } else {
    dispatch.blocks = grid;
    dispatch.threads_per_block = product_in(cell(record, "blocksize"));
  }
  return dispatch;
}

// True for properties of the device, the machine and the launch on Nsight Compute's raw page, which
// are not counters.
bool is_attribute(std::string_view name) {
  constexpr std::array<std::string_view, 8> kPrefixes = {
      "device__",  "launch__",   "numa__",       "nvlink__",
      "c2clink__", "profiler__", "sm__maximum_", "smsp__maximum_"};
  return std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

void TableReading::add(Counted& counted, std::string_view name, std::string_view unit,
                       std::string_view text, bool sums) {
  const std::string shown(trimmed(text));
  if (name.empty() || shown.empty() || is_attribute(name)) return;
  double value = 0;
  if (!read_number(shown, value)) return;  // text metrics: names of limits, versions
  std::string base;
  value *= prefix_factor(unit, base);
  const auto [found, is_new] = counted.values.try_emplace(std::string(name), value);
  if (!is_new && sums) found->second += value;
}

// True for a repeated name in the header, also with the suffix that rocprof-compute adds to it.
bool TableReading::repeats(std::string_view name, size_t column) const {
  if (columns_.at(key_of(name)) != column) return true;
  const size_t at = name.rfind('_');
  const bool suffixed = kind_ == CounterTableKind::kRocprofCompute &&
                        at != std::string_view::npos && at + 1 < name.size() &&
                        std::all_of(name.begin() + static_cast<std::ptrdiff_t>(at) + 1, name.end(),
                                    [](unsigned char c) { return std::isdigit(c) != 0; });
  return suffixed && has(key_of(name.substr(0, at)));
}

// True for the line of units below the header of the raw page, which has no ID.
bool TableReading::is_units(const CsvRecord& record) const {
  return has("id") && trimmed(cell(record, "id")).empty();
}

void TableReading::read_wide_row(const CsvRecord& record, const std::vector<std::string>& units) {
  const std::vector<std::string>& header = records_.front().cells;
  Counted counted;
  for (size_t i = 0; i < record.cells.size() && i < header.size(); ++i) {
    const std::string name(trimmed(header[i]));
    if (repeats(name, i) || kAbout.count(key_of(name)) != 0) continue;
    const bool channels = kind_ == CounterTableKind::kRocprofCompute;
    add(counted, channels ? channel_sum(name) : name, i < units.size() ? units[i] : "",
        record.cells[i], channels);
  }
  pass_.dispatches.push_back(dispatch_of(record, static_cast<int64_t>(pass_.dispatches.size())));
  counted_.push_back(std::move(counted));
}

void TableReading::read_wide() {
  std::vector<std::string> units;
  for (size_t i = 1; i < records_.size(); ++i) {
    const CsvRecord& record = records_[i];
    if (record.cells.size() <= 1 || record.cells == records_.front().cells) continue;
    if (i == 1 && kind_ == CounterTableKind::kNcuRaw && is_units(record)) {
      for (const std::string& unit : record.cells) units.emplace_back(trimmed(unit));
      continue;
    }
    if (record.cells.size() < records_.front().cells.size()) {
      ++pass_.rows_skipped;
      continue;
    }
    read_wide_row(record, units);
  }
}

void TableReading::read_long() {
  std::map<std::pair<int64_t, int64_t>, size_t> seen;  // by process and id
  for (size_t i = 1; i < records_.size(); ++i) {
    const CsvRecord& record = records_[i];
    if (record.cells.size() <= 1 || record.cells == records_.front().cells) continue;
    std::string name(trimmed(cell(record, has("metricname") ? "metricname" : "metric")));
    if (name.empty()) continue;  // a row of a rule on the details page
    const CounterDispatch dispatch = dispatch_of(record, 0);
    const std::pair id(dispatch.process, dispatch.order);
    const auto [found, is_new] = seen.try_emplace(id, pass_.dispatches.size());
    if (is_new) {
      pass_.dispatches.push_back(dispatch);
      counted_.emplace_back();
    }
    for (const Label& label : kLabels) {
      if (label.label == name) name = label.metric;
    }
    const std::string unit(trimmed(cell(record, has("metricunit") ? "metricunit" : "unit")));
    const std::string_view text = cell(record, has("metricvalue") ? "metricvalue" : "value");
    double value = 0;
    if (!read_number(trimmed(text), value)) {
      ++pass_.rows_skipped;
      continue;
    }
    add(counted_[found->second], name, unit, text, false);
  }
}

void TableReading::finish() {
  std::set<std::string> names;
  for (const Counted& counted : counted_) {
    for (const auto& [name, value] : counted.values) names.insert(name);
  }
  pass_.counters.assign(names.begin(), names.end());
  std::vector<size_t> order(pass_.dispatches.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return pass_.dispatches[a].order < pass_.dispatches[b].order;
  });
  std::vector<CounterDispatch> dispatches;
  for (const size_t row : order) {
    dispatches.push_back(pass_.dispatches[row]);
    for (const std::string& name : pass_.counters) {
      const auto found = counted_[row].values.find(name);
      pass_.values.push_back(found == counted_[row].values.end() ? kMissing : found->second);
    }
  }
  pass_.dispatches = std::move(dispatches);
}

Result<CounterPass> TableReading::read() {
  const bool by_rows = kind_ == CounterTableKind::kNcuDetails || kind_ == CounterTableKind::kLong;
  if (by_rows) {
    read_long();
  } else {
    read_wide();
  }
  finish();
  if (pass_.dispatches.empty() || pass_.counters.empty()) {
    return Error{ErrorCode::kFormat,
                 "no kernel with a counter in this table (" + pass_.format + ")", pass_.source, -1};
  }
  return std::move(pass_);
}

bool all_in(const std::set<std::string>& keys, std::initializer_list<const char*> wanted) {
  return std::all_of(wanted.begin(), wanted.end(),
                     [&](const char* key) { return keys.count(key) != 0; });
}

bool any_in(const std::set<std::string>& keys, std::initializer_list<const char*> wanted) {
  return std::any_of(wanted.begin(), wanted.end(),
                     [&](const char* key) { return keys.count(key) != 0; });
}

}  // namespace

CounterTableKind counter_table_kind(const std::vector<std::string>& header) {
  std::set<std::string> keys;
  for (const std::string& name : header) keys.insert(key_of(trimmed(name)));
  const bool named = any_in(keys, {"kernelname", "rangename", "kernel", "range"});
  if (!named) return CounterTableKind::kNone;
  if (all_in(keys, {"id", "kernelname", "metricname", "metricvalue"}))
    return CounterTableKind::kNcuDetails;
  if (any_in(keys, {"metricname", "metric"}) && any_in(keys, {"metricvalue", "value"}))
    return CounterTableKind::kLong;
  if (all_in(keys, {"dispatchid", "gpuid", "kernelname"})) return CounterTableKind::kRocprofCompute;
  if (all_in(keys, {"id", "kernelname", "gridsize", "blocksize"})) return CounterTableKind::kNcuRaw;
  const bool counts = std::any_of(header.begin(), header.end(), [](const std::string& name) {
    return name.find("__") != std::string::npos && name.find('.') != std::string::npos;
  });
  return counts ? CounterTableKind::kWide : CounterTableKind::kNone;
}

std::string_view counter_table_words(CounterTableKind kind) {
  switch (kind) {
    case CounterTableKind::kNcuRaw:
      return "counters of Nsight Compute (ncu --csv --page raw)";
    case CounterTableKind::kNcuDetails:
      return "counters of Nsight Compute (ncu --csv --page details)";
    case CounterTableKind::kRocprofCompute:
      return "counters of rocprof-compute (pmc_perf.csv)";
    case CounterTableKind::kWide:
    case CounterTableKind::kLong:
      return "a table of counters per kernel";
    case CounterTableKind::kNone:
      break;
  }
  return "";
}

double prefix_factor(std::string_view unit, std::string& base) {
  struct Scaled {
    std::string_view unit;
    std::string_view base;
    double factor;
  };
  constexpr std::array<Scaled, 20> kUnits = {{{"nsecond", "ns", 1},
                                              {"ns", "ns", 1},
                                              {"usecond", "ns", 1e3},
                                              {"us", "ns", 1e3},
                                              {"msecond", "ns", 1e6},
                                              {"ms", "ns", 1e6},
                                              {"second", "ns", 1e9},
                                              {"s", "ns", 1e9},
                                              {"hz", "hz", 1},
                                              {"Khz", "hz", 1e3},
                                              {"Mhz", "hz", 1e6},
                                              {"Ghz", "hz", 1e9},
                                              {"cycle/second", "hz", 1},
                                              {"cycle/usecond", "hz", 1e6},
                                              {"cycle/nsecond", "hz", 1e9},
                                              {"cycle/msecond", "hz", 1e3},
                                              {"byte", "byte", 1},
                                              {"Kbyte", "byte", 1e3},
                                              {"Mbyte", "byte", 1e6},
                                              {"Gbyte", "byte", 1e9}}};
  for (const Scaled& known : kUnits) {
    if (known.unit == unit) {
      base = known.base;
      return known.factor;
    }
  }
  const std::string_view rate = "byte/s";
  const size_t at = unit.find(rate);
  if (at != std::string_view::npos) {
    base = "byte/s";
    const std::string_view prefix = unit.substr(0, at);
    if (prefix == "K") return 1e3;
    if (prefix == "M") return 1e6;
    if (prefix == "G") return 1e9;
    if (prefix == "T") return 1e12;
    return 1;
  }
  // Counts may have a decimal prefix, too: Kinst, Mcycle.
  for (const std::string_view counted : {"inst", "cycle", "sector", "request", "block", "warp"}) {
    if (unit.size() == counted.size() + 1 && unit.substr(1) == counted) {
      base = counted;
      if (unit[0] == 'K') return 1e3;
      if (unit[0] == 'M') return 1e6;
      if (unit[0] == 'G') return 1e9;
    }
  }
  base = unit;
  return 1;
}

Result<CounterPass> read_counter_table(const std::vector<CsvRecord>& records, CounterTableKind kind,
                                       const std::string& source) {
  return TableReading(records, kind, source).read();
}

}  // namespace assay
