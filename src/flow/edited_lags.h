#pragma once

// Lags of a dependency graph after what-if edits.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "flow/edits.h"
#include "flow/graph.h"
#include "flow/names.h"
#include "flow/pieces.h"

namespace assay {

// Fractions of time that edits leave, by kind of time. 1 = unchanged.
struct EditStrengths {
  std::array<double, kFlowCauses> cause = [] {  // of host pieces and calls, by FlowCause
    std::array<double, kFlowCauses> all{};
    all.fill(1);
    return all;
  }();
  std::array<double, 4> work = {1, 1, 1, 1};  // of device work, by WorkKind
  double silence = 1;                         // of unattributed host time of kPauseNs or more
  double host = 1;                            // product of Edit::host
  bool no_pauses = false;                     // as Edit
  bool keeps_silence = false;                 // Edit::keeps_silence of any edit
};

// Several edits combined. If two change the same thing, the smaller fraction applies, whatever
// their order. A table is empty if no edit has an entry.
struct StrongestEdits {
  EditStrengths all;
  std::vector<double> calls;        // fraction left, per call
  std::vector<double> works;        // per work
  std::vector<double> works_scale;  // per work: product of Edit::works_scale
  std::vector<double> ops;          // per operator
  std::vector<double> frame_names;  // per StringId
  Edit::Marks unwaited;             // as Edit
  Edit::Marks free_calls;
  Edit::Marks short_calls;
  std::vector<int64_t> joined_ns;  // per work: longest gap to its stream predecessor
};
void add_edit(const Edit& edit, StrongestEdits& sum);
StrongestEdits sum_of(std::span<const Edit* const> edits);

// How the host's segments were edited. The two ways round differently.
enum class HostEdits : uint8_t { kNone, kByParts, kByPieces };

struct EditedLags {
  std::vector<int64_t> lag_ns;   // per edge
  std::vector<int64_t> part_ns;  // per part of a segment
  HostEdits host = HostEdits::kNone;
  friend bool operator==(const EditedLags&, const EditedLags&) = default;
};

// The edges of a graph that edits may change. Edges with a target not after from_ns keep their lag.
// run and graph must outlive it.
//
// Problem: 30 edits and their order need some 500 combinations, each of which changes few edges.
// Method: list once, by kind, the edges that an edit can change (slots), with the facts that decide
// the change and, for a segment, the host piece it begins in. A combination visits the kinds that
// it changes; one more edit on top visits only the slots that it touches.
class EditSlots {
 public:
  EditSlots(const FlowRun& run, const FlowGraph& graph, int64_t from_ns);

  struct Entry {
    uint32_t edge = 0;
    uint32_t row = 0;          // index of a call or work, by kind of edge
    uint32_t op = kNoFlowRow;  // innermost operator around a call that does not wait
    uint8_t kind = 0;          // FlowCause of a call or its return; WorkKind of work
    bool makes_room = false;   // a call that waited for space in the launch queue
  };
  static constexpr uint32_t kToLookUp = UINT32_MAX;         // the pieces must be looked up
  // The same, and the segment begins before from_ns.
  static constexpr uint32_t kReachesBack = UINT32_MAX - 1;
  struct Segment {
    int64_t start_ns = 0;  // set only if all of the segment is on one known thread
    int64_t end_ns = 0;
    uint32_t call = kNoFlowRow;  // the call at its end; kNoFlowRow = keeps its lag
    uint32_t piece = kToLookUp;  // the piece that contains start_ns
  };

  const FlowRun& run() const { return run_; }
  const FlowGraph& graph() const { return graph_; }
  int64_t from_ns() const { return from_ns_; }
  uint32_t count() const { return static_cast<uint32_t>(entries_.size() + segments_.size()); }
  // Slots below the number of entries are entries, by kind and then by point. The rest are the
  // graph's segments, in its order.
  bool is_entry(uint32_t slot) const { return slot < entries_.size(); }
  const Entry& entry(uint32_t slot) const { return entries_[slot]; }
  size_t segment_of(uint32_t slot) const { return slot - entries_.size(); }
  const std::vector<Segment>& segments() const { return segments_; }
  std::span<const Entry> entries(EdgeKind kind) const {
    const auto k = static_cast<size_t>(kind);
    return {entries_.data() + first_entry_[k], entries_.data() + first_entry_[k + 1]};
  }
  uint32_t edge_of(uint32_t slot) const {
    return is_entry(slot) ? entries_[slot].edge : graph_.segment_edge[segment_of(slot)];
  }

