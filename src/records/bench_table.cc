#include "records/bench_table.h"

namespace assay {
namespace {

void add_statement(std::string& text, const std::string& statement) {
  if (statement.empty()) return;
  text += (text.empty() ? "" : ", ") + statement;
}

std::string layout_text(const ParallelLayout& layout) {
  std::string words;
  const auto add = [&words](const char* name, uint32_t size) {
    if (size <= 1) return;
    words += (words.empty() ? "" : " ") + std::string(name) + std::to_string(size);
  };
  add("tp", layout.tensor);
  add("pp", layout.pipeline);
  add("dp", layout.data);
  add("ep", layout.expert);
  return words.empty() ? "tp1" : words;
}

}  // namespace

std::string BenchVariant::text() const {
  std::string text = words;
  if (layout) add_statement(text, layout_text(*layout));
  add_statement(text, version);
  return text;
}

void settle_precision(BenchRow& row) { row.precision = precision_of(row.variant.words, row.model); }

std::string campaign_name(const BenchRow& row, const std::string& when) {
  return row.framework + "|" + row.variant.version + "|" + when;
}

void settle_campaign(BenchRow& row) {
  if (!row.campaign.empty() || (row.date.empty() && row.variant.version.empty())) return;
  row.campaign = campaign_name(row, row.date);
}

BenchRow unmeasured_like(const BenchRow& row) {
  BenchRow other;
  other.hardware = row.hardware;
  other.framework = row.framework;
  other.model = row.model;
  other.variant = row.variant;
  other.precision = row.precision;
  other.devices = row.devices;
  return other;
}

std::string_view oddity_weight_name(OddityWeight weight) {
  switch (weight) {
    case OddityWeight::kNote:
      return "note";
    case OddityWeight::kLoss:
      return "loss";
    case OddityWeight::kWarning:
      return "warning";
  }
  return "";
}

void count_oddity(std::vector<BenchOddity>& oddities, std::string_view code, int64_t line,
                  bool dropped, std::string_view effect, OddityWeight weight) {
  for (BenchOddity& oddity : oddities) {
    if (oddity.code != code) continue;
    ++oddity.rows;
    oddity.dropped += dropped;
    return;
  }
  oddities.push_back({std::string(code), 1, dropped ? 1U : 0U, line, std::string(effect), weight});
}

}  // namespace assay
