#include "ingest/bench/optimum.h"

#include <algorithm>
#include <cmath>

#include "ingest/bench/variant.h"

namespace assay {
namespace {

// Parses "['Tesla T4', 'Tesla T4']" of Python and ["Tesla T4"] of JSON.
std::vector<std::string> names_in(const std::string& list) {
  std::vector<std::string> names;
  for (size_t at = 0; at < list.size(); ++at) {
    const char quote = list[at];
    if (quote != '\'' && quote != '"') continue;
    const size_t end = list.find(quote, at + 1);
    if (end == std::string::npos) break;
    names.push_back(list.substr(at + 1, end - at - 1));
    at = end;
  }
  if (names.empty() && !list.empty() && list != "[]") names.push_back(list);
  return names;
}

void name_device(const BenchField& field, BenchRow& row) {
  if (lower_trimmed(field("config.backend.device")) == "cpu") {
    row.hardware = std::string(field("config.environment.cpu"));
    row.hardware.erase(0, row.hardware.find_first_not_of(' '));
    return;
  }
  const std::vector<std::string> gpus = names_in(field("config.environment.gpu"));
  if (gpus.empty()) return;
  row.hardware = gpus.front();
  // "0,1": the used devices among all of the machine.
  const std::string ids = field("config.backend.device_ids");
  const bool told = !ids.empty() && ids != "null";
  row.devices = told ? 1 + static_cast<double>(std::count(ids.begin(), ids.end(), ','))
                     : static_cast<double>(gpus.size());
}

BenchVariant variant_in(const BenchField& field, double devices) {
  VariantParts parts;
  for (const char* path : {"config.backend.torch_dtype", "config.backend.quantization_scheme"}) {
    const std::string word = field(path);
    if (!word.empty() && word != "null") parts.add(VariantPart::kPlain, word);
  }
  // The leaderboard's names contain the quantisation and kernels: "4bit-awq-gemv-sdpa".
  const std::string name = field("config.name");
  if (!name.empty()) parts.add(VariantPart::kPlain, name);
  const std::string version = field("config.backend.version");
  if (!version.empty() && version != "null") parts.add(VariantPart::kVersion, version);
  return parts.variant(devices);
}

}  // namespace

void add_optimum_run(const BenchField& field, int64_t line, BenchTable& table, OddityLog& log) {
  table.format = "optimum-benchmark";
  const double prefill_s = number_at(field, "report.prefill.latency.mean");
  const double decode_s = number_at(field, "report.decode.latency.mean");
  if (!(prefill_s > 0) || !(decode_s > 0)) {
    log.note("run_without_report", line, true,
             "dropped: no prefill and decode latency, as of runs that failed");
    return;
  }
  for (const char* path : {"report.prefill.latency.unit", "report.decode.latency.unit"}) {
    const std::string unit = field(path);
    if (unit.empty() || unit == "s") continue;
    log.note("unit_unknown", line, true, "dropped: a latency in another unit than seconds");
    return;
  }
  BenchRow row;
  row.line = line;
  row.framework = field("config.backend.name");
  row.model = field("config.backend.model");
  row.in_len = number_at(field, "config.scenario.input_shapes.sequence_length");
  row.batch = number_at(field, "config.scenario.input_shapes.batch_size");
  row.out_len = number_at(field, "config.scenario.generate_kwargs.max_new_tokens");
  name_device(field, row);
  row.variant = variant_in(field, row.devices);
  row.ttft_ms = 1000 * prefill_s;
  // Prefill makes the first token: decoding makes 63 of 64 tokens, consistent with its throughput.
  if (row.out_len > 1) row.tpot_ms = 1000 * decode_s / (row.out_len - 1);
  row.latency_s = prefill_s + decode_s;
  row.tokens_per_s = (row.in_len + row.out_len) * row.batch / row.latency_s;
  row.output_tokens_per_s = row.out_len * row.batch / row.latency_s;
  const double stated = number_at(field, "report.decode.throughput.value");
  const double counted = row.batch * (row.out_len - 1) / decode_s;
  constexpr double kTolerance = 0.02;
  if (stated > 0 && std::abs(stated / counted - 1) > kTolerance) {
    log.note("identity_failed", line, false,
             "the stated decode throughput is not batch x (tokens - 1) over its latency: worked "
             "out from the latencies");
  }
  table.rows.push_back(std::move(row));
}

bool is_optimum_csv(const std::vector<CsvRecord>& records) {
  return has_titles(records, {"config.backend.model", "report.prefill.latency.mean"});
}

Result<BenchTable> bench_table_of_optimum_csv(const std::vector<CsvRecord>& records) {
  BenchTable table;
  OddityLog log;
  for_each_titled(records, [&](const BenchField& field, int64_t line) {
    add_optimum_run(field, line, table, log);
  });
  log.merge_into(table.oddities);
  if (table.rows.empty()) {
    return Error{ErrorCode::kFormat, "no run with a prefill and a decode latency in this file", "",
                 -1};
  }
  return table;
}

}  // namespace assay