 private:
  void add_entries();
  Entry entry_of(uint32_t point, uint32_t edge) const;
  Segment segment_at(uint32_t point, uint32_t edge, PieceCursor& cursor) const;

  const FlowRun& run_;
  const FlowGraph& graph_;
  const int64_t from_ns_;
  std::vector<Entry> entries_;
  std::array<uint32_t, kEdgeKinds + 1> first_entry_{};  // per kind
  std::vector<Segment> segments_;                       // in the graph's order
};

// Computes lags of one graph under different sets of edits. slots must outlive it. Not thread-safe:
// use one editor per thread.
class LagEditor {
 public:
  explicit LagEditor(const EditSlots& slots);
  EditedLags lags(const StrongestEdits& edits);
  // The same, into an existing object.
  void lags(const StrongestEdits& edits, EditedLags& lags);
  // Slots that the edits change, alone or on top of others, ascending. of: lags(edits).
  std::vector<uint32_t> touched(const StrongestEdits& edits, const EditedLags& of) const;
  // True if edit() can apply `more` on top of these lags.
  bool fits(const StrongestEdits& edits, const Edit& more, const EditedLags& lags);
  // Applies one more edit to the lags of `edits`, at the slots that it touches. Returns true if a
  // lag changed.
  bool edit(const StrongestEdits& edits, const Edit& more, std::span<const uint32_t> slots,
            EditedLags& lags);
  // begin() sets the edits; edited() then returns the edited lag of a slot that is an entry.
  void begin(const StrongestEdits& edits) { begin(edits, nullptr); }
  int64_t edited(uint32_t slot, int64_t lag_ns) const;
  // Copies the lags of these slots. The two must be equal elsewhere.
  void copy(std::span<const uint32_t> slots, const EditedLags& from, EditedLags& to) const;

  const EditSlots& slots() const { return slots_; }

 private:
  using Entry = EditSlots::Entry;
  using Segment = EditSlots::Segment;

  void begin(const StrongestEdits& edits, const Edit* more);
  bool changes(EdgeKind kind) const;
  int64_t edited(EdgeKind kind, const Entry& entry, int64_t lag_ns) const;
  int64_t edited_return(const Entry& entry, int64_t lag_ns) const;
  int64_t edited_own(const Entry& entry, int64_t lag_ns) const;
  int64_t edited_call(const Entry& entry, int64_t lag_ns) const;
  // The fraction left of a row under the current edits.
  double left_of_row(std::vector<double> StrongestEdits::* table, Edit::Marks Edit::* marks,
                     uint32_t row) const;
  double left_of_work(uint32_t w) const;
  double scale_of_work(uint32_t w) const;
  bool marks(Edit::Marks StrongestEdits::* table, Edit::Marks Edit::* marks, uint32_t c) const;
  template <typename Table>
  bool has_any(Table StrongestEdits::* table, Edit::Marks Edit::* marks) const;
  void edit_segment(size_t segment, EditedLags& lags);
  void find_savings(size_t segment, bool is_free);
  void look_up_savings(size_t segment, bool is_free);
  void add_saving(const HostPiece* piece, int64_t ns, bool is_free);
  double left_of(FlowCause cause) const { return all_.cause[static_cast<size_t>(cause)]; }
  double left_of(FlowCause cause, int64_t ns) const;
  double pace_of(FlowCause cause, int64_t ns) const;
  double left_of_piece(const HostPiece* piece, FlowCause cause, int64_t ns);
  bool stands_still(const HostPiece& piece, int64_t ns);

  const EditSlots& slots_;
  const FlowRun& run_;
  const FlowGraph& graph_;
  PieceCursor cursor_;
  HostNames names_;
  std::array<int64_t, kFlowCauses> saved_ns_{};  // of the current segment
  // The current edits, and optionally one more on top.
  const StrongestEdits* edits_ = nullptr;
  const Edit* more_ = nullptr;
  EditStrengths all_;                  // of both
  HostEdits host_ = HostEdits::kNone;  // what both do
  bool has_rows_ = false;              // some edit selects operators or frames
  bool changes_host_ =
      false;  // host time before calls, other than for free_calls
};

// Convenience: the lags of one graph under these edits.
EditedLags edited_lags(const FlowRun& run, const FlowGraph& graph,
                       std::span<const Edit* const> edits, int64_t from_ns = INT64_MIN);

}  // namespace assay
