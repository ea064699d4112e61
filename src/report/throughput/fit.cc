#include "report/throughput/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "report/throughput/charts.h"
#include "report/throughput/evaluate.h"
#include "report/throughput/results.h"
#include "throughput/dataset.h"

namespace assay {
namespace {

// "all rows have batch 8" as a sentence.
std::string sentence(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] -= 'a' - 'A';
  return text + ".";
}

std::string counted(size_t count) { return format_count(static_cast<int64_t>(count)); }

// The scale of one Gaussian process for one kind of held-out data.
struct ProcessScale {
  const char* process;
  HeldOut kind;
  const ConformalScale& is;
};

std::vector<ProcessScale> scales_of(const Predictor& predictor) {
  std::vector<ProcessScale> all;
  const auto add = [&all](const char* process, const ConformalScales* scales) {
    if (scales == nullptr) return;
    for (const HeldOut kind : kAllHeldOut) {
      all.push_back({process, kind, (*scales)[static_cast<size_t>(kind)]});
    }
  };
  add("gp on physics", predictor.physics_scales());
  add("gp without physics", predictor.plain_scales());
  return all;
}

Table scales_table(const std::vector<ProcessScale>& scales) {
  using Scale = ProcessScale;
  const auto if_blended = [](double ConformalScale::* field) {
    return [field](const Scale& s) { return s.is.fit_weight > 0 ? Value(s.is.*field) : Value(); };
  };
  TableOf table(scales,
                {.key = "scales",
                 .title = "Intervals: what 90 % takes, in standard deviations of the process",
                 .terminal_limit = 0});
  table.add(keys::process, &Scale::process)
      .add(keys::question, [](const Scale& s) { return held_out_name(s.kind); })
      .add(keys::scale, [](const Scale& s) { return s.is.scale; })
      .add(keys::residuals, [](const Scale& s) { return s.is.residuals; })
      .add(keys::measured, [](const Scale& s) { return s.is.measured; })
      .add(keys::fit_weight, if_blended(&ConformalScale::fit_weight))
      .add(keys::blended_scale, if_blended(&ConformalScale::blended_scale));
  return table;
}

Table pair_scales_table(const std::vector<ProcessScale>& scales) {
  struct PairScale {
    const ProcessScale& of;
    std::string pair;
    double scale;
  };
  std::vector<PairScale> pairs;
  for (const ProcessScale& of : scales) {
    for (const auto& [pair, scale] : of.is.of_pair) pairs.push_back({of, pair, scale});
  }
  TableOf table(pairs, {.key = "pair_scales", .show = Show::kDataOnly});
  table.add(keys::process, [](const PairScale& p) { return p.of.process; })
      .add(keys::question, [](const PairScale& p) { return held_out_name(p.of.kind); })
      .add(keys::group, &PairScale::pair)
      .add(keys::scale, &PairScale::scale);
  return table;
}

// "hardware|framework", without missing names.
std::string group_text(const std::string& name) {
  if (name == "|") return "all rows";
  if (name.front() == '|') return name.substr(1);
  return name.back() == '|' ? name.substr(0, name.size() - 1) : name;
}

Table left_out_table(const std::vector<FitGroup>& groups, const std::string& of_rows) {
  TableOf table(groups, {.key = "left_out",
                         .title = "Missed when one length pair at a time is left out" + of_rows,
                         .terminal_limit = 30});
  table.add(
           keys::group, [](const FitGroup& g) { return group_text(g.name); }, elastic())
      .add(keys::rows, &FitGroup::rows)
      .add(keys::median_ape, &FitGroup::median_ape)
      .add(keys::p90_ape, &FitGroup::p90_ape);
  return table;
}

Table confidence_table(const std::vector<ConfidenceBin>& bins, const std::string& of_rows) {
  TableOf table(bins,
                {.key = "confidence",
                 .title = "Predicted width against true error, narrowest rows first" + of_rows,
                 .terminal_limit = 0});
  table.add(keys::rows, &ConfidenceBin::rows)
      .add(keys::half_width90, &ConfidenceBin::half_width90)
      .add(keys::median_ape, &ConfidenceBin::median_ape)
      .add(keys::coverage90, &ConfidenceBin::coverage90);
  return table;
}

bool is_calibrated(const Predictor& predictor) {
  const ConformalScales* scales =
      predictor.physics_scales() != nullptr ? predictor.physics_scales() : predictor.plain_scales();
  return scales == nullptr || (*scales)[static_cast<size_t>(HeldOut::kRow)].measured;
}

// Caveats on the rows that do not depend on the method.
void note_rows(const ThroughputFit& fit, NoteList& notes) {
  const std::vector<BenchRow>& rows = fit.data.rows;
  std::set<double> batches;
  std::set<double> rates;
  for (const BenchRow& row : rows) {
    batches.insert(row.batch);
    rates.insert(row.tokens_per_s);
  }
  if (rows.size() > 1 && rates.size() == 1) {
    notes.add(
        "constant_throughput", rows.size(), 0, "tokens_per_s,low90,high90",
        "all rows have the same throughput: nothing can be learnt of batch sizes and lengths, "
        "and the table may be a placeholder");
  }
  if (batches.size() == 1) {
    notes.add("one_batch_size", rows.size(), 0, "tokens_per_s,low90,high90",
              fmt::format("all rows have batch {:g}: what other batch sizes do is not in the table",
                          *batches.begin()));
  }
}

// Appends irregularities of the rows to the caveats of the training.
TrustNotes with_oddities(TrustNotes notes, const ThroughputFit& fit) {
  for (TrustNote& note : bench_trust(fit.data.oddities)) notes.push_back(std::move(note));
  return notes;
}

// Only caveats of the training: irregularities of the table are in the import log, and warnings
// have their own sentences.
TrustNotes learning_trust(const ThroughputFit& fit, const Predictor& predictor) {
  NoteList notes;
  const size_t rows = predictor.rows().size();
  const size_t without = rows - predictor.rows_with_facts();
  constexpr const char* kAll = "tokens_per_s,low90,high90";
  if (without == rows) {
    notes.add("no_physics", rows, 0, kAll,
              fit.options.physics
                  ? "without an analytical model, as specifications are unknown: intervals are "
                    "wider, other models and devices unknown (--specs FILE)"
                  : "without an analytical model, as requested: intervals are wider, and other "
                    "models or devices are unknown");
  } else {
    notes.add("no_physics", without, 0, kAll,
              fmt::format("{} rows are of models or devices without facts: points like them are "
                          "predicted without physics",
                          counted(without)));
  }
  if (!is_calibrated(predictor)) {
    notes.add("intervals_not_calibrated", rows, 0, "low90,high90",
              "too few rows to measure how wide 90 % is: intervals are assumed, not calibrated");
  }
  note_rows(fit, notes);
  return notes.take();
}

TrustNotes ala_learning_trust(const ThroughputFit& fit) {
  const ThroughputData learnt = feasible_rows(fit.data);
  NoteList notes;
  notes.add("no_intervals", learnt.rows.size(), 0, "tokens_per_s",
            "ALA has no intervals: assay throughput evaluate TABLE --method ala measures its error "
            "on held-out rows");
  std::map<uint32_t, size_t> points;
  for (const uint32_t group : learnt.group) ++points[group];
  const auto few = std::count_if(points.begin(), points.end(),
                                 [](const auto& group) { return group.second < 3; });
  notes.add("few_points", static_cast<uint64_t>(few), 0, "tokens_per_s,fits",
            fmt::format("{} groups have fewer than three batch sizes: many curves go through them, "
                        "and which one was taken is arbitrary",
                        few));
  note_rows(fit, notes);
  return notes.take();
}

}  // namespace

