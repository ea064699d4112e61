#include "answers/ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "base/files.h"
#include "report/document/import_notes.h"
#include "report/run/section.h"

namespace assay {
namespace {

// Caveats on ranks that are missing from the set or occur twice, according to the recorded world
// size.
TrustNotes rank_oddities(const std::vector<Trace>& heads) {
  std::set<int64_t> seen;
  uint64_t twice = 0;
  int64_t world_size = 0;
  for (const Trace& head : heads) {
    if (head.distributed.world_size)
      world_size = std::max(world_size, *head.distributed.world_size);
    if (head.distributed.rank) twice += !seen.insert(*head.distributed.rank).second;
  }
  TrustNotes notes;
  std::string missing;
  uint64_t missing_count = 0;
  for (int64_t rank = 0; rank < world_size && !seen.empty(); ++rank) {
    if (seen.count(rank) != 0) continue;
    if (++missing_count <= 16) missing += fmt::format("{}{}", missing.empty() ? "" : ", ", rank);
  }
  if (missing_count > 0) {
    notes.push_back(
        {"missing_ranks", missing_count, 0, "overview",
         fmt::format("{} of {} ranks are not in this set ({}{}): nothing here says how "
                     "they ran",
                     missing_count, world_size, missing, missing_count > 16 ? ", ..." : "")});
  }
  if (twice > 0) {
    notes.push_back({"repeated_ranks", twice, 0, "overview",
                     "the same rank occurs more than once: these may be different runs"});
  }
  return notes;
}

// Table that compares the traces of a set.
Section overview_section(const std::vector<std::vector<Item>>& overviews,
                         const std::vector<Trace>& heads) {
  Table table{
      .key = "overview",
      .title = "Side by side",
      .columns = {{.key = "rank", .title = "rank"},
                  {.key = "name", .title = "name", .unit = Unit::kText, .show = Show::kDataOnly},
                  {.key = "file",
                   .title = "file",
                   .unit = Unit::kText,
                   .elastic = true,
                   .show = Show::kReadersOnly}},
      .terminal_limit = 0};
  for (const Item& item : overviews.front()) {
    table.columns.push_back({.key = item.key, .title = item.label, .unit = item.unit});
  }
  for (size_t i = 0; i < overviews.size(); ++i) {
    Row row = {heads[i].distributed.rank, heads[i].source, file_name(heads[i].source)};
    for (const Item& item : overviews[i]) row.push_back(item.value);
    table.rows.push_back(std::move(row));
  }
  return {.key = "", .title = "", .blocks = {std::move(table)}};
}

// Keeps the properties of a trace that the set's head needs and frees its rows.
Trace head_of(Trace&& trace) {
  Trace head;
  head.source = std::move(trace.source);
  head.distributed = std::move(trace.distributed);
  return head;
}

// The traces of a set that have been read so far.
struct TraceSet {
  Document document;
  std::vector<Trace> heads = {};
  std::vector<std::vector<Item>> overviews = {};
  bool data_lost = false;

  void add(LoadedTrace loaded, TraceContent content);
  void finish();
};

void TraceSet::add(LoadedTrace loaded, TraceContent content) {
  const Trace& trace = loaded.trace;
  std::vector<ImportNote> import_log = import_notes(trace.log);
  for (ImportNote& note : content.import_log) import_log.push_back(std::move(note));
  data_lost |= has_losses(import_log);
  document.inputs.push_back({trace.source, trace_items(trace)});
  document.parts.push_back({trace.source, trace_items(trace), std::move(import_log),
                            std::move(content.verdict), std::move(content.sections),
                            std::move(content.answer), std::move(content.lanes),
                            std::move(content.lane_details)});
  overviews.push_back(std::move(content.overview));
  heads.push_back(head_of(std::move(loaded.trace)));
}

// A single trace becomes the whole document; for several, the head compares them.
void TraceSet::finish() {
  if (heads.size() == 1) {
    Part part = std::move(document.parts.front());
    document.parts.clear();
    document.import_log = std::move(part.import_log);
    document.verdict = std::move(part.verdict);
    document.sections = std::move(part.sections);
    document.answer = std::move(part.answer);
    document.lanes = std::move(part.lanes);
    document.lane_details = std::move(part.lane_details);
    return;
  }
  const TrustNotes notes = rank_oddities(heads);
  for (const TrustNote& note : notes) document.verdict.push_back(note.effect + ".");
  Section trust = trust_section(notes);
  if (notes.empty()) hide_from_readers(trust);  // each trace has its own caveats
  document.sections = {overview_section(overviews, heads), std::move(trust)};
}

}  // namespace

Result<Answer> answer_traces(const TraceRequest& request, const std::string& title,
                             const Analyze& analyze,
                             const std::function<void(Document&)>& conclude) {
  ASSAY_TRY_ASSIGN(std::vector<std::string> files, accepted_files(request));
  TraceSet set{new_document(title)};
  set.document.parts_key = "ranks";
  std::string skipped;
  for (size_t i = 0; i < files.size(); ++i) {
    auto loaded = load_or_split(files, i, request);
    if (!loaded && skip_input(request, files[i], loaded.error())) {
      if (skipped.empty()) skipped = "; " + loaded.error().describe();
      continue;
    }
    if (!loaded) return loaded.take_error();
    ASSAY_TRY_ASSIGN(TraceContent content, analyze(*loaded));
    set.add(*std::move(loaded), std::move(content));
  }
  if (set.heads.empty()) {
    return Error{ErrorCode::kInvalidArgument, "none of the files found is a trace" + skipped, "", -1};
  }
  set.finish();
  if (conclude) conclude(set.document);
  const bool data_lost = set.data_lost || has_losses(set.document.import_log);
  return Answer{std::move(set.document), data_lost};
}

void put_first(std::vector<std::string> words, std::vector<Section> sections, Document& document) {
  document.verdict.insert(document.verdict.begin(), std::make_move_iterator(words.begin()),
                          std::make_move_iterator(words.end()));
  // After the table of all ranks, before its limits.
  const auto behind_first = document.sections.begin() + (document.sections.empty() ? 0 : 1);
  document.sections.insert(behind_first, std::make_move_iterator(sections.begin()),
                           std::make_move_iterator(sections.end()));
}

}  // namespace assay
