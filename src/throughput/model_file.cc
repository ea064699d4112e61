#include "throughput/model_file.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "base/checksum.h"
#include "base/json_tree.h"
#include "throughput/dataset.h"
#include "throughput/model_digests.h"

namespace assay {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormatName = "assay throughput model";

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json scales_json(const ConformalScales& scales) {
  Json out = Json::array();
  for (const HeldOut kind : kAllHeldOut) {
    const ConformalScale& scale = scales[static_cast<size_t>(kind)];
    out.push_back({{"kind", held_out_name(kind)},
                   {"scale", scale.scale},
                   {"residuals", scale.residuals},
                   {"measured", scale.measured},
                   {"of_pair", scale.of_pair},
                   {"fit_weight", scale.fit_weight},
                   {"blended_scale", scale.blended_scale}});
  }
  return out;
}

Json siblings_json(const SiblingRules& rules) {
  const auto weights_of = [](const SiblingWeights& weights) {
    return Json{weights.by_sheet, weights.by_physics};
  };
  Json out = Json::array();
  for (size_t kind = 0; kind < kUnmeasuredKinds; ++kind) {
    const SiblingRule& rule = rules[kind];
    const auto named = [&](const std::map<std::string, SiblingWeights>& all) {
      Json pairs = Json::object();
      for (const auto& [name, weights] : all) pairs[name] = weights_of(weights);
      return pairs;
    };
    out.push_back({{"kind", unmeasured_kind_name(static_cast<UnmeasuredKind>(kind))},
                   {"otherwise", weights_of(rule.otherwise)},
                   {"of_vendor", named(rule.of_vendor)},
                   {"of_engine", named(rule.of_engine)},
                   {"blocks", rule.interval.blocks},
                   {"half_width", rule.interval.half_width},
                   {"measured", rule.interval.measured}});
  }
  return out;
}

Json parameters_json(const KernelSpec& spec, const std::vector<double>& given) {
  Json out = Json::object();
  const std::vector<double>& values = given.empty() ? spec.defaults : given;
  for (size_t p = 0; p < spec.names.size(); ++p) out[spec.names[p]] = values[p];
  return out;
}

Json facts_json(const ThroughputFit& fit, const char* kind, std::string BenchRow::* field) {
  Json out = Json::object();
  for (const BenchRow& row : fit.data.rows) {
    if (out.contains(row.*field)) continue;
    const auto values = fit.facts.values(kind, row.*field);
    if (values.empty()) continue;
    Json& entry = out[row.*field] = Json::object();
    for (const auto& [attribute, fact] : values) {
      if (fact.word.empty()) entry[attribute] = {{"value", fact.value}, {"source", fact.source}};
    }
  }
  return out;
}

Error damaged(const std::string& file, const std::string& what) {
  return Error{ErrorCode::kFormat, "this model file is damaged: " + what + "; fit it again", file,
               -1};
}

// The specifications in the text format that FactBook reads.
std::string facts_text(const Json& facts) {
  const auto line = [](std::string text) {
    for (char& c : text) {
      if (c == '\n' || c == '\r') c = ' ';
    }
    return text;
  };
  std::string text;
  for (const auto& [kind, sections] : facts.items()) {
    for (const auto& [name, values] : sections.items()) {
      text += "[" + line(kind) + " " + line(name) + "]\n";
      for (const auto& [attribute, fact] : values.items()) {
        text += line(attribute) + " = " + json_text(fact.at("value")) + " ; " +
                line(fact.at("source").get<std::string>()) + "\n";
      }
    }
  }
  return text;
}

double number_at(const Json& row, size_t column) {
  return row.at(column).is_null() ? std::numeric_limits<double>::quiet_NaN()
                                  : row.at(column).get<double>();
}

Json layout_json(const std::optional<ParallelLayout>& layout) {
  if (!layout) return nullptr;
  return {layout->tensor, layout->pipeline, layout->data, layout->expert};
}

std::optional<ParallelLayout> layout_from(const Json& sizes) {
  if (sizes.is_null()) return std::nullopt;
  const auto size = [&sizes](size_t i) { return sizes.at(i).get<uint32_t>(); };
  return ParallelLayout{size(0), size(1), size(2), size(3)};
}

BenchTable rows_from(const Json& document, std::vector<bool>& infeasible) {
  BenchTable table;
  for (const Json& row : document.at("rows")) {
    BenchRow out;
    out.hardware = row.at(0).get<std::string>();
    out.devices = row.at(1).get<double>();
    out.framework = row.at(2).get<std::string>();
    out.model = row.at(3).get<std::string>();
    out.variant.words = row.at(4).get<std::string>();
    out.variant.layout = layout_from(row.at(5));
    out.variant.version = row.at(6).get<std::string>();
    out.in_len = row.at(7).get<double>();
    out.out_len = row.at(8).get<double>();
    out.batch = row.at(9).get<double>();
    out.latency_s = number_at(row, 10);
    out.tokens_per_s = row.at(11).get<double>();
    infeasible.push_back(row.at(12).get<bool>());
    out.campaign = row.at(13).get<std::string>();
    out.unsteady = row.at(14).get<bool>();
    settle_precision(out);
    table.rows.push_back(std::move(out));
  }
  return table;
}

std::vector<double> parameters_from(const Json& document, const KernelSpec& spec) {
  std::vector<double> values;
  for (const std::string& name : spec.names) values.push_back(document.at(name).get<double>());
  return values;
}

std::optional<ConformalScales> scales_from(const Json& document, const char* which) {
  if (!document.contains(which)) return std::nullopt;
  ConformalScales scales;
  for (size_t k = 0; k < kHeldOutKinds; ++k) {
    const Json& entry = document.at(which).at(k);
    const auto number_of = [](const Json& scale) {
      return scale.is_number() ? scale.get<double>() : -1;
    };
    scales[k].scale = number_of(entry.at("scale"));
    scales[k].residuals = entry.at("residuals").get<size_t>();
    scales[k].measured = entry.at("measured").get<bool>();
    scales[k].fit_weight = number_of(entry.at("fit_weight"));
    scales[k].blended_scale = number_of(entry.at("blended_scale"));
    for (const auto& [pair, scale] : entry.at("of_pair").items())
      scales[k].of_pair[pair] = number_of(scale);
  }
  return scales;
}

SiblingRules siblings_from(const Json& document) {
  const auto weights_from = [](const Json& pair) {
    return SiblingWeights{pair.at(0).get<double>(), pair.at(1).get<double>()};
  };
  SiblingRules rules;
  for (size_t kind = 0; kind < kUnmeasuredKinds; ++kind) {
    const Json& entry = document.at(kind);
    SiblingRule& rule = rules[kind];
    rule.otherwise = weights_from(entry.at("otherwise"));
    for (const auto& [vendor, weights] : entry.at("of_vendor").items())
      rule.of_vendor[vendor] = weights_from(weights);
    for (const auto& [engine, weights] : entry.at("of_engine").items())
      rule.of_engine[engine] = weights_from(weights);
    rule.interval.blocks = entry.at("blocks").get<double>();
    rule.interval.half_width = entry.at("half_width").get<double>();
    rule.interval.measured = entry.at("measured").get<bool>();
  }
  return rules;
}

bool usable(const SiblingRules& rules) {
  const auto fine = [](const SiblingWeights& w) {
    return w.by_sheet >= 0 && w.by_physics >= 0 && w.sum() <= 1;
  };
  const auto all_fine = [&](const std::map<std::string, SiblingWeights>& all) {
    return std::all_of(all.begin(), all.end(), [&](const auto& own) { return fine(own.second); });
  };
  return std::all_of(rules.begin(), rules.end(), [&](const SiblingRule& rule) {
    return fine(rule.otherwise) && all_fine(rule.of_vendor) && all_fine(rule.of_engine) &&
           rule.interval.half_width >= 0 && std::isfinite(rule.interval.half_width);
  });
}

bool usable(const std::vector<double>& parameters) {
  return std::all_of(parameters.begin(), parameters.end(),
                     [](double p) { return p > 0 && std::isfinite(p); });
}

// Intervals may have width 0, but not a negative or infinite one.
bool usable(const std::optional<ConformalScales>& scales) {
  const auto fine = [](double scale) { return scale >= 0 && std::isfinite(scale); };
  return !scales || std::all_of(scales->begin(), scales->end(), [&](const ConformalScale& s) {
    return fine(s.scale) && fine(s.blended_scale) && s.fit_weight >= 0 && s.fit_weight <= 1 &&
           std::all_of(s.of_pair.begin(), s.of_pair.end(),
                       [&](const auto& pair) { return fine(pair.second); });
  });
}

// The message without nlohmann's error name in brackets at the front.
std::string reason_of(const Json::exception& problem) {
  const std::string_view text = problem.what();
  const size_t bracket = text.find("] ");
  return std::string(bracket == std::string_view::npos ? text : text.substr(bracket + 2));
}

Status read_process(const Json& document, const std::string& file, ThroughputFit& fit) {
  ASSAY_TRY(fit.facts.add(facts_text(document.at("facts")), file));
  fit.options.physics = document.at("physics").get<bool>();
  const Json& parameters = document.at("parameters");
  fit.options.physics_parameters = parameters_from(parameters.at("physics"), physics_kernel());
  fit.options.plain_parameters = parameters_from(parameters.at("plain"), plain_kernel());
  if (!usable(fit.options.physics_parameters) || !usable(fit.options.plain_parameters))
    return damaged(file, "a parameter that is not above 0");
  fit.options.physics_scales = scales_from(document.at("scales"), "physics");
  fit.options.plain_scales = scales_from(document.at("scales"), "plain");
  if (!usable(fit.options.physics_scales) || !usable(fit.options.plain_scales))
    return damaged(file, "an interval scale that is not 0 or above");
  if (document.contains("siblings")) fit.options.siblings = siblings_from(document.at("siblings"));
  if (fit.options.siblings && !usable(*fit.options.siblings))
    return damaged(file, "weights of siblings that are not between 0 and 1");
  return Ok{};
}

// Unknown weights, from other versions, become warnings so that they are shown.
OddityWeight weight_from(std::string_view name) {
  for (const OddityWeight weight : {OddityWeight::kNote, OddityWeight::kLoss}) {
    if (name == oddity_weight_name(weight)) return weight;
  }
  return OddityWeight::kWarning;
}

Result<ThroughputFit> fit_from(const Json& document, const std::string& file) {
  ThroughputFit fit;
  fit.method = document.at("method").get<std::string>();
  if (fit.method != "assay" && fit.method != "ala")
    return damaged(file, "no method is called '" + fit.method + "'");
  fit.source = document.at("source").get<std::string>();
  fit.format = document.at("table_format").get<std::string>();
  std::vector<bool> infeasible;
  const BenchTable table = rows_from(document, infeasible);
  ASSAY_TRY_ASSIGN(fit.data, make_throughput_data(table));
  if (fit.data.rows.size() != infeasible.size())
    return damaged(file, "rows that repeat or are empty");
  fit.data.infeasible = std::move(infeasible);
  for (const Json& oddity : document.at("oddities")) {
    fit.data.oddities.push_back(
        {oddity.at("code").get<std::string>(), oddity.at("rows").get<uint64_t>(),
         oddity.at("dropped").get<uint64_t>(), 0, oddity.at("effect").get<std::string>(),
         weight_from(oddity.at("weight").get_ref<const std::string&>()),
         oddity.value("merged", uint64_t{0})});
  }
  // Specifications in the file have priority. Points beyond its rows may need the built-in ones.
  fit.facts = FactBook::built_in();
  fit.options.outside_factor = document.at("outside_factor").get<double>();
  if (!(fit.options.outside_factor >= 1) || !std::isfinite(fit.options.outside_factor))
    return damaged(file, "an outside_factor below 1");
  if (fit.method == "assay") ASSAY_TRY(read_process(document, file, fit));
  return fit;
}

Json head_json(const ThroughputFit& fit, const char* method) {
  return {{"format", kFormatName}, {"format_version", kThroughputModelVersion},
          {"source", fit.source},  {"table_format", fit.format},
          {"method", method},      {"outside_factor", fit.options.outside_factor}};
}

void add_rows(const ThroughputFit& fit, Json& out) {
  out["oddities"] = Json::array();
  for (const BenchOddity& oddity : fit.data.oddities) {
    out["oddities"].push_back({{"code", oddity.code},
                               {"rows", oddity.rows},
                               {"dropped", oddity.dropped},
                               {"merged", oddity.merged},
                               {"effect", oddity.effect},
                               {"weight", oddity_weight_name(oddity.weight)}});
  }
  out["columns"] = {"hw",         "n",        "fw",      "model", "words",     "layout",
                    "version",    "ii",       "oo",      "bb",    "latency_s", "tokens_per_s",
                    "infeasible", "campaign", "unsteady"};
  out["rows"] = Json::array();
  for (size_t i = 0; i < fit.data.rows.size(); ++i) {
    const BenchRow& row = fit.data.rows[i];
    out["rows"].push_back({row.hardware, row.devices, row.framework, row.model, row.variant.words,
                           layout_json(row.variant.layout), row.variant.version, row.in_len,
                           row.out_len, row.batch, number(row.latency_s), row.tokens_per_s,
                           static_cast<bool>(fit.data.infeasible[i]), row.campaign, row.unsteady});
  }
}

// Checksum over all members except itself and the digests, which have their own. Computed on the
// compact text, so that the layout of the JSON does not matter.
std::string members_checksum(Json document) {
  document.erase("checksum");
  document.erase("digests");
  const std::string text = json_text(document);
  return checksum_text(checksum(text.data(), text.size()));
}

}  // namespace