std::vector<Block> fitted_table_blocks(const ThroughputFit& fit) {
  return bench_table_blocks({fit.source, fit.format, {}, {}}, fit.data);
}

Section throughput_fit_section(const ThroughputFit& fit, const Predictor& predictor) {
  Section section{.key = "throughput", .title = "Throughput model", .blocks = {}};
  const std::vector<std::string> unknown = predictor.unknown_names();
  const char* process = predictor.rows_with_facts() > 0
                            ? "a Gaussian process on a physics base"
                            : "a Gaussian process on lengths, batch and names";
  section.blocks.push_back(
      Facts{.items = {fact(keys::method, "assay", process),
                      fact(keys::fitted_rows, predictor.rows().size()),
                      fact(keys::rows_with_specs, predictor.rows_with_facts()),
                      fact(keys::unknown_names, unknown.empty() ? Value() : Value(unknown))}});
  for (Block& block : fitted_table_blocks(fit)) section.blocks.push_back(std::move(block));
  // If only some rows have specifications, the process trained on these is evaluated.
  const size_t with_facts = predictor.rows_with_facts();
  const std::string of_rows =
      with_facts > 0 && with_facts < predictor.rows().size() ? " (rows with facts)" : "";
  section.blocks.push_back(left_out_table(predictor.groups(), of_rows));
  const std::vector<ConfidenceBin> confidence = predictor.confidence();
  section.blocks.push_back(confidence_table(confidence, of_rows));
  for (Block& block : confidence_charts(confidence)) section.blocks.push_back(std::move(block));
  const std::vector<ProcessScale> scales = scales_of(predictor);
  section.blocks.push_back(scales_table(scales));
  section.blocks.push_back(pair_scales_table(scales));
  const ThroughputData feasible = feasible_rows(fit.data);
  for (Block& block : saturation_blocks(feasible, fit_groups(feasible)))
    section.blocks.push_back(std::move(block));
  return section;
}

