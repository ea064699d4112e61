#include "answers/throughput/bench.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <map>
#include <set>

#include "ingest/bench/table.h"
#include "throughput/dataset.h"

namespace assay {
namespace {

// Takes minutes on one core and less than 3 GB of memory.
constexpr size_t kRowsWithoutAsking = 6000;
// Number of rows x rows matrices of doubles that a fit holds at once. Measured: 0.67 GB for 3,000
// rows.
constexpr double kMatrices = 9;
constexpr double kMemoryShare = 0.8;

// Rejects a fit that exceeds the memory, because it could take down the machine.
Status check_memory(size_t rows) {
  const double need_gb =
      kMatrices * 8 * static_cast<double>(rows) * static_cast<double>(rows) / 1e9;
  const double have_gb = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) *
                         static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1e9;
  if (have_gb <= 0 || need_gb <= kMemoryShare * have_gb) return Ok{};
  const double fits = std::sqrt(kMemoryShare * have_gb * 1e9 / 8 / kMatrices);
  return Error{
      ErrorCode::kInvalidArgument,
      fmt::format("{} rows would take about {:.0f} GB, and this machine has {:.0f}: --max-rows "
                  "{:.0f} is the most that fits",
                  rows, need_gb, have_gb, std::floor(fits / 100) * 100),
      "", -1};
}

// Tables name one device "h100_sxm", "H100 80GB" and "Nvidia H100 GPU". Rows of the same device
// according to the specifications get the name in the first of these rows.
void unify_hardware(const FactBook& facts, BenchTable& table) {
  FactLookup lookup(facts);
  std::map<const HardwareFacts*, std::string> name_of;
  for (BenchRow& row : table.rows) {
    const HardwareFacts* device = lookup.hardware(row.hardware);
    if (device == nullptr) continue;
    const std::string& name = name_of.emplace(device, row.hardware).first->second;
    if (name == row.hardware) continue;
    count_oddity(table.oddities, "hardware_spelled", row.line, false,
                 "read as the device '" + name + "' of other rows, its name in the specifications",
                 OddityWeight::kNote);
    row.hardware = name;
  }
}

Result<BenchTable> read_tables(const BenchRequest& request, const std::string* text) {
  ASSAY_TRY_ASSIGN(const BenchReadOptions options,
                   parse_bench_options(request.maps, request.metas));
  return text != nullptr ? bench_table_of_text(*text, request.tables.front(), options)
                         : read_bench_tables(request.tables, options);
}

}  // namespace

FactNames names_in(const std::vector<BenchRow>& rows) {
  std::set<std::string> models;
  std::set<std::string> devices;
  for (const BenchRow& row : rows) {
    models.insert(row.model);
    devices.insert(row.hardware);
  }
  return {{models.begin(), models.end()}, {devices.begin(), devices.end()}, true};
}

void note_unused_facts(const FactBook& facts, const std::string& path,
                       const std::vector<BenchRow>& rows, const std::vector<BenchRow>& asked,
                       std::vector<BenchOddity>& oddities) {
  FactNames names = names_in(rows);
  const FactNames more = names_in(asked);
  names.models.insert(names.models.end(), more.models.begin(), more.models.end());
  names.devices.insert(names.devices.end(), more.devices.begin(), more.devices.end());
  if (const auto note = unused_facts(facts, path, names))
    oddities.push_back({.code = note->code, .rows = note->count, .effect = note->meaning});
}

std::string name_of(const BenchRequest& request) {
  const std::string more = request.tables.size() > 1
                               ? " and " + std::to_string(request.tables.size() - 1) + " more"
                               : "";
  return request.tables.front() + more;
}

Result<LoadedBench> load_bench(const BenchRequest& request, const std::string* text,
                               EngineSpellings* spellings) {
  ASSAY_TRY_ASSIGN(FactBook facts, load_facts(request.facts));
  ASSAY_TRY_ASSIGN(BenchTable table, read_tables(request, text));
  if (spellings != nullptr) spellings->unify(table);
  unify_hardware(facts, table);
  const UntoldPrecision untold = untold_precision(table);
  ASSAY_TRY_ASSIGN(ThroughputData data,
                   make_throughput_data(table, least_latency_by_facts(facts, untold),
                                        request.rows.value_or(kRowsWithoutAsking)));
  ASSAY_TRY(check_memory(data.rows.size()));
  note_precision(facts, untold, data);
  return LoadedBench{std::move(facts), std::move(table), std::move(data)};
}

}  // namespace assay
