#include "cli/questions.h"

#include <algorithm>

#include "base/json_tree.h"
#include "cli/agent_answer.h"
#include "cli/mcp_messages.h"
#include "cli/options.h"

namespace assay {
namespace {

using Json = nlohmann::ordered_json;

AnswerKey text(const char* key) { return {key, AnswerType::kText}; }
AnswerKey integer(const char* key) { return {key, AnswerType::kInteger}; }
AnswerKey number(const char* key) { return {key, AnswerType::kNumber}; }
AnswerKey texts(const char* key) { return {key, AnswerType::kTexts}; }
AnswerKey object(const char* key) { return {key, AnswerType::kObject}; }

const QuestionInput kTrace = {
    .argument = "trace", .sentence = "a trace, a folder with the ranks of a job, or a pattern"};

AnswerTable caveats() {
  return {.key = "caveats",
          .path = "caveats",
          .columns = {text("code"), integer("count"), integer("time_ns"), text("text")}};
}

std::vector<AnswerKey> energy_columns() {
  return {text("name"), number("energy_j"), number("low_j"), number("high_j"),
          number("energy_share"), integer("busy_ns"), integer("count"),
          text("why")};
}

std::vector<Question> make_questions() {
  return {
      {.name = "list",
       .sentence = "Files and folders below the root (traces, logs, jobs): size, device, rank. Ask first.",
       .words = {"list"},
       .inputs = {{.argument = "folder", .sentence = "default: the root", .is_required = false}},
       .values = {{"not_looked_at", "not_looked_at", AnswerType::kInteger}},
       .tables = {{.key = "jobs",
                   .path = "jobs",
                   .columns = {text("folder"), integer("traces"), integer("ranks"),
                               integer("world_size")}},
                  {.key = "files",
                   .path = "files",
                   .columns = {text("path"), text("kind"), text("format"), integer("bytes"),
                               text("device"), integer("rank"), integer("world_size")}}},
       .next = {{"diagnose", "what limits one of these runs"},
                {"job", "which rank of a job the others wait for"}}},
      {.name = "diagnose",
       .sentence = "The bottleneck of the run, where its time went, what would change it, and the confidence.",
       .words = {"report"},
       .inputs = {kTrace},
       .options = {"--window", "--part"},
       .values = {{"bottleneck", "summary.bottleneck"},
                  {"confidence", "summary.confidence.grade"},
                  {"confidence_text", "summary.confidence.text"},
                  {"window_ns", "summary.window_ns", AnswerType::kInteger},
                  {"total_ns", "summary.total_ns", AnswerType::kInteger}},
       .tables = {{.key = "findings",
                   .path = "summary.findings",
                   .columns = {text("code"), text("role"), text("text"), object("values")}},
                  {.key = "actions",
                   .path = "summary.actions",
                   .columns = {text("code"), text("text"), text("how"), text("edit"),
                               integer("gain_ns"), integer("gain_low_ns"), integer("gain_high_ns"),
                               number("share"), text("bound")}},
                  {.key = "causes",
                   .path = "summary.causes",
                   .columns = {text("cause"), integer("ns"), number("window_share")},
                   .largest_first = "ns"},
                  caveats()},
       .next = {{"whatif", "the gain of the first action, replayed"},
                {"kernels", "which kernels take the GPU's time", {"gpu"}},
                {"roofline", "distance of operators to the peaks of the GPU", {"gpu"}},
                {"idle", "why the GPU was idle"},
                {"fusion", "chains of small kernels", {"host"}}}},
      {.name = "breakdown",
       .sentence = "GPU time by operation, layer, phase and iteration.",
       .words = {"breakdown"},
       .inputs = {kTrace},
       .options = {"--window", "--group-by", "--where", "--stat"},
       .values = {{"kernel_total_ns", "breakdown.unplaced.total_ns", AnswerType::kInteger},
                  {"unattributed_share", "breakdown.unplaced.share", AnswerType::kNumber},
                  {"layers", "breakdown.unplaced.layers", AnswerType::kInteger}},
       .tables = {{.key = "groups",
                   .path = "breakdown.groups",
                   .columns = {},
                   .largest_first = "dur_ns"},
                  {.key = "tree",
                   .path = "breakdown.tree",
                   .columns = {integer("depth"), text("name"), text("kind"), number("share"),
                               integer("kernels"), integer("dur_ns"), integer("launch_ns")}},
                  {.key = "iterations",
                   .path = "breakdown.iterations",
                   .columns = {integer("gpu"), integer("iter"), integer("kernels"), integer("span_ns"),
                               integer("dur_ns"), integer("exposed_comm_ns"),
                               integer("idle_other_ns")}},
                  caveats()},
       .next = {{"roofline", "distance of operators to the peaks of the GPU"}}},
      {.name = "kernels",
       .sentence = "Kernels by GPU time: count, total and mean duration, launch and queue time.",
       .words = {"launch", "--top=0"},
       .inputs = {kTrace},
       .options = {"--window"},
       .values = {{"kernels", "launch.whole.kernels", AnswerType::kInteger},
                  {"kernel_sum_ns", "launch.whole.kernel_sum_ns", AnswerType::kInteger},
                  {"kernel_union_ns", "launch.whole.kernel_union_ns", AnswerType::kInteger},
                  {"launches", "launch.whole.launches", AnswerType::kInteger},
                  {"tklqt_ns", "launch.whole.tklqt_ns", AnswerType::kInteger},
                  {"gpu_idle_share", "launch.whole.gpu_idle_share", AnswerType::kNumber}},
       .tables = {{.key = "kernels_by_name",
                   .path = "launch.top_kernels",
                   .columns = {text("name"), integer("count"), integer("dur_sum_ns"),
                               integer("dur_mean_ns"), integer("launch_queue_mean_ns")},
                   .largest_first = "dur_sum_ns"},
                  {.key = "overview",
                   .path = "overview",
                   .columns = {integer("rank"), text("name"), integer("kernels"),
                               integer("launches"), integer("tklqt_ns"),
                               number("gpu_idle_share")}},
                  caveats()},
       .next = {{"fusion", "which of them could be one kernel"},
                {"roofline", "distance of operators to the peaks of the GPU"}}},
      {.name = "idle",
       .sentence = "Why the GPU was idle: causes, what they wait for, the critical path.",
       .words = {"why"},
       .inputs = {kTrace},
       .options = {"--window", "--part"},
       .values = {{"bottleneck", "bottleneck"},
                  {"window_ns", "flow.window_ns", AnswerType::kInteger},
                  {"device_idle_share", "device_idle_share", AnswerType::kNumber}},
       .tables = {{.key = "causes",
                   .path = "causes",
                   .columns = {text("cause"), integer("ns"), number("window_share"),
                               integer("recorded_ns"), integer("inferred_ns"),
                               integer("no_evidence_ns")},
                   .largest_first = "ns"},
                  {.key = "contributors",
                   .path = "contributors",
                   .columns = {text("cause"), text("name"), integer("ns"), integer("slices"),
                               integer("longest_slice_ns"), text("within")},
                   .largest_first = "ns"},
                  {.key = "critical_path",
                   .path = "path.parts",
                   .columns = {text("name"), text("kind"), text("cause"), integer("ns"),
                               number("path_share")},
                   .largest_first = "ns"},
                  caveats()},
       .next = {{"whatif", "the gain without one of the causes, replayed"}}},
      {.name = "whatif",
       .sentence = "The run replayed with changes, each with an interval; without any, all that apply.",
       .words = {"whatif"},
       .inputs = {kTrace},
       .options = {"--edit", "--window", "--part"},
       .values = {{"joint", "whatif.joint", AnswerType::kObject},
                  {"model_error", "whatif.identity.model_error", AnswerType::kNumber}},
       .tables = {{.key = "actions",
                   .path = "whatif.actions",
                   .columns = {text("name"), text("edits"), text("kind"), integer("before_ns"),
                               integer("after_ns"), integer("run_gain_ns"), integer("run_low_ns"),
                               integer("run_high_ns"), integer("gain_ns"), integer("low95_ns"),
                               integer("high95_ns"), text("refused")}},
                  caveats()},
       .next = {{"diff", "whether the change, once made, gave that gain: record again"}}},
      {.name = "diff",
       .sentence = "What changed from a to b, whether it is more than noise, which gates fail.",
       .words = {"diff"},
       .inputs = {{.argument = "a", .sentence = "the side compared against"},
                  {.argument = "b", .sentence = "the side in question"}},
       .options = {"--fail-on", "--window", "--paired"},
       .values = {{"a_time_ns", "diff.sides.a_time_ns", AnswerType::kInteger},
                  {"b_time_ns", "diff.sides.b_time_ns", AnswerType::kInteger},
                  {"change_ns", "diff.sides.change_ns", AnswerType::kInteger},
                  {"change_share", "diff.sides.change_share", AnswerType::kNumber},
                  {"low95_ns", "diff.sides.low95_ns", AnswerType::kInteger},
                  {"high95_ns", "diff.sides.high95_ns", AnswerType::kInteger},
                  {"noise", "diff.sides.noise"}},
       .tables = {{.key = "gates",
                   .path = "diff.gates",
                   .columns = {text("gate"), text("metric"), text("outcome"), number("a"),
                               number("b"), number("value"), number("limit")}},
                  {.key = "parts",
                   .path = "diff.parts",
                   .columns = {text("a_name"), text("b_name"), text("kind"), integer("change_ns"),
                               integer("a_ns"), integer("b_ns"), integer("low95_ns"),
                               integer("high95_ns"), text("noise")}},
                  {.key = "metrics",
                   .path = "diff.metrics",
                   .columns = {text("metric"), number("a"), number("b"), number("change"),
                               number("low95"), number("high95"), text("noise")}},
                  caveats()},
       .next = {{"diagnose", "what limits the side in question"}}},
      {.name = "fusion",
       .sentence = "Chains of kernels that always run together, and what fusing them would save.",
       .words = {"fusion"},
       .inputs = {kTrace},
       .options = {"--window", "--segment", "--min-count"},
       .values = {{"launches_saved", "fusion.plan_min.launches_saved", AnswerType::kInteger},
                  {"recommended_total", "fusion.recommended_total", AnswerType::kInteger},
                  {"floor_ns", "fusion.floor_ns", AnswerType::kInteger}},
       .tables = {{.key = "recommended",
                   .path = "fusion.recommended",
                   .columns = {integer("length"), integer("count"), integer("launches_saved"),
                               integer("gain_ns"), integer("saving_ns"), integer("device_ns"),
                               text("remedy"), text("common_ops"), texts("kernel_names")}},
                  caveats()},
       .next = {{"whatif", "the gain of one fused chain, replayed"}}},
      {.name = "roofline",
       .sentence = "Operators against the GPU's peaks: FLOP/s, bytes/s, time above the roofline.",
       .words = {"breakdown", "--roofline"},
       .inputs = {kTrace},
       .options = {"--window"},
       .values = {{"known_share", "roofline.known_share", AnswerType::kNumber},
                  {"roofline_share", "roofline.roofline_share", AnswerType::kNumber},
                  {"above_ns", "roofline.above_ns", AnswerType::kInteger}},
       .tables = {{.key = "ops",
                   .path = "roofline.ops",
                   .columns = {text("op"), text("shape"), text("op_kind"), integer("calls"),
                               integer("dur_ns"), number("flop_per_s"), number("bytes_per_s"),
                               number("roofline_share"), text("bound"), integer("above_ns")}},
                  {.key = "no_roofline",
                   .path = "roofline.unknown",
                   .columns = {}},
                  caveats()},
       .next = {{"kernels", "which kernels those operators run"}}},
      {.name = "job",
       .sentence = "A job of many ranks: which rank costs it time, and how much.",
       .words = {"job"},
       .inputs = {{.argument = "folder",
                   .sentence = "folder with the traces of the ranks",
                   .is_required = false},
                  {.argument = "summaries",
                   .sentence = "instead: records that assay summarize made",
                   .is_required = false,
                   .option = "--summaries"}},
       .options = {"--min-ranks"},
       .values = {{"job_ranks", "job.job_ranks", AnswerType::kInteger},
                  {"ranks_read", "job.ranks_read", AnswerType::kInteger},
                  {"confidence", "summary.confidence.grade"},
                  {"confidence_text", "summary.confidence.text"},
                  {"span_ns", "job.span_ns", AnswerType::kInteger},
                  {"saved_by_worst_ns", "job.saved_by_worst_ns", AnswerType::kInteger}},
       .tables = {{.key = "worst", .path = "job.worst", .columns = {}},
                  {.key = "causes",
                   .path = "summary.causes",
                   .columns = {text("cause"), integer("ns"), number("window_share")},
                   .largest_first = "ns"},
                  {.key = "ranks",
                   .path = "job.ranks",
                   .columns = {integer("rank"), text("listed_for"), integer("rank_excess_ns"),
                               text("rank_file")}},
                  {.key = "collectives",
                   .path = "job.collectives",
                   .columns = {text("collective"), integer("group_size"), integer("group_count"),
                               integer("meetings"), integer("p50_transfer_ns"),
                               integer("p95_transfer_ns")}},
                  caveats()},
       .next = {{"diagnose", "what limits the rank that the others wait for"}}},
      {.name = "power",
       .sentence = "Joules per kernel, operator, layer and iteration, from a trace and a power log.",
       .words = {"power", "attribute"},
       .inputs = {kTrace,
                  {.argument = "samples", .sentence = "the power log", .option = "--samples"}},
       .options = {"--offset", "--gpu", "--kernel-groups"},
       .values = {{"total_j", "energy.total_j", AnswerType::kNumber},
                  {"mean_w", "energy.mean_w", AnswerType::kNumber},
                  {"base_j", "energy.base_j", AnswerType::kNumber},
                  {"kernels_j", "energy.kernels_j", AnswerType::kNumber},
                  {"kernels_low_j", "energy.kernels_low_j", AnswerType::kNumber},
                  {"kernels_high_j", "energy.kernels_high_j", AnswerType::kNumber},
                  {"covered_ns", "energy.covered_ns", AnswerType::kInteger}},
       .tables = {{.key = "kernels", .path = "energy.kernels", .columns = energy_columns()},
                  {.key = "operators", .path = "energy.operators", .columns = energy_columns()},
                  {.key = "layers", .path = "energy.layers", .columns = energy_columns()},
                  caveats()},
       .next = {{"kernels", "the time of the same kernels"}}},
      {.name = "explain",
       .sentence = "The meaning of a word of an answer, a key or a code.",
       .words = {"explain"},
       .inputs = {{.argument = "word", .sentence = "a key or word of an answer", .is_path = false}},
       .is_text = true},
      {.name = "sql",
       .sentence = "One DuckDB statement over the trace. 'show tables' lists the tables and "
                   "'describe kernels' the columns of one.",
       .words = {"sql"},
       .inputs = {kTrace},
       .options = {"--command", "--limit", "--window"},
       .tables = {{.key = "rows", .path = "rows", .columns = {}}}},
  };
}

Json type_schema(AnswerType type) {
  switch (type) {
    case AnswerType::kText:
      return Json::array({"string", "null"});
    case AnswerType::kInteger:
      return Json::array({"integer", "null"});
    case AnswerType::kNumber:
      return Json::array({"number", "null"});
    case AnswerType::kTruth:
      return Json::array({"boolean", "null"});
    case AnswerType::kTexts:
      return Json::array({"array", "null"});
    case AnswerType::kObject:
      return Json::array({"object", "null"});
  }
  return "string";
}

const VerbFacts* find_verb(const VerbFacts& above, const std::string& name) {
  for (const VerbFacts& verb : above.verbs) {
    if (verb.name == name) return &verb;
    if (const VerbFacts* below = find_verb(verb, name)) return below;
  }
  return nullptr;
}

ToolValue value_of(const OptionFacts& option) {
  if (option.is_repeatable) return ToolValue::kTexts;
  switch (option.type) {
    case OptionType::kFlag:
      return ToolValue::kTruth;
    case OptionType::kText:
      return ToolValue::kText;
    case OptionType::kInteger:
      return ToolValue::kWholeNumber;
    case OptionType::kNumber:
      return ToolValue::kNumber;
  }
  return ToolValue::kText;
}

}  // namespace

const std::vector<Question>& questions() {
  static const std::vector<Question> kQuestions = make_questions();
  return kQuestions;
}

std::string argument_name(const std::string& option) {
  std::string name = option.substr(option.find_first_not_of('-'));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::string verb_of(const Question& question) {
  std::string name;
  for (const std::string& word : question.words) {
    if (word.starts_with("-")) break;
    name += (name.empty() ? "" : " ") + word;
  }
  return name;
}

std::vector<ToolArgument> arguments_of(const Question& question, const VerbFacts& program) {
  std::vector<ToolArgument> arguments;
  for (const QuestionInput& input : question.inputs) {
    arguments.push_back({.name = input.argument,
                         .sentence = input.sentence,
                         .is_required = input.is_required});
  }
  const VerbFacts* verb = find_verb(program, verb_of(question));
  for (const std::string& wanted : question.options) {
    if (verb == nullptr) break;
    for (const OptionFacts& option : verb->options) {
      if (std::find(option.names.begin(), option.names.end(), wanted) == option.names.end())
        continue;
      arguments.push_back({.name = argument_name(wanted),
                           .type = value_of(option),
                           .sentence = option.sentence,
                           .is_required = option.is_required,
                           .words = option.words,
                           .option = wanted});
    }
  }
  arguments.push_back({.name = "max_tokens",
                       .type = ToolValue::kWholeNumber,
                       .sentence = "of the answer, from 500; default 2000"});
  if (question.tables.empty()) return arguments;
  std::vector<std::string> tables;
  for (const AnswerTable& table : question.tables) tables.push_back(table.key);
  if (tables.size() > 1) {
    arguments.push_back({.name = "table",
                         .sentence = "only this table",
                         .words = std::move(tables)});
  }
  arguments.push_back({.name = "skip_rows",
                       .type = ToolValue::kWholeNumber,
                       .sentence = "rows of each table to skip"});
  return arguments;
}

std::string answer_schema(const Question& question) {
  Json properties = Json::object();
  const auto add = [&properties](const std::string& key, Json type) {
    properties[key] = {{"type", std::move(type)}};
  };
  add("headline", "string");
  if (question.is_text) add("text", "string");
  for (const AnswerValue& value : question.values) add(value.key, type_schema(value.type));
  for (const AnswerTable& table : question.tables) {
    Json columns = Json::object();
    for (const AnswerKey& column : table.columns) {
      // Omit the type of texts to save tokens: every conversation contains the list of tools.
      columns[column.key] = Json::object();
      if (column.type != AnswerType::kText) columns[column.key]["type"] = type_schema(column.type);
    }
    properties[table.key] = {{"type", "array"},
                             {"items", {{"properties", std::move(columns)}}}};
  }
  for (const char* list : {"inputs", "notes", "unknown", "left_out", "next"}) add(list, "array");
  return json_text(Json{{"type", "object"},
                        {"properties", std::move(properties)},
                        {"required", {"unknown", "left_out", "next"}}});
}

}  // namespace assay
