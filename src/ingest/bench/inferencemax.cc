#include "ingest/bench/inferencemax.h"

#include <cmath>

#include "base/ascii.h"
#include "base/numbers.h"
#include "ingest/bench/date.h"
#include "ingest/bench/engine_name.h"
#include "ingest/bench/variant.h"
#include "ingest/text/csv_records.h"

namespace assay {
namespace {

constexpr double kTolerance = 0.02;

// Flags are booleans of JSON or Python, or texts.
bool is_set(const BenchField& field, const char* name) {
  const std::string word = lower_trimmed(field(name));
  return word == "true" || word == "1";
}

// "vllm/vllm-openai:v0.11.0" -> "v0.11.0", "lmsysorg/sglang:v0.5.5-cu129-amd64" -> "v0.5.5": the
// number at the start of the image's tag, else the whole tag.
std::string version_of_image(const std::string& image) {
  const size_t colon = image.rfind(':');
  if (colon == std::string::npos || image.find('/', colon) != std::string::npos) return {};
  const std::string tag = image.substr(colon + 1);
  const size_t first = !tag.empty() && tag[0] == 'v' ? 1 : 0;
  const bool numbered = first < tag.size() && is_digit(tag[first]);
  return numbered ? tag.substr(0, tag.find('-')) : tag;
}

// vLLM's own runs use "device" in results of this form.
std::string gpu_of(const BenchField& field) {
  return field("hw").empty() ? field("device") : field("hw");
}

BenchVariant run_variant(const BenchField& field, double devices) {
  VariantParts parts;
  parts.add(VariantPart::kPlain, field("precision"));
  parts.add(VariantPart::kSpeculation, field("spec_decoding"));
  parts.add(VariantPart::kVersion, version_of_image(field("image")));
  const bool replicas = is_set(field, "dp_attention");
  parts.add(replicas ? VariantPart::kData : VariantPart::kTensor, field("tp"));
  parts.add(VariantPart::kExpert, field("ep"));
  return parts.variant(devices);
}

double milliseconds(const BenchField& field, const char* seconds) {
  return 1000 * number_at(field, seconds);
}

// Reason why a run is not a row.
struct Unreadable {
  const char* code = nullptr;  // nullptr: the run is a row
  const char* effect = nullptr;
};

Unreadable unreadable(const BenchField& field) {
  if (is_set(field, "disagg"))
    return {"disaggregated", "dropped: prefill and decode ran on engines of their own shape"};
  if (is_set(field, "is_multinode"))
    return {"several_nodes",
            "dropped: the run spans nodes, and its tensor parallelism does not give its number of "
            "GPUs"};
  if (number_at(field, "isl") > 0 && number_at(field, "osl") > 0) return {};
  return {"no_fixed_lengths",
          "dropped: no isl and osl, as in agent runs with requests of different lengths"};
}

}  // namespace

bool is_inferencemax(const BenchField& field) {
  return !field("tput_per_gpu").empty() && !gpu_of(field).empty() && !field("conc").empty();
}

void add_inferencemax_run(const BenchField& field, int64_t line, BenchTable& table,
                          OddityLog& log) {
  table.format = "inferencemax";
  if (const Unreadable why = unreadable(field); why.code != nullptr)
    return log.note(why.code, line, true, why.effect);
  BenchRow row;
  row.line = line;
  row.hardware = gpu_of(field);
  row.framework = engine_name(field("framework"), field("framework"));
  row.model = field("model").empty() ? field("infmax_model_prefix") : field("model");
  row.devices = std::fmax(1, number_at(field, "tp"));
  row.in_len = number_at(field, "isl");
  row.out_len = number_at(field, "osl");
  row.batch = number_at(field, "conc");
  row.ttft_ms = milliseconds(field, "mean_ttft");
  row.tpot_ms = milliseconds(field, "mean_tpot");
  row.latency_s = number_at(field, "mean_e2el");
  row.tokens_per_s = number_at(field, "tput_per_gpu") * row.devices;
  row.output_tokens_per_s = number_at(field, "output_tput_per_gpu") * row.devices;
  row.requests_per_s = row.output_tokens_per_s / row.out_len;
  row.variant = run_variant(field, row.devices);
  row.date = date_of(field("date"));
  const double input = number_at(field, "input_tput_per_gpu") * row.devices;
  if (std::abs((input + row.output_tokens_per_s) / row.tokens_per_s - 1) > kTolerance) {
    log.note("identity_failed", line, false,
             "tput_per_gpu is not the sum of input and output tokens: kept as measured");
  }
  table.rows.push_back(std::move(row));
}

}  // namespace assay