bool looks_like_model(std::string_view text) {
  const std::string_view head = text.substr(0, 200);
  return head.find(kFormatName) != std::string_view::npos;
}

std::string write_model(const ThroughputFit& fit, const Predictor& predictor,
                        const Predictor::DigestProgress& progress) {
  Json out = head_json(fit, "assay");
  out["physics"] = fit.options.physics;
  out["parameters"] = {
      {"physics", parameters_json(physics_kernel(), fit.options.physics_parameters)},
      {"plain", parameters_json(plain_kernel(), fit.options.plain_parameters)}};
  out["scales"] = Json::object();
  if (const auto* scales = predictor.physics_scales())
    out["scales"]["physics"] = scales_json(*scales);
  if (const auto* scales = predictor.plain_scales()) out["scales"]["plain"] = scales_json(*scales);
  if (const auto* rules = predictor.sibling_rules()) out["siblings"] = siblings_json(*rules);
  out["facts"] = {{"model", facts_json(fit, "model", &BenchRow::model)},
                  {"hardware", facts_json(fit, "hardware", &BenchRow::hardware)}};
  add_rows(fit, out);
  out["checksum"] = members_checksum(out);
  return with_digests(json_text(out), predictor.digests(progress), predictor.frameworks()) + "\n";
}

std::string write_ala_model(const ThroughputFit& fit) {
  Json out = head_json(fit, "ala");
  add_rows(fit, out);
  out["checksum"] = members_checksum(out);
  return json_text(out) + "\n";
}

