#include "ingest/bench/llama_bench.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/ascii.h"
#include "ingest/bench/date.h"
#include "ingest/bench/variant.h"

namespace assay {
namespace {

// Keys with equal values in the two tests of a run.
constexpr std::array kShared = {"build_commit",
                                "gpu_info",
                                "cpu_info",
                                "backends",
                                "model_filename",
                                "n_batch",
                                "n_ubatch",
                                "n_threads",
                                "type_k",
                                "type_v",
                                "n_gpu_layers",
                                "n_cpu_moe",
                                "main_gpu",
                                "no_kv_offload",
                                "flash_attn",
                                "devices",
                                "split_mode",
                                "tensor_split",
                                "tensor_buft_overrides"};

// "models/Qwen2.5-7B-Instruct-Q4_K_M.gguf" -> "Qwen2.5-7B-Instruct" and "q4_k_m".
struct NamedModel {
  std::string name;
  std::string quantised;
};

bool is_format(const std::string& word) {
  static const char* const kBegins[] = {"q1", "q2", "q3",  "q4",   "q5",  "q6",    "q8",
                                        "iq", "tq", "f16", "bf16", "f32", "mxfp4", "fp16"};
  return std::any_of(std::begin(kBegins), std::end(kBegins),
                     [&word](const char* begin) { return word.rfind(begin, 0) == 0; });
}

NamedModel model_of(const std::string& path) {
  NamedModel out;
  const size_t folder = path.find_last_of("/\\");
  out.name = folder == std::string::npos ? path : path.substr(folder + 1);
  constexpr std::string_view kEnd = ".gguf";
  if (out.name.size() > kEnd.size() && out.name.ends_with(kEnd))
    out.name.resize(out.name.size() - kEnd.size());
  const size_t last = out.name.find_last_of("-.");
  if (last == std::string::npos) return out;
  const std::string word = lower_trimmed(out.name.substr(last + 1));
  if (!is_format(word)) return out;
  out.quantised = word;
  out.name.resize(last);
  return out;
}

// The GPU name has one entry per device: "A, A". Without layers on a GPU, the CPU computes.
void name_hardware(const LlamaTest& test, BenchRow& row) {
  if (test.gpu.empty() || test.gpu_layers == 0) {
    row.hardware = test.cpu;
    return;
  }
  const size_t comma = test.gpu.find(',');
  row.hardware = test.gpu.substr(0, comma);
  row.devices = 1 + static_cast<double>(std::count(test.gpu.begin(), test.gpu.end(), ','));
}

BenchRow row_of(const LlamaTest& prompt, const LlamaTest& answer) {
  BenchRow row;
  row.line = prompt.line;
  row.framework = "llama.cpp";
  const NamedModel model = model_of(prompt.file);
  row.model = model.name;
  name_hardware(prompt, row);
  row.in_len = prompt.prompt;
  row.out_len = answer.answer;
  row.batch = std::min(prompt.batch, prompt.micro_batch);
  row.ttft_ms = prompt.ns / 1e6;
  row.tpot_ms = answer.ns / 1e6 / answer.answer;
  row.latency_s = (row.ttft_ms + (row.out_len - 1) * row.tpot_ms) / 1000;
  row.tokens_per_s = (row.in_len + row.out_len) / row.latency_s;
  row.output_tokens_per_s = row.out_len / row.latency_s;
  row.date = date_of(prompt.time);
  VariantParts words;
  if (!model.quantised.empty()) words.add(VariantPart::kPlain, model.quantised);
  if (!prompt.type_k.empty() && prompt.type_k != "f16")
    words.add(VariantPart::kCache, prompt.type_k);
  if (!prompt.build.empty()) words.add(VariantPart::kVersion, prompt.build);
  row.variant = words.variant(row.devices);
  return row;
}

}  // namespace

LlamaTest llama_test(const BenchField& field, int64_t line) {
  LlamaTest out;
  out.line = line;
  out.build = field("build_commit");
  out.gpu = field("gpu_info");
  out.cpu = field("cpu_info");
  out.file = field("model_filename");
  out.time = field("test_time");
  out.type_k = field("type_k");
  out.batch = number_at(field, "n_batch");
  out.micro_batch = number_at(field, "n_ubatch");
  out.gpu_layers = number_at(field, "n_gpu_layers");
  out.prompt = number_at(field, "n_prompt");
  out.answer = number_at(field, "n_gen");
  out.depth = field("n_depth").empty() ? 0 : number_at(field, "n_depth");  // since 2025
  out.ns = number_at(field, "avg_ns");
  for (const char* name : kShared) out.setting += field(name) + "\x1f";
  return out;
}

void add_llama_runs(const std::vector<LlamaTest>& tests, BenchTable& table, OddityLog& log) {
  table.format = "llama-bench";
  std::map<std::string, std::vector<const LlamaTest*>> answers;
  for (const LlamaTest& test : tests) {
    if (test.prompt == 0 && test.answer > 0 && test.ns > 0) answers[test.setting].push_back(&test);
  }
  std::map<const LlamaTest*, bool> used;
  for (const LlamaTest& prompt : tests) {
    if (prompt.prompt == 0 && prompt.answer > 0 && prompt.ns > 0) continue;
    if (!(prompt.prompt > 0) || prompt.answer != 0 || !(prompt.ns > 0)) {
      log.note("prompt_and_answer_together", prompt.line, true,
               "dropped: llama-bench -pg has one time for the prompt and the answer together");
      continue;
    }
    if (prompt.depth > 0) {
      log.note("context_already_there", prompt.line, true,
               "dropped: a prompt after an existing context does not measure a first token");
      continue;
    }
    const std::vector<const LlamaTest*>& partners = answers[prompt.setting];
    const bool exact = std::any_of(partners.begin(), partners.end(), [&](const LlamaTest* answer) {
      return answer->depth == prompt.prompt;
    });
    bool paired = false;
    for (const LlamaTest* answer : partners) {
      if (answer->depth != (exact ? prompt.prompt : 0)) continue;
      paired = used[answer] = true;
      table.rows.push_back(row_of(prompt, *answer));
      if (exact) continue;
      log.warn("answer_without_context", prompt.line, false,
               "llama-bench timed the answer from an empty context. TPOT lacks the time to read "
               "the prompt's keys and values (measure with -d at the prompt's length)");
    }
    if (!paired) {
      log.note("half_of_a_run", prompt.line, true,
               "dropped: llama-bench tested the prompt, or the answer, of this setting alone");
    }
  }
  for (const auto& [setting, of] : answers) {
    for (const LlamaTest* answer : of) {
      if (used.count(answer) > 0) continue;
      log.note("half_of_a_run", answer->line, true,
               "dropped: llama-bench tested the prompt, or the answer, of this setting alone");
    }
  }
}

bool is_llama_csv(const std::vector<CsvRecord>& records) {
  return has_titles(records, {"build_commit", "n_prompt", "n_gen", "avg_ns"});
}

Result<BenchTable> bench_table_of_llama_csv(const std::vector<CsvRecord>& records) {
  std::vector<LlamaTest> tests;
  for_each_titled(records, [&tests](const BenchField& field, int64_t line) {
    tests.push_back(llama_test(field, line));
  });
  BenchTable table;
  OddityLog log;
  add_llama_runs(tests, table, log);
  log.merge_into(table.oddities);
  if (table.rows.empty()) {
    return Error{ErrorCode::kFormat,
                 "llama-bench tested no prompt (-p) and answer (-n) of one setting", "", -1};
  }
  return table;
}

bool is_llama_markdown(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \r\n");
  if (begin == std::string::npos || text[begin] != '|') return false;
  const std::string line = text.substr(begin, text.find('\n', begin) - begin);
  return line.find("| model ") != std::string::npos && line.find("| test ") != std::string::npos &&
         line.find("t/s |") != std::string::npos;
}

}  // namespace assay
