#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "answers/answer.h"
#include "answers/throughput/plan_files.h"
#include "answers/throughput/throughput.h"
#include "base/decimal.h"
#include "ingest/text/csv_table.h"
#include "report/run/section.h"
#include "report/throughput/evaluate.h"
#include "report/throughput/plan.h"
#include "throughput/dataset.h"

namespace assay {
namespace {

Error missing(const char* what) {
  return Error{ErrorCode::kInvalidArgument, std::string("how much? ") + what, "", -1};
}

// Fallback without a price list: the GPUs in the table.
std::vector<GpuOffer> offers_of_table(const std::vector<BenchRow>& rows, const FactBook& facts) {
  std::vector<GpuOffer> offers;
  std::set<std::string> seen;
  FactLookup lookup(facts);
  for (const BenchRow& row : rows) {
    if (!teaches_latency(row, lookup)) continue;
    if (seen.insert(lookup.hardware(row.hardware)->name).second) {
      GpuOffer offer;
      offer.name = row.hardware;
      offers.push_back(std::move(offer));
    }
  }
  std::sort(offers.begin(), offers.end(),
            [](const GpuOffer& a, const GpuOffer& b) { return a.name < b.name; });
  return offers;
}

PlanRank rank_of(const std::string& word) {
  if (word == "gpu") return PlanRank::kGpu;
  if (word == "joule") return PlanRank::kJoule;
  return word == "user" ? PlanRank::kUser : PlanRank::kDollar;
}

Result<PlanQuestion> question_of(const PlanRequest& request, const std::vector<BenchRow>& rows,
                                 const FactBook& facts, std::vector<std::string>& words) {
  PlanQuestion out;
  out.model = request.model;
  out.variation = request.burstiness.value_or(1);
  std::optional<double> in_len = request.in_len;
  std::optional<double> out_len = request.out_len;
  std::optional<double> per_s = request.per_s;
  if (!request.requests.empty()) {
    ASSAY_TRY_ASSIGN(const RequestTrace arrivals, read_request_trace(request.requests));
    if (!in_len) in_len = std::round(arrivals.in_len);
    if (!out_len) out_len = std::round(arrivals.out_len);
    if (!per_s) per_s = arrivals.busy_per_s;
    if (!request.burstiness) out.variation = std::max(1.0, arrivals.variation);
    words.push_back(fmt::format(
        "{} requests of {}: {:.0f} + {:.0f} tokens in the mean, {} a second, {} in the minute that "
        "95 % do not exceed.",
        arrivals.requests, request.requests, arrivals.in_len, arrivals.out_len,
        rounded_text(arrivals.mean_per_s, 3), rounded_text(arrivals.busy_per_s, 3)));
  }
  if (!in_len || !out_len) return missing("--isl and --osl, or --requests FILE");
  if (!per_s) return missing("--rate (requests per second), or --requests FILE");
  out.in_len = *in_len;
  out.out_len = *out_len;
  out.per_s = *per_s;
  out.ttft_ms = request.ttft_ms;
  out.tpot_ms = request.tpot_ms;
  out.percentile = request.percentile;
  out.confidence = request.confidence;
  out.engines = request.engines;
  out.precisions = request.precisions;
  out.version = request.version;
  out.max_gpus = request.max_gpus;
  out.measured_only = request.measured_only;
  out.rank = rank_of(request.rank);
  if (request.prices.empty()) {
    out.offers = offers_of_table(rows, facts);
  } else {
    ASSAY_TRY_ASSIGN(out.offers, read_prices(request.prices));
  }
  return out;
}

Result<LatencyModel> fit_latencies(const PlanRequest& request, const std::vector<BenchRow>& rows,
                                   const FactBook& facts) {
  request.listener.tell_step("latencies: learning");
  ASSAY_TRY_ASSIGN(LatencyModel model, LatencyModel::fit(rows, facts));
  if (!request.refit) return model;
  request.listener.tell_step("latencies: searching for parameters");
  ASSAY_TRY_ASSIGN(const LatencyOptions found, model.refit());
  return LatencyModel::fit(rows, facts, found);
}

// Import log reduced to a few lines so that the answer fits a screen; details are in `oddities`.
std::vector<ImportNote> short_log(const LoadedBench& bench) {
  uint64_t dropped = 0;
  uint64_t odd = 0;
  for (const BenchOddity& oddity : all_oddities(bench.table, bench.data)) {
    dropped += oddity.dropped;
    odd += oddity.rows;
  }
  if (odd == 0) return {};
  const std::vector<ImportNote> notes = bench_import_notes(bench.table, bench.data);
  return {{.code = dropped > 0 ? "rows_left_out" : "rows_with_notes",
           .severity = has_losses(notes) ? "data_loss" : "info",
           .count = dropped > 0 ? dropped : odd,
           .meaning = "--format json says why"}};
}

// Note on specifications of the user's file that the plan does not use.
std::optional<ImportNote> unused_facts_of(const PlanRequest& request, const LoadedBench& bench,
                                          const PlanQuestion& question) {
  FactNames names = names_in(bench.data.rows);
  names.models.push_back(question.model);
  for (const GpuOffer& offer : question.offers) names.devices.push_back(offer.name);
  return unused_facts(bench.facts, request.bench.facts, names);
}

// The rows that were left out; for JSON.
Section oddities_section(const LoadedBench& bench) {
  Section section{.key = "throughput", .title = ""};
  for (Block& block : bench_table_blocks(bench.table, bench.data)) {
    std::visit([](auto& is) { is.show = Show::kDataOnly; }, block);
    section.blocks.push_back(std::move(block));
  }
  return section;
}

}  // namespace

Result<Answer> answer_plan(const PlanRequest& request) {
  ASSAY_TRY_ASSIGN(const LoadedBench bench, load_bench(request.bench));
  const std::vector<BenchRow> rows = feasible_rows(bench.data).rows;
  Answer answer{new_document("Throughput: what to rent"), false};
  Document& document = answer.document;
  std::vector<std::string> trace_words;
  ASSAY_TRY_ASSIGN(const PlanQuestion question,
                   question_of(request, rows, bench.facts, trace_words));
  ASSAY_TRY_ASSIGN(const LatencyModel latencies, fit_latencies(request, rows, bench.facts));
  request.listener.tell_step("searching");
  auto plan = make_plan(latencies, rows, bench.facts, question);
  request.listener.tell_step("");
  if (!plan) return plan.take_error();
  const PlanReport report{question, *plan, latencies};
  document.inputs.push_back({bench.table.source, {}});
  document.verdict = plan_words(report);
  document.verdict.insert(document.verdict.end(), trace_words.begin(), trace_words.end());
  document.sections.push_back(plan_section(report));
  document.sections.push_back(oddities_section(bench));
  document.sections.push_back(trust_section(plan_trust(report)));
  document.import_log = short_log(bench);
  if (auto note = unused_facts_of(request, bench, question))
    document.import_log.push_back(*std::move(note));
  answer.data_lost = has_losses(document.import_log);
  return answer;
}

}  // namespace assay
