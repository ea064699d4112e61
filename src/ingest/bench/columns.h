#pragma once

// Maps the columns and keys of benchmark outputs to roles and units, and parses their cells. Shared
// by the readers of benchmark tables.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "records/bench_table.h"

namespace assay {

enum class BenchRole : uint8_t {
  kHardware,
  kDevices,
  kFramework,
  kModel,
  kVariant,
  kLength,  // input = output
  kInLen,
  kOutLen,
  kBatch,
  kLatency,
  kThroughput,
  kOutThroughput,
  kRequests,
  kRequestRate,
  kTtft,
  kTpot,
  kPower,
  kCampaign,
  kDate,
};
constexpr size_t kBenchRoles = 19;

bool is_text_role(BenchRole role);
std::string_view bench_role_name(BenchRole role);  // as in --columns and --constants: "bb"
std::optional<BenchRole> bench_role_by_name(const std::string& name);
std::string bench_role_names();  // "hardware, n, framework, ..."

// Position of a column, and the factor from its unit to that of BenchRow.
struct BenchColumn {
  int column = -1;
  double factor = 1;
  bool per_device = false;    // multiply by the row's number of devices
  bool per_sequence = false;  // multiply by the row's batch size
};

// Role and unit from a title alone: "Latency (ms)" is latency with factor 0.001.
struct TitleMeaning {
  BenchRole role = BenchRole::kHardware;
  double factor = 1;
  bool per_device = false;
};
std::optional<TitleMeaning> meaning_of_title(const std::string& title);
// A column with a role given by the user and the unit of its title. A throughput in requests
// becomes the role kRequests. Fails if the unit cannot be converted.
struct MappedColumn {
  BenchRole role = BenchRole::kHardware;
  BenchColumn column;  // without its position
};
Result<MappedColumn> mapped_column(BenchRole role, const std::string& title);
bool names_unit(BenchRole role, const std::string& title);
// Factor of the unit in the title of a column with a known role; 1 if the title has no unit.
double unit_of_title(BenchRole role, const std::string& title);

// Parses "1,234.5", "46.19 W" or "12 ms". nullopt if the text is not a number or has a unit that
// does not fit the role. factor: unit of numbers without a unit of their own.
struct CellNumber {
  double value = 0;  // in the unit of BenchRow
  bool had_unit = false;
};
std::optional<CellNumber> parse_cell(const std::string& text, BenchRole role, double factor);

// Set the field of a role. kLength sets the input and the output length.
void set_number(BenchRow& row, BenchRole role, double value);
void set_text(BenchRow& row, BenchRole role, const std::string& text);

// Counts irregularities by code, in the order of their first occurrence.
class OddityLog {
 public:
  // Counts with the weight kLoss if the row was dropped, else kNote. warn() uses kWarning.
  void note(std::string_view code, int64_t line, bool dropped, std::string_view effect);
  void warn(std::string_view code, int64_t line, bool dropped, std::string_view effect);
  void merge_into(std::vector<BenchOddity>& oddities);

 private:
  std::vector<BenchOddity> oddities_;
};

// Fills roles that a row lacks with the values of --constants. Fails on unknown roles and on text
// where a number is needed.
Status apply_meta(const std::vector<std::pair<std::string, std::string>>& meta, BenchTable& table);

}  // namespace assay
