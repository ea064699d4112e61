#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <map>
#include <sstream>

#include "base/checksum.h"
#include "report/breakdown/results.h"
#include "report/document/results.h"
#include "report/flow/results.h"
#include "report/launch/results.h"
#include "report/overhead/results.h"
#include "report/run/results.h"
#include "report/run/section.h"
#include "text/units.h"

namespace assay {
namespace {

template <typename Table>
void widen(const Table& table, int64_t& first_ns, int64_t& last_ns) {
  const size_t rows = table.size();
  for (size_t i = 0; i < rows; ++i) {
    first_ns = std::min(first_ns, table.start_ns[i]);
    last_ns = std::max(last_ns, table.start_ns[i] + table.dur_ns[i]);
  }
}

struct TimeSpan {
  int64_t first_ns = std::numeric_limits<int64_t>::max();
  int64_t last_ns = std::numeric_limits<int64_t>::min();
  bool known() const { return first_ns <= last_ns; }
};

TimeSpan time_span(const Trace& trace) {
  TimeSpan span;
  widen(trace.ops, span.first_ns, span.last_ns);
  widen(trace.frames, span.first_ns, span.last_ns);
  widen(trace.api_calls, span.first_ns, span.last_ns);
  widen(trace.activities, span.first_ns, span.last_ns);
  widen(trace.annotations, span.first_ns, span.last_ns);
  return span;
}

Item count_item(const char* key, uint64_t count) {
  return {.key = key, .label = key, .value = count, .unit = Unit::kCount};
}

Item ns_item(const char* key, Value value) {
  return {.key = key, .label = key, .value = std::move(value), .unit = Unit::kNone};
}

template <typename Table>
Facts sums_of(const char* key, const Table& table, int64_t first_ns) {
  int64_t start = 0;
  int64_t dur = 0;
  for (size_t i = 0; i < table.size(); ++i) {
    start += table.start_ns[i] - first_ns;
    dur += table.dur_ns[i];
  }
  return {.key = key, .title = key, .items = {ns_item("start_ns", start), ns_item("dur_ns", dur)}};
}

Section rows_section(const Trace& trace) {
  const RowCounts& counts = trace.counts;
  return {
      .key = "rows",
      .title = "Elements of the event array",
      .blocks = {Facts{
          .items = {
              count_item("events", counts.events), count_item("flow_starts", counts.flow_starts),
              count_item("flow_ends", counts.flow_ends), count_item("metadata", counts.metadata),
              count_item("instants", counts.instants), count_item("spans", counts.spans)}}}};
}

Section tables_section(const Trace& trace) {
  Facts facts;
  // op_inputs is filled only on request, so its size says nothing about the file. launch_names
  // duplicates the names of kernel rows except for captured launches.
#define ASSAY_MEMBER(member, Row, COLUMNS, doc)                                                  \
  if (std::string_view(#member) != "op_inputs" && std::string_view(#member) != "launch_names") { \
    facts.items.push_back(count_item(#member, trace.member.size()));                             \
  }
  ASSAY_TABLES(ASSAY_MEMBER)
#undef ASSAY_MEMBER
  return {.key = "tables", .title = "Rows per table", .blocks = {facts}};
}

Section kinds_section(const Trace& trace) {
  uint64_t by_kind[5] = {};
  for (const ActivityKind kind : trace.activities.kind) ++by_kind[static_cast<size_t>(kind)];
  return {
      .key = "activity_kinds",
      .title = "Device work by kind",
      .blocks = {Facts{.items = {count_item("kernel", by_kind[0]), count_item("memcpy", by_kind[1]),
                                 count_item("memset", by_kind[2]), count_item("sync", by_kind[3]),
                                 count_item("other", by_kind[4])}}}};
}

Section times_section(const Trace& trace, const TimeSpan& span) {
  const Value first = span.known() ? Value(span.first_ns) : Value();
  const Value last = span.known() ? Value(span.last_ns) : Value();
  return {.key = "times",
          .title = "Times",
          .blocks = {Facts{.items = {ns_item("base_time_ns", trace.base_time_ns),
                                     {.key = "whole_microseconds",
                                      .label = "whole_microseconds",
                                      .value = trace.whole_microseconds},
                                     ns_item("first_ns", first),
                                     ns_item("last_ns", last)}}}};
}

Section sums_section(const Trace& trace, const TimeSpan& span) {
  const int64_t first = span.known() ? span.first_ns : 0;
  return {.key = "sums",
          .title = "Sums of starts (from the first) and durations",
          .blocks = {sums_of("ops", trace.ops, first), sums_of("frames", trace.frames, first),
                     sums_of("api_calls", trace.api_calls, first),
                     sums_of("activities", trace.activities, first),
                     sums_of("annotations", trace.annotations, first)}};
}

Section links_section(const LinkStats& stats) {
  Facts facts;
  for_each_link_stat(stats, [&facts](std::string_view key, auto value) {
    Item item = {.key = std::string(key), .label = std::string(key), .value = value};
    item.unit = Unit::kCount;
    for (const ResultKey* known : {&keys::graph_launches, &keys::graph_kernels}) {
      if (key == known->key) item.label = known->title;
    }
    facts.items.push_back(std::move(item));
  });
  return {.key = "links", .title = "Links", .blocks = {facts}};
}

Section launch_summary(const LaunchReport& launch) {
  const LaunchMetrics& whole = launch.whole;
  const bool any = whole.kernels > 0;
  const auto if_any = [any](int64_t ns) { return any ? Value(ns) : Value(); };
  return {.key = "launch",
          .title = "Launch numbers",
          .blocks = {Facts{
              .items = {fact(keys::kernels, whole.kernels), fact(keys::linked, whole.linked),
                        fact(keys::launches, whole.launches), fact(keys::tklqt_ns, whole.tklqt_ns),
                        fact(keys::clamped, whole.clamped), fact(keys::dropped, whole.dropped),
                        fact(keys::kernel_sum_ns, whole.kernel_sum_ns),
                        fact(keys::kernel_union_ns, whole.kernel_union_ns),
                        fact(keys::il_ns, if_any(whole.il_ns)),
                        fact(keys::gpu_idle_eq5_ns, if_any(whole.gpu_idle_eq5_ns)),
                        fact(keys::gpu_idle_union_ns, if_any(whole.gpu_idle_union_ns))}}}};
}

// Title of a key: "TKLQT" for "tklqt_ns". Empty if the key is not a result.
std::string_view title_of(std::string_view key) {
#define ASSAY_TITLE(key, title, unit, meaning) {#key, title},
#define ASSAY_NO_TITLE(...)
  static const std::map<std::string_view, std::string_view> kTitles = {
      ASSAY_SHARED_RESULTS(ASSAY_TITLE, ASSAY_NO_TITLE, ASSAY_NO_TITLE)
          ASSAY_LAUNCH_RESULTS(ASSAY_TITLE, ASSAY_NO_TITLE, ASSAY_NO_TITLE)
              ASSAY_OVERHEAD_RESULTS(ASSAY_TITLE, ASSAY_NO_TITLE, ASSAY_NO_TITLE)
                  ASSAY_BREAKDOWN_RESULTS(ASSAY_TITLE, ASSAY_NO_TITLE, ASSAY_NO_TITLE)
                      ASSAY_FLOW_RESULTS(ASSAY_TITLE, ASSAY_NO_TITLE, ASSAY_NO_TITLE)};
#undef ASSAY_TITLE
#undef ASSAY_NO_TITLE
  const auto found = kTitles.find(key);
  return found == kTitles.end() ? std::string_view() : found->second;
}

// "tklqt_ns,akd_ns" becomes "TKLQT, AKD, mean kernel"; in other words, underscores become blanks.
std::string titles_of(const std::string& list) {
  std::string text;
  std::istringstream keys(list);
  for (std::string key; std::getline(keys, key, ',');) {
    std::string title(title_of(key));
    if (title.empty()) {
      title = key;
      std::replace(title.begin(), title.end(), '_', ' ');
    }
    text += (text.empty() ? "" : "; ") + title;
  }
  return text;
}

// False if the text begins with a symbol ("t_l", "n") or with the path of the file that the caveat
// is about.
bool begins_with_a_word(std::string_view text) {
  const std::string_view first = text.substr(0, text.find(' '));
  return first.size() > 1 && std::islower(static_cast<unsigned char>(first[1])) != 0 &&
         first.find_first_of("./") == std::string_view::npos;
}

// The effect, followed by the count and the affected numbers.
std::string note_words(const TrustNote& note) {
  std::string text = note.effect;
  if (begins_with_a_word(text)) {
    text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  }
  std::string what = note.what;
  std::replace(what.begin(), what.end(), '_', ' ');
  text += fmt::format(" ({}: {}", what, format_count(static_cast<int64_t>(note.count)));
  if (note.time_ns != 0) text += ", " + format_ns(note.time_ns) + " at stake";
  if (!note.affects.empty()) text += "; affects " + titles_of(note.affects);
  return text + ")";
}

}  // namespace

std::vector<Item> trace_items(const Trace& trace) {
  std::vector<Item> items;
  if (trace.distributed.rank) {
    items.push_back({.key = "rank", .label = "rank", .value = *trace.distributed.rank});
  }
  if (trace.distributed.world_size) {
    items.push_back(
        {.key = "world_size", .label = "world size", .value = *trace.distributed.world_size});
  }
  std::string device;
  for (const DeviceProperties& properties : trace.devices) {
    if (device.empty()) device = properties.name;
  }
  if (!device.empty()) {
    items.push_back({.key = "device", .label = "device", .value = device, .unit = Unit::kNone});
  }
  items.push_back(
      {.key = "events", .label = "events", .value = trace.counts.events, .unit = Unit::kCount});
  items.push_back({.key = "content_bytes",
                   .label = "size",
                   .value = trace.content_bytes,
                   .unit = Unit::kBytes});
  items.push_back({.key = "stored_bytes",
                   .label = "size",
                   .value = trace.source_bytes,
                   .unit = Unit::kBytes,
                   .show = Show::kDataOnly});
  const TimeSpan span = time_span(trace);
  if (span.known()) {
    items.push_back({.key = "span_ns",
                     .label = "span",
                     .value = span.last_ns - span.first_ns,
                     .unit = Unit::kNanoseconds});
  }
  if (trace.source_checksum) {
    items.push_back(
        {.key = "checksum", .label = "checksum", .value = checksum_text(*trace.source_checksum)});
  }
  return items;
}

std::vector<Section> import_summary_sections(const Trace& trace, const Links& links,
                                             const LaunchReport& launch) {
  const TimeSpan span = time_span(trace);
  return {rows_section(trace),        tables_section(trace),     kinds_section(trace),
          times_section(trace, span), sums_section(trace, span), links_section(links.stats),
          launch_summary(launch)};
}

Section trust_section(const TrustNotes& notes) {
  TableOf table(
      notes, {.key = "caveats", .title = "Caveats", .terminal_limit = 0, .show = Show::kDataOnly});
  table.add(keys::code, &TrustNote::what)
      .add(keys::count, &TrustNote::count)
      .add(keys::time_ns, &TrustNote::time_ns)
      .add(keys::affects, &TrustNote::affects)
      .add(keys::text, &TrustNote::effect);
  // Sentences do not fit into table cells, so readers get them as prose.
  Prose prose{.bullets = true, .show = Show::kReadersOnly};
  for (const TrustNote& note : notes) prose.paragraphs.push_back(note_words(note));
  if (notes.empty()) prose.paragraphs.push_back("nothing found that would move a number");
  return {.key = "", .title = "Caveats: what may change these numbers", .blocks = {table, prose}};
}

TrustNotes all_notes(const ImportLog& log, std::initializer_list<TrustNotes> rooms) {
  TrustNotes notes;
  for (size_t i = 0; i < kImportCodes; ++i) {
    const auto code = static_cast<ImportCode>(i);
    const ImportCodeInfo& info = import_code_info(code);
    if (info.severity != Severity::kDataLoss || log.entry(code).count == 0) continue;
    notes.push_back({std::string(info.key), log.entry(code).count, 0, "all numbers",
                     std::string(info.meaning)});
  }
  for (const TrustNotes& room : rooms) notes.insert(notes.end(), room.begin(), room.end());
  return notes;
}

TrustNotes kernel_notes(const Trace& trace, const KernelNames& names) {
  KernelTally tally;
  for (size_t a = 0; a < trace.activities.size(); ++a) {
    if (trace.activities.kind[a] != ActivityKind::kKernel) continue;
    const StringId name = trace.activities.name[a];
    tally.add(name, names.of(name), trace.activities.dur_ns[a]);
  }
  NoteList notes;
  notes.add("kernels_guessed", tally.guessed().kernels, tally.guessed().dur_ns, "op_type,families",
            tally.guessed_text());
  notes.add("kernels_untold", tally.untold().kernels, tally.untold().dur_ns, "op_type,families",
            tally.untold_text());
  return notes.take();
}

void hide_from_readers(Section& section) {
  std::erase_if(section.blocks, [](const Block& block) {
    return std::visit([](const auto& b) { return b.show == Show::kReadersOnly; }, block);
  });
  for (Block& block : section.blocks) {
    std::visit([](auto& b) { b.show = Show::kDataOnly; }, block);
  }
}

void hide_from_data(Section& section) {
  std::erase_if(section.blocks, [](const Block& block) {
    return std::visit([](const auto& b) { return b.show == Show::kDataOnly; }, block);
  });
  for (Block& block : section.blocks) {
    std::visit(
        [](auto& b) {
          if (b.show == Show::kEverywhere) b.show = Show::kReadersOnly;
        },
        block);
  }
}

}  // namespace assay