std::vector<std::string> throughput_fit_words(const ThroughputFit& fit,
                                              const Predictor& predictor) {
  const size_t rows = predictor.rows().size();
  std::vector<std::string> words = {fmt::format(
      "Learnt from {} of {} usable rows in {}.", counted(rows), counted(fit.data.rows.size()),
      fit.data.config_names.size() == 1
          ? std::string("one configuration")
          : fmt::format("{} configurations", fit.data.config_names.size()))};
  for (const TrustNote& note : learning_trust(fit, predictor))
    words.push_back(sentence(note.effect));
  return words;
}

TrustNotes throughput_trust(const ThroughputFit& fit, const Predictor& predictor) {
  return with_oddities(learning_trust(fit, predictor), fit);
}

Section ala_fit_section(const ThroughputFit& fit, const AlaPredictor& ala) {
  Section section{.key = "throughput", .title = "Throughput model", .blocks = {}};
  section.blocks.push_back(Facts{
      .items = {fact(keys::method, "ala", "curves over the batch size, trees for other lengths"),
                fact(keys::fitted_rows, ala.data().rows.size())}});
  for (Block& block : fitted_table_blocks(fit)) section.blocks.push_back(std::move(block));
  for (Block& block : saturation_blocks(ala.data(), ala.fits())) {
    if (Table* table = std::get_if<Table>(&block)) table->show = Show::kEverywhere;
    section.blocks.push_back(std::move(block));
  }
  return section;
}

std::vector<std::string> ala_fit_words(const ThroughputFit& fit, const AlaPredictor& ala) {
  std::vector<std::string> words = {
      fmt::format("A curve over the batch size for each of {} groups (configuration and lengths), "
                  "from {} rows.",
                  counted(ala.fits().size()), counted(ala.data().rows.size()))};
  for (const TrustNote& note : ala_learning_trust(fit)) words.push_back(sentence(note.effect));
  return words;
}

TrustNotes ala_trust(const ThroughputFit& fit) {
  return with_oddities(ala_learning_trust(fit), fit);
}

TrustNotes prediction_trust(const ThroughputAnswers& answers) {
  size_t outside = 0;
  size_t silent = 0;
  size_t assumed = 0;
  size_t wide = 0;
  for (const PredictedPoint& p : answers.points) {
    assumed += std::isfinite(p.explained.prediction.low90) && !p.explained.measured;
    outside += p.explained.prediction.status == PredictionStatus::kOutside;
    silent += p.explained.prediction.status == PredictionStatus::kNoAnswer;
    wide += p.explained.prediction.status == PredictionStatus::kWide;
  }
  NoteList notes;
  notes.add("outside_points", outside, 0, "tokens_per_s,low90,high90",
            "these points are outside the range of the data; each has its reasons");
  notes.add(
      "assumed_intervals", assumed, 0, "low90,high90",
      "these intervals are assumed, not measured: too few rows are like the question, or none "
      "is; each point says which it is");
  notes.add("wide_points", wide, 0, "tokens_per_s",
            "these intervals reach beyond twice the estimate: the range says something, the number "
            "alone does not");
  notes.add("unanswered_points", silent, 0, "tokens_per_s", "these points have no answer");
  return notes.take();
}

}  // namespace assay
