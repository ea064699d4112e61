#include "ingest/untraced_times.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/decimal.h"
#include "base/files.h"
#include "base/json_tree.h"
#include "base/stats.h"
#include "ingest/text/csv_table.h"

namespace assay {
namespace {

struct Measured {
  std::vector<int64_t> ns;
  int64_t low_ns = INT64_MAX;
  int64_t high_ns = 0;
  size_t unmarked = 0;  // lines that are not marked as repeats
};

bool is_of(std::string_view named, const std::string& trace) {
  return file_name(std::string(named)) == file_name(trace);
}

int64_t ns_of_ms(double ms) { return std::llround(ms * 1e6); }

void add(double ms, double low_ms, double high_ms, Measured& measured) {
  if (!(ms > 0)) return;
  measured.ns.push_back(ns_of_ms(ms));
  measured.low_ns = std::min(measured.low_ns, ns_of_ms(low_ms));
  measured.high_ns = std::max(measured.high_ns, ns_of_ms(high_ms));
}

// Ignores lines of other forms.
void add_line(std::string_view line, const std::string& trace, Measured& measured) {
  const nlohmann::json run = parsed_json(line);
  if (!run.is_object() || !run.contains("trace") || !run["trace"].is_string()) return;
  if (!is_of(run["trace"].get<std::string>(), trace)) return;
  const auto latency = run.find("latency");
  if (latency == run.end() || !latency->is_object() || !latency->contains("p50_ms")) return;
  const nlohmann::json& median = (*latency)["p50_ms"];
  if (!median.is_number()) return;
  measured.unmarked += run.contains("repeat") ? 0 : 1;
  const double ms = median.get<double>();
  add(ms, ms, ms, measured);
}

Result<Measured> read_table(const std::string& text, const std::string& file,
                            const std::string& trace) {
  ASSAY_TRY_ASSIGN(const CsvTable table, parse_csv_table(text, file));
  const int name = table.column("trace");
  const int middle = table.column("untraced_ms");
  if (name < 0 || middle < 0) {
    return csv_error_at(file, 1, "needs the columns trace and untraced_ms, or lines of runs.jsonl");
  }
  const int low = table.column("untraced_low_ms");
  const int high = table.column("untraced_high_ms");
  Measured measured;
  for (size_t i = 0; i < table.rows.size(); ++i) {
    const std::vector<std::string>& row = table.rows[i];
    if (!is_of(row[static_cast<size_t>(name)], trace)) continue;
    const auto number = [&row](int column, double otherwise) {
      double value = otherwise;
      return column >= 0 && parse_double(row[static_cast<size_t>(column)], value) ? value
                                                                                   : otherwise;
    };
    const double ms = number(middle, -1);
    if (!(ms > 0)) return csv_error_at(file, table.line[i], "untraced_ms is not a time above 0");
    add(ms, number(low, ms), number(high, ms), measured);
  }
  return measured;
}

Error argument_error(std::string message, const std::string& file = "") {
  return {ErrorCode::kInvalidArgument, std::move(message), file, -1};
}

}  // namespace

Result<UntracedTime> parse_untraced_time(std::string_view text) {
  struct Unit {
    std::string_view name;
    double ns;
  };
  constexpr Unit kUnits[] = {{"ms", 1e6}, {"us", 1e3}, {"s", 1e9}};
  for (const Unit& unit : kUnits) {
    if (!text.ends_with(unit.name)) continue;
    double value = 0;
    const std::string_view number = text.substr(0, text.size() - unit.name.size());
    if (!parse_double(number, value) || !(value > 0) || value * unit.ns > 1e15) break;
    const auto ns = static_cast<int64_t>(std::llround(value * unit.ns));
    return UntracedTime{ns, ns, ns};
  }
  double value = 0;
  if (parse_double(text, value)) {
    return argument_error("--untraced " + std::string(text) + " has no unit: " +
                          std::string(text) + "ms, s or us");
  }
  return argument_error("--untraced takes the time of one iteration (6.11ms), a file or none, not '" +
                        std::string(text) + "'");
}

Result<UntracedTime> read_untraced_time(const std::string& file, const std::string& trace) {
  ASSAY_TRY_ASSIGN(const std::string text, read_text_file(file));
  Measured measured;
  if (text.find_first_not_of(" \t\r\n") != std::string::npos &&
      text[text.find_first_not_of(" \t\r\n")] == '{') {
    for (std::string_view rest = text; !rest.empty();) {
      const size_t end = std::min(rest.find('\n'), rest.size());
      add_line(rest.substr(0, end), trace, measured);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    if (measured.ns.size() > 1 && measured.unmarked > 0) {
      return argument_error(std::to_string(measured.ns.size()) + " lines are of " +
                                file_name(trace) + ": delete the old ones, or mark all with \"repeat\"",
                            file);
    }
  } else {
    ASSAY_TRY_ASSIGN(measured, read_table(text, file, trace));
  }
  if (measured.ns.empty()) {
    return argument_error("has no time of " + file_name(trace), file);
  }
  const int64_t middle_ns = median_ns(measured.ns);
  const auto [least, most] = std::minmax_element(measured.ns.begin(), measured.ns.end());
  return UntracedTime{middle_ns, std::min(measured.low_ns, *least),
                      std::max(measured.high_ns, *most)};
}

std::string runs_beside(const std::string& trace) {
  if (trace == "-") return "";
  const std::string folder = folder_of(trace);
  const std::string file = (folder.empty() ? "" : folder + "/") + "runs.jsonl";
  return is_regular_file(file) ? file : "";
}

}  // namespace assay
