#include "throughput/model_digests.h"

#include <simdjson.h>

#include <algorithm>
#include <cstdint>

#include "base/checksum.h"
#include "base/json_tree.h"
#include "throughput/packed_numbers.h"

namespace assay {
namespace {

using Json = nlohmann::ordered_json;
using Element = simdjson::dom::element;

// Start of the member. Unique in the text, because quotes inside JSON strings are escaped.
constexpr std::string_view kMember = ",\"digests\":{\"of\":\"";
constexpr std::string_view kSum = "\",\"sum\":\"";
constexpr std::string_view kBody = "\",";
constexpr std::string_view kFrameworks = ",\"frameworks\":";

// The lower triangle of a symmetric matrix, and back.
std::vector<double> triangle_of(const std::vector<double>& square, size_t n) {
  std::vector<double> out;
  for (size_t i = 0; i < n; ++i) out.insert(out.end(), &square[i * n], &square[i * n] + i + 1);
  return out;
}

std::vector<double> square_of(const std::vector<double>& triangle, size_t n) {
  std::vector<double> out(n * n);
  size_t at = 0;
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j <= i; ++j) out[i * n + j] = out[j * n + i] = triangle[at++];
  }
  return out;
}

Json digest_json(const ConfigDigest& digest) {
  Json shapes = Json::array();
  for (const ConfigDigest::Shape& s : digest.pivots)
    shapes.push_back({s.in_len, s.out_len, s.batch});
  return {{"row", digest.row},
          {"physics", digest.physics},
          {"shapes", std::move(shapes)},
          {"columns", digest.gp.columns},
          {"mean", packed(digest.gp.mean)},
          {"known", packed(triangle_of(digest.gp.known, digest.gp.columns.size()))}};
}

Json frameworks_json(const FrameworkSummary& summary) {
  Json frameworks = Json::array();
  for (const FrameworkSummary::Framework& framework : summary.frameworks)
    frameworks.push_back({{"row", framework.row}, {"told", packed(framework.told)}});
  return {{"pivots", summary.pivots},
          {"weights", packed(summary.weights)},
          {"told", std::move(frameworks)}};
}

std::string sum_of(std::string_view text) {
  return std::to_string(checksum(text.data(), text.size()));
}

size_t count_at(Element object, const char* name) {
  return static_cast<size_t>(object[name].get_uint64().value());
}

std::vector<size_t> counts_at(Element object, const char* name) {
  std::vector<size_t> out;
  for (Element value : object[name].get_array())
    out.push_back(static_cast<size_t>(value.get_uint64().value()));
  return out;
}

std::optional<std::vector<double>> numbers_at(Element object, const char* name) {
  return unpacked(object[name].get_string().value());
}

bool any_beyond(const std::vector<size_t>& places, size_t rows) {
  return std::any_of(places.begin(), places.end(), [rows](size_t row) { return row >= rows; });
}

// nullopt if the numbers are inconsistent.
std::optional<FrameworkSummary> frameworks_from(Element document, size_t rows) {
  FrameworkSummary summary;
  summary.pivots = counts_at(document, "pivots");
  auto weights = numbers_at(document, "weights");
  if (!weights || weights->size() > rows || summary.pivots.empty() ||
      any_beyond(summary.pivots, rows)) {
    return std::nullopt;
  }
  summary.weights = *std::move(weights);
  for (Element entry : document["told"].get_array()) {
    auto told = numbers_at(entry, "told");
    if (!told || told->size() % summary.pivots.size() != 0) return std::nullopt;
    summary.frameworks.push_back({count_at(entry, "row"), *std::move(told)});
  }
  return summary;
}

// nullopt if the numbers are inconsistent.
std::optional<ConfigDigest> digest_from(Element document, size_t rows) {
  ConfigDigest digest;
  digest.row = count_at(document, "row");
  digest.physics = document["physics"].get_bool().value();
  for (Element shape : document["shapes"].get_array()) {
    const auto number = [shape](size_t k) { return shape.at(k).get_double().value(); };
    digest.pivots.push_back({number(0), number(1), number(2)});
  }
  digest.gp.columns = counts_at(document, "columns");
  const size_t rank = digest.pivots.size();
  auto mean = numbers_at(document, "mean");
  const auto known = numbers_at(document, "known");
  if (rank == 0 || digest.gp.columns.size() != rank || digest.row >= rows ||
      any_beyond(digest.gp.columns, rows)) {
    return std::nullopt;
  }
  if (!mean || !known || mean->size() != rank || known->size() != rank * (rank + 1) / 2)
    return std::nullopt;
  digest.gp.mean = *std::move(mean);
  digest.gp.known = square_of(*known, rank);
  return digest;
}