namespace {

Result<ThroughputFit> read_head(std::string_view text, const std::string& file) {
  const Json document = parsed_ordered_json(text);
  if (document.is_discarded() || !document.is_object()) return damaged(file, "not whole JSON");
  const auto at = document.find("format");
  if (at == document.end() || *at != kFormatName) {
    return Error{ErrorCode::kFormat, "not a model file of assay throughput fit", file, -1};
  }
  const auto version = document.find("format_version");
  if (version == document.end() || !version->is_number_integer())
    return damaged(file, "no version");
  if (version->get<int64_t>() != kThroughputModelVersion) {
    return Error{ErrorCode::kUnsupported,
                 "a model file of version " + std::to_string(version->get<int64_t>()) +
                     ", this program reads version " + std::to_string(kThroughputModelVersion) +
                     ": fit the table again",
                 file, -1};
  }
  // nlohmann/json reports invalid accesses by exceptions, which become errors here.
  try {
    auto fit = fit_from(document, file);
    if (fit && document.at("checksum") != members_checksum(document))
      return damaged(file, "its members are not those that its checksum was made of");
    return fit;
  } catch (const Json::exception& problem) {
    return damaged(file, reason_of(problem));
  }
}

}  // namespace

Result<ThroughputFit> read_model(std::string text, const std::string& file) {
  const auto kept = std::make_shared<const std::string>(std::move(text));
  const ModelText parts = split_digests(*kept);
  ASSAY_TRY_ASSIGN(ThroughputFit fit, read_head(parts.head, file));
  if (parts.digests_end == 0) return fit;
  size_t rows = 0;
  for (const bool infeasible : fit.data.infeasible) rows += infeasible ? 0 : 1;
  const auto problem = read_digests(kept, parts, rows, fit.options);
  if (problem) return damaged(file, *problem);
  return fit;
}

}  // namespace assay
