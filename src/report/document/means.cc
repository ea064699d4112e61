#include "report/document/means.h"

#include <cmath>

#include "report/document/results.h"

namespace assay {
namespace {

double low_of(const MeanOf& m) { return !m.is_signed && m.mean.low < 0 ? 0.0 : m.mean.low; }

Value value_of(const MeanOf& m, double v) {
  return m.what.unit == Unit::kNanoseconds ? whole_ns(v) : Value(v);
}

Value text_of(const MeanOf& m, double v) {
  const bool whole = m.what.unit == Unit::kCount && v == std::round(v);
  return whole ? format_count(std::llround(v)) : format_value(value_of(m, v), m.what.unit);
}

}  // namespace

Table means_table(const std::vector<MeanOf>& means, size_t terminal_limit) {
  const Look text(Show::kReadersOnly, false, Align::kRight);
  TableOf table(means, {.key = "means",
                        .title = "Mean over iterations, 95 % interval",
                        .terminal_limit = terminal_limit});
  table.add(
           keys::metric, [](const MeanOf& m) { return m.what.key; }, Show::kDataOnly)
      .add(
          keys::mean, [](const MeanOf& m) { return value_of(m, m.mean.mean); }, Show::kDataOnly)
      .add(
          keys::low95, [](const MeanOf& m) { return value_of(m, low_of(m)); }, Show::kDataOnly)
      .add(
          keys::high95, [](const MeanOf& m) { return value_of(m, m.mean.high); }, Show::kDataOnly)
      .add(
          keys::n, [](const MeanOf& m) { return m.mean.n; }, Show::kDataOnly)
      .add(
          keys::metric_name, [](const MeanOf& m) { return m.what.title; }, Show::kReadersOnly)
      .add(
          keys::mean_text, [](const MeanOf& m) { return text_of(m, m.mean.mean); }, text)
      .add(
          keys::low_text, [](const MeanOf& m) { return text_of(m, low_of(m)); }, text)
      .add(keys::high_text, [](const MeanOf& m) { return text_of(m, m.mean.high); }, text);
  return table;
}

}  // namespace assay
