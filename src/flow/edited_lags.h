#pragma once

// What edits make of a graph's lags.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "flow/edits.h"
#include "flow/graph.h"
#include "flow/names.h"
#include "flow/pieces.h"

namespace assay {

// What edits leave of everything of a kind.
struct EditStrengths {
  std::array<double, kFlowCauses> cause = [] {  // of host pieces and calls
    std::array<double, kFlowCauses> all{};
    all.fill(1);
    return all;
  }();
  std::array<double, 4> work = {1, 1, 1, 1};  // of device work, by WorkKind
  double silence = 1;                         // of long stretches of which nothing is recorded
  double host = 1;                            // Edit::host; multiplies
  bool no_pauses = false;                     // as Edit
  bool keeps_silence = false;                 // one of them does
};

// Several edits as one: where they change the same thing, the stronger holds, whichever came first.
// Tables are empty where no edit has an entry.
struct StrongestEdits {
  EditStrengths all;
  std::vector<double> calls;        // what is left, per call
  std::vector<double> works;        // per work
  std::vector<double> works_scale;  // per work: Edit::works_scale, multiplied
  std::vector<double> ops;          // per operator
  std::vector<double> frame_names;  // per StringId
  Edit::Marks unwaited;             // as Edit
  Edit::Marks free_calls;
  Edit::Marks short_calls;
  std::vector<int64_t> joined_ns;  // per work: the most that lies between it and its stream's last
};
void add_edit(const Edit& edit, StrongestEdits& sum);
StrongestEdits sum_of(std::span<const Edit* const> edits);

// How the host's segments were edited: rounding differs between the two.
enum class HostEdits : uint8_t { kNone, kByParts, kByPieces };

struct EditedLags {
  std::vector<int64_t> lag_ns;   // per edge
  std::vector<int64_t> part_ns;  // per part of a segment
  HostEdits host = HostEdits::kNone;
  friend bool operator==(const EditedLags&, const EditedLags&) = default;
};

// What edits may change of a graph. What happened until from_ns stays as it was. run and graph must
// outlive it.
//
// Problem: 30 edits and their order are some 500 sets of edits, each of which changes few of a
// graph's edges. Method: edges that an edit can change are listed once, by kind, as slots, with
// what decides about them and with the piece of host time that a segment begins with; a set of
// edits goes through the kinds that it changes, one more edit on top of a set through the slots
// that it touches.
class EditSlots {
 public:
  EditSlots(const FlowRun& run, const FlowGraph& graph, int64_t from_ns);

  struct Entry {
    uint32_t edge = 0;
    uint32_t row = 0;          // call or work
    uint32_t op = kNoFlowRow;  // of a call that does not wait: in which it is
    uint8_t kind = 0;          // FlowCause of the call or its return, WorkKind of the work
    bool makes_room = false;   // a call in the launch queue
  };
  static constexpr uint32_t kToLookUp = UINT32_MAX;         // which pieces a segment goes through
  static constexpr uint32_t kReachesBack = UINT32_MAX - 1;  // the same, and begins before from_ns
  struct Segment {
    int64_t start_ns = 0;  // of a thread of which all of the segment is known
    int64_t end_ns = 0;
    uint32_t call = kNoFlowRow;  // that it leads to; kNoFlowRow = stays as it was
    uint32_t piece = kToLookUp;  // the one that holds start_ns
  };

  const FlowRun& run() const { return run_; }
  const FlowGraph& graph() const { return graph_; }
  int64_t from_ns() const { return from_ns_; }
  uint32_t count() const { return static_cast<uint32_t>(entries_.size() + segments_.size()); }
  // Slots below the number of entries are entries, by kind and then by point; the others are the
  // graph's segments.
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
  std::vector<Segment> segments_;                       // as the graph's
};

// Lags of one graph under one set of edits after the other. slots must outlive it; each thread has
// an editor of its own.
class LagEditor {
 public:
  explicit LagEditor(const EditSlots& slots);
  EditedLags lags(const StrongestEdits& edits);
  // The same, into the room of those before.
  void lags(const StrongestEdits& edits, EditedLags& lags);
  // Slots that edits change, alone or on top of others, ascending. of: lags() of them.
  std::vector<uint32_t> touched(const StrongestEdits& edits, const EditedLags& of) const;
  // Whether one more edit may be laid over lags slot by slot: see edit().
  bool fits(const StrongestEdits& edits, const Edit& more, const EditedLags& lags);
  // Lays one more edit over lags of some, at slots that it touches. Returns whether anything
  // changed.
  bool edit(const StrongestEdits& edits, const Edit& more, std::span<const uint32_t> slots,
            EditedLags& lags);
  // What edits make of a lag of a slot that is no segment: of the last edits it was told to begin
  // with.
  void begin(const StrongestEdits& edits) { begin(edits, nullptr); }
  int64_t edited(uint32_t slot, int64_t lag_ns) const;
  // Slots of `from` into `to`, which are equal elsewhere.
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
  // What the edits at work say of a row.
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
  std::array<int64_t, kFlowCauses> saved_ns_{};  // of the segment at work
  // At work: edits, and one more on top of them, where there is one.
  const StrongestEdits* edits_ = nullptr;
  const Edit* more_ = nullptr;
  EditStrengths all_;                  // of both
  HostEdits host_ = HostEdits::kNone;  // what both do
  bool has_rows_ = false;              // of pieces by operator or frame
  bool changes_host_ =
      false;  // what a thread did before a call, other than for calls that are free
};

// Of edits on one graph.
EditedLags edited_lags(const FlowRun& run, const FlowGraph& graph,
                       std::span<const Edit* const> edits, int64_t from_ns = INT64_MIN);

}  // namespace assay
