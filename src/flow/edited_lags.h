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

// Several edits as one: where they change the same thing, the stronger holds, whichever came first.
// Tables are empty where no edit has an entry.
struct StrongestEdits {
  std::array<double, kFlowCauses> cause = [] {  // what is left of host pieces and calls
    std::array<double, kFlowCauses> all{};
    all.fill(1);
    return all;
  }();
  std::array<double, 4> work = {1, 1, 1, 1};  // of device work, by WorkKind
  double silence = 1;                         // of long stretches of which nothing is recorded
  bool no_pauses = false;                     // as Edit
  bool keeps_silence = false;                 // one of them does
  std::vector<double> calls;                  // what is left, per call
  std::vector<double> works;                  // per work
  std::vector<double> ops;                    // per operator
  std::vector<double> frame_names;            // per StringId
  Edit::Marks unwaited;                       // as Edit
  Edit::Marks free_calls;
  Edit::Marks short_calls;
  std::vector<int64_t> joined_ns;  // per work: the most that lies between it and its stream's last
};
void add_edit(const Edit& edit, StrongestEdits& sum);
StrongestEdits sum_of(std::span<const Edit* const> edits);

struct EditedLags {
  std::vector<int64_t> lag_ns;   // per edge
  std::vector<int64_t> part_ns;  // per part of a segment
  bool by_pieces = false;        // parts were edited piece by piece, and rounded so
  friend bool operator==(const EditedLags&, const EditedLags&) = default;
};

// Lags of one graph under one set of edits after the other. What happened until from_ns stays as it
// was. run and graph must outlive it.
class LagEditor {
 public:
  LagEditor(const FlowRun& run, const FlowGraph& graph, int64_t from_ns);
  EditedLags lags(const StrongestEdits& edits);
  // The same, into the room of those before.
  void lags(const StrongestEdits& edits, EditedLags& lags);
  // Points into which edits change an edge: `of` is lags() of them.
  std::vector<uint32_t> touched(const EditedLags& of) const;
  // lags() of edits and one more, which touches no other points; before: lags() without it. The
  // same to the nanosecond.
  void lags_with(const StrongestEdits& edits, const std::vector<uint32_t>& points,
                 const EditedLags& before, EditedLags& lags);

 private:
  void begin(const StrongestEdits& edits);
  void edit_point(uint32_t p, size_t segment, EditedLags& lags);
  int64_t edited(EdgeKind kind, uint32_t row, int64_t lag_ns) const;
  int64_t edited_return(uint32_t c, int64_t lag_ns) const;
  int64_t edited_call(uint32_t c, int64_t lag_ns) const;
  void edit_segment(uint32_t point, uint32_t edge, size_t segment, EditedLags& lags);
  std::array<int64_t, kFlowCauses> walked_savings(const std::array<SegmentSpan, 2>& spans,
                                                  bool is_free);
  double left_of(FlowCause cause) const { return edits_->cause[static_cast<size_t>(cause)]; }
  double left_of(FlowCause cause, int64_t ns) const;
  double left_of_piece(const HostPiece* piece, FlowCause cause, int64_t ns);
  bool stands_still(const HostPiece& piece, int64_t ns);

  const FlowRun& run_;
  const FlowGraph& graph_;
  const int64_t from_ns_;
  PieceCursor cursor_;
  HostNames names_;
  const StrongestEdits* edits_ = nullptr;  // at work
  bool walks_ = false;                     // as EditedLags::by_pieces
  bool changes_host_ =
      false;  // what a thread did before a call, other than for calls that are free
};

// Of edits on one graph.
EditedLags edited_lags(const FlowRun& run, const FlowGraph& graph,
                       std::span<const Edit* const> edits, int64_t from_ns = INT64_MIN);

}  // namespace assay