// simdjson reports invalid accesses by exceptions, which become nullopt here.
template <typename Make>
auto parsed(std::string_view text, size_t rows, Make make) -> decltype(make(Element(), rows)) {
  try {
    simdjson::dom::parser parser;
    return make(parser.parse(text.data(), text.size()), rows);
  } catch (const simdjson::simdjson_error&) {
    return std::nullopt;
  }
}

// Row and process (true = with the analytical base) of each line.
std::optional<std::vector<std::pair<size_t, bool>>> index_in(std::string_view first_line) {
  const Json document = parsed_ordered_json("{" + std::string(first_line) + "]}");
  if (!document.is_object() || !document.contains("index")) return std::nullopt;
  std::vector<std::pair<size_t, bool>> index;
  for (const Json& entry : document["index"]) {
    const bool fine = entry.is_array() && entry.size() == 2 && entry[0].is_number_unsigned() &&
                      entry[1].is_boolean();
    if (!fine) return std::nullopt;
    index.emplace_back(entry[0].get<size_t>(), entry[1].get<bool>());
  }
  return index;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string_view without_comma(std::string_view line) {
  if (!line.empty() && line.back() == ',') line.remove_suffix(1);
  return line;
}

// Layout: "index":[...],"configs":[ then one line per digest, ], and the frameworks if there are
// any.
std::optional<std::string> read_body(const std::shared_ptr<const std::string>& text,
                                     std::string_view body, size_t rows,
                                     PredictorOptions& options) {
  const std::vector<std::string_view> lines = lines_of(body);
  const auto index = lines.empty() ? std::nullopt : index_in(lines.front());
  if (!index || lines.size() < index->size() + 2) return "another number of digests than stated";
  for (size_t k = 0; k < index->size(); ++k) {
    const auto [row, physics] = (*index)[k];
    const std::string_view line = without_comma(lines[k + 1]);
    // Captures `text`, because `line` points into it.
    const auto read = [text, line, rows] { return parsed(line, rows, digest_from); };
    options.digests.push_back({row, physics, read});
  }
  const std::string_view last = lines.back();
  if (last.substr(0, kFrameworks.size()) != kFrameworks) return std::nullopt;
  auto summary = parsed(last.substr(kFrameworks.size()), rows, frameworks_from);
  if (!summary) return "a summary of frameworks with inconsistent numbers";
  options.frameworks = std::make_shared<const FrameworkSummary>(*std::move(summary));
  return std::nullopt;
}

}  // namespace

std::string with_digests(const std::string& model, const std::vector<ConfigDigest>& digests,
                         const std::optional<FrameworkSummary>& frameworks) {
  if (digests.empty()) return model;
  Json index = Json::array();
  std::string lines;
  for (const ConfigDigest& digest : digests) {
    index.push_back({digest.row, digest.physics});
    lines += std::string(lines.empty() ? "\n" : ",\n") + json_text(digest_json(digest));
  }
  std::string body = "\"index\":" + json_text(index) + ",\"configs\":[" + lines + "\n]\n";
  if (frameworks) body += std::string(kFrameworks) + json_text(frameworks_json(*frameworks)) + "\n";
  std::string out = model.substr(0, model.size() - 1);
  out.append(kMember).append(sum_of(model)).append(kSum).append(sum_of(body)).append(kBody);
  return out + body + "}}";
}

ModelText split_digests(std::string_view text) {
  const size_t at = text.find(kMember);
  const size_t end = text.rfind("}}");
  if (at == std::string_view::npos || end == std::string_view::npos || end < at)
    return {std::string(text), 0, 0};
  return {std::string(text.substr(0, at)) + "}", at + kMember.size(), end};
}

std::optional<std::string> read_digests(const std::shared_ptr<const std::string>& text,
                                        const ModelText& parts, size_t rows,
                                        PredictorOptions& options) {
  std::string_view rest(text->data() + parts.digests_at, parts.digests_end - parts.digests_at);
  const size_t sum = rest.find(kSum);
  const size_t body = sum == std::string_view::npos ? sum : rest.find(kBody, sum + kSum.size());
  if (body == std::string_view::npos) return "digests without a checksum";
  const std::string_view told = rest.substr(sum + kSum.size(), body - sum - kSum.size());
  if (rest.substr(0, sum) != sum_of(parts.head))
    return "digests of other rows, facts or parameters than it holds";
  rest.remove_prefix(body + kBody.size());
  if (told != sum_of(rest)) return "digests that are not as they were written";
  return read_body(text, rest, rows, options);
}

}  // namespace assay
