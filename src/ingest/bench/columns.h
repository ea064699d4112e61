#pragma once

// Which column or key of a benchmark's output means what, in which unit, and what one cell of it
// says. Shared by the readers of benchmark tables.

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

// A column: its place and what one unit of its numbers is in the record's unit.
struct BenchColumn {
  int column = -1;
  double factor = 1;
  bool per_device = false;    // to be multiplied by the row's devices
  bool per_sequence = false;  // by its batch size
};

// Role and unit from a title alone: "Latency (ms)" is latency with factor 0.001.
struct TitleMeaning {
  BenchRole role = BenchRole::kHardware;
  double factor = 1;
  bool per_device = false;
};
std::optional<TitleMeaning> meaning_of_title(const std::string& title);
// Interpretation of a column with a role from the user and a unit from its title. Throughput in
// requests has the role of requests. Fails if the unit cannot be converted.
struct MappedColumn {
  BenchRole role = BenchRole::kHardware;
  BenchColumn column;  // without its place
};
Result<MappedColumn> mapped_column(BenchRole role, const std::string& title);
bool names_unit(BenchRole role, const std::string& title);
// The unit that a title of a known role names; 1 without one.
double unit_of_title(BenchRole role, const std::string& title);

// A number as people write it: "1,234.5", "46.19 W", "12 ms". With a unit of another kind than the
// role's, it is not a number.
struct CellNumber {
  double value = 0;  // in the record's unit
  bool had_unit = false;
};
std::optional<CellNumber> parse_cell(const std::string& text, BenchRole role, double factor);

// Puts a value where its role belongs. Lengths go to both sides.
void set_number(BenchRow& row, BenchRole role, double value);
void set_text(BenchRow& row, BenchRole role, const std::string& text);

// Counts of irregularities by code, in the order of their first occurrence.
class OddityLog {
 public:
  // A loss where the row was dropped.
  void note(std::string_view code, int64_t line, bool dropped, std::string_view effect);
  void warn(std::string_view code, int64_t line, bool dropped, std::string_view effect);
  void merge_into(std::vector<BenchOddity>& oddities);

 private:
  std::vector<BenchOddity> oddities_;
};

// Applies the role values of --constants to every row without them. Fails on wrong roles and on
// text for a number.
Status apply_meta(const std::vector<std::pair<std::string, std::string>>& meta, BenchTable& table);

}  // namespace assay
