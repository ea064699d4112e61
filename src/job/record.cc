#include "job/record.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "base/checksum.h"
#include "base/varint.h"
#include "job/record_graph.h"
#include "records/rank_record.h"

namespace assay {
namespace {

static_assert(std::endian::native == std::endian::little, "records are little-endian");

struct Head {
  char magic[8] = {};
  uint16_t major = 0;
  uint16_t minor = 0;
  uint32_t stamp_bytes = 0;
  uint64_t payload_bytes = 0;
  uint64_t checksum = 0;  // of the fields after the magic, the stamp and the payload
};
static_assert(sizeof(Head) == 32);

// ---- sections: an id, a length, and bytes that readers who do not know the id skip ----

enum SectionId : uint8_t {
  kIdentity = 1,
  kGroups,
  kIterations,
  kArrivals,
  kOperations,
  kKernels,
  kCauses,
  kGraph,
};

constexpr size_t kIdentityCap = size_t{8} << 10;
constexpr size_t kGroupsCap = size_t{16} << 10;
constexpr size_t kIterationsCap = size_t{32} << 10;
constexpr size_t kMostIterations = 512;
constexpr size_t kArrivalsCap = size_t{64} << 10;
constexpr size_t kGraphCap = size_t{96} << 10;
constexpr size_t kOperationsCap = size_t{24} << 10;
constexpr size_t kKernelsCap = size_t{14} << 10;
constexpr size_t kMostHeavy = 64;  // operations and kernels
constexpr size_t kLongestText = 256;
constexpr size_t kLongestPath = 1024;

void add_section(SectionId id, const std::string& bytes, VarintWriter& to) {
  to.add(id);
  to.add_text(bytes);
}

// Writes as many items as `cap` bytes and `most` items allow: the number cut, the number kept, then
// the items.
template <typename Item, typename Write>
std::string capped_list(const std::vector<Item>& items, size_t cap, size_t most,
                        uint64_t cut_before, const Write& write) {
  constexpr size_t kCounts = 20;  // two varints of any size
  VarintWriter body;
  size_t kept = 0;
  for (; kept < std::min(items.size(), most); ++kept) {
    VarintWriter one;
    write(items[kept], one);
    if (body.size() + one.size() + kCounts > cap) break;
    body.add_bytes(one.bytes());
  }
  VarintWriter list;
  list.add(cut_before + items.size() - kept);
  list.add(kept);
  list.add_bytes(body.bytes());
  return list.bytes();
}

void write_optional(const std::optional<int64_t>& value, VarintWriter& to) {
  to.add(value ? 1 : 0);
  if (value) to.add_signed(*value);
}

std::optional<int64_t> read_optional(VarintReader& from) {
  if (from.next() == 0) return std::nullopt;
  return from.next_signed();
}

std::string identity_bytes(const RankRecord& record) {
  VarintWriter to;
  write_optional(record.rank, to);
  write_optional(record.world_size, to);
  to.add(record.data_lost ? 1 : 0);
  to.add_text(std::string_view(record.host).substr(0, kLongestText));
  to.add_text(std::string_view(record.window_source).substr(0, kLongestText));
  to.add(record.device_count);
  const size_t devices = std::min<size_t>(record.devices.size(), 8);
  to.add(devices);
  for (size_t d = 0; d < devices; ++d) {
    to.add_text(std::string_view(record.devices[d]).substr(0, kLongestText));
  }
  to.add_bytes(capped_list(record.notes, kIdentityCap - to.size(), SIZE_MAX, record.cuts.notes,
                           [](const RecordNote& note, VarintWriter& one) {
                             one.add_text(std::string_view(note.what).substr(0, kLongestText));
                             one.add(note.count);
                           }));
  return to.bytes();
}

void write_group(const RecordGroup& group, VarintWriter& to) {
  to.add_text(std::string_view(group.name).substr(0, kLongestText));
  to.add_text(std::string_view(group.members).substr(0, kMembersKept));
  to.add_text(std::string_view(group.kind).substr(0, kLongestText));
  to.add_signed(group.size);
  to.add(group.waits ? 1 : 0);
}

void write_iteration(const RecordIteration& one, VarintWriter& to) {
  to.add_signed(one.number);
  for (const int64_t ns : {one.start_ns, one.span_ns, one.kernel_ns, one.launch_ns,
                           one.comm_wait_ns, one.copy_ns, one.exposed_comm_ns, one.tokens}) {
    to.add_signed(ns);
  }
  to.add(one.collectives);
}

void write_operation(const RecordOperation& one, VarintWriter& to) {
  to.add_text(std::string_view(one.name).substr(0, kNameKept));
  to.add(one.kernels);
  for (const int64_t ns : {one.kernel_ns, one.launch_ns, one.comm_wait_ns, one.copy_ns}) {
    to.add_signed(ns);
  }
  one.durations.write(to);
}

void write_kernel(const RecordKernel& one, VarintWriter& to) {
  to.add_text(std::string_view(one.name).substr(0, kNameKept));
  to.add(one.hash);
  to.add(one.count);
  to.add_signed(one.dur_ns);
  one.durations.write(to);
}

std::string causes_bytes(const RecordCauses& causes) {
  VarintWriter to;
  for (const int64_t ns :
       {causes.window_ns, causes.compute_ns, causes.collective_ns, causes.copy_ns}) {
    to.add_signed(ns);
  }
  to.add(causes.idle_ns.size());
  for (const int64_t ns : causes.idle_ns) to.add_signed(ns);
  return to.bytes();
}

// ---- arrivals ----

// Expected next sequence number of a group: one byte encodes it if the recorded number matches.
int64_t next_number(int64_t last) { return last < 0 ? -1 : last + 1; }

class ArrivalWriter {
 public:
  explicit ArrivalWriter(size_t groups) : groups_(groups, -1) {}

  // Encodes the arrivals of one iteration, sorted by start. A block decodes without the others, so
  // blocks can be left out.
  std::string block(const std::vector<const RecordArrival*>& arrivals) {
    VarintWriter to;
    std::fill(groups_.begin(), groups_.end(), -1);
    to.add_signed(arrivals.front()->iteration);
    to.add(arrivals.size());
    to.add_signed(arrivals.front()->start_ns);
    int64_t reached_ns = arrivals.front()->start_ns;
    for (const RecordArrival* one : arrivals) {
      int64_t& last_seq = groups_[one->group];
      const int64_t gap_ns = one->start_ns - reached_ns;
      to.add(one->group);
      to.add_signed(gap_ns);
      to.add(static_cast<uint64_t>(one->end_ns - one->start_ns));
      const bool usual = one->seq == next_number(last_seq) && one->work_ns == gap_ns;
      to.add(usual ? 0 : 1);
      if (!usual) {
        to.add_signed(one->seq);
        to.add_signed(one->work_ns);
      }
      last_seq = one->seq;
      reached_ns = std::max(reached_ns, one->end_ns);
    }
    return to.bytes();
  }

 private:
  std::vector<int64_t> groups_;  // last number of each
};

struct ArrivalBlock {
  int32_t iteration = kNoRecordIteration;
  uint64_t order = 0;  // the same on every rank
  uint64_t arrivals = 0;
  std::string bytes;
};

std::vector<ArrivalBlock> arrival_blocks(const RankRecord& record, size_t groups,
                                         RecordCuts& cuts) {
  std::map<int32_t, std::vector<const RecordArrival*>> by_iteration;
  for (const RecordArrival& one : record.arrivals) {
    if (one.group >= groups) {
      ++cuts.arrivals;
    } else {
      by_iteration[one.iteration].push_back(&one);
    }
  }
  ArrivalWriter writer(groups);
  std::vector<ArrivalBlock> blocks;
  for (const auto& [iteration, arrivals] : by_iteration) {
    // Entries outside all iterations have the lowest priority.
    const uint64_t order =
        iteration == kNoRecordIteration ? UINT64_MAX : checksum(&iteration, sizeof(iteration)) >> 1;
    blocks.push_back({iteration, order, arrivals.size(), writer.block(arrivals)});
  }
  return blocks;
}

// groups: number of groups kept in the record; arrivals of others are cut.
std::string arrivals_bytes(const RankRecord& record, size_t groups) {
  constexpr size_t kCounts = 30;
  RecordCuts cuts = record.cuts;
  std::vector<ArrivalBlock> blocks = arrival_blocks(record, groups, cuts);
  std::sort(blocks.begin(), blocks.end(), [](const ArrivalBlock& a, const ArrivalBlock& b) {
    return std::pair(a.order, a.iteration) < std::pair(b.order, b.iteration);
  });
  size_t kept = 0;
  size_t bytes = kCounts;
  while (kept < blocks.size() && bytes + blocks[kept].bytes.size() <= kArrivalsCap) {
    bytes += blocks[kept++].bytes.size();
  }
  for (size_t b = kept; b < blocks.size(); ++b) {
    cuts.arrivals += blocks[b].arrivals;
    ++cuts.arrival_iterations;
  }
  blocks.resize(kept);
  std::sort(blocks.begin(), blocks.end(),
            [](const ArrivalBlock& a, const ArrivalBlock& b) { return a.iteration < b.iteration; });
  VarintWriter to;
  to.add(cuts.arrivals);
  to.add(cuts.arrival_iterations);
  to.add(blocks.size());
  for (const ArrivalBlock& block : blocks) to.add_bytes(block.bytes);
  return to.bytes();
}

void read_arrival_block(VarintReader& from, RankRecord& record) {
  const auto iteration = static_cast<int32_t>(from.next_signed());
  const size_t count = from.next_count(4);
  std::vector<int64_t> groups(record.groups.size(), -1);
  int64_t reached_ns = from.next_signed();
  for (size_t k = 0; k < count && from.ok(); ++k) {
    RecordArrival one{.iteration = iteration};
    const uint64_t group = from.next();
    const int64_t gap_ns = from.next_signed();
    const uint64_t length_ns = from.next();
    const bool usual = from.next() == 0;
    const bool known = group < groups.size();
    const int64_t seq = usual ? (known ? next_number(groups[group]) : -1) : from.next_signed();
    const int64_t work_ns = usual ? gap_ns : from.next_signed();
    constexpr int64_t kFarthest = INT64_MAX / 2;
    const auto too_long = [](int64_t ns) {
      return ns > kLongestInRecord || ns < -kLongestInRecord;
    };
    if (!known || length_ns > kLongestInRecord || too_long(gap_ns) || too_long(work_ns) ||
        reached_ns > kFarthest || reached_ns < -kFarthest) {
      from.next_bytes(UINT64_MAX);
      return;
    }
    int64_t& last_seq = groups[group];
    one.group = static_cast<uint32_t>(group);
    one.start_ns = reached_ns + gap_ns;
    one.end_ns = one.start_ns + static_cast<int64_t>(length_ns);
    one.seq = seq;
    one.work_ns = work_ns;
    last_seq = one.seq;
    reached_ns = std::max(reached_ns, one.end_ns);
    record.arrivals.push_back(one);
  }
}

void read_arrival_cuts(VarintReader& from, RankRecord& record) {
  record.cuts.arrivals = from.next();
  record.cuts.arrival_iterations = from.next();
}

void read_arrivals(VarintReader& from, RankRecord& record) {
  read_arrival_cuts(from, record);
  for (size_t left = from.next_count(3); left > 0 && from.ok(); --left) {
    read_arrival_block(from, record);
  }
}

// ---- reading ----

template <typename Item, typename Read>
void read_list(VarintReader& from, uint64_t& cut, std::vector<Item>& items, const Read& read) {
  cut = from.next();
  const size_t count = from.next_count();
  constexpr size_t kRoom = 64;  // most items reserved in advance; a damaged count may be huge
  items.reserve(std::min(count, kRoom));
  for (size_t left = count; left > 0 && from.ok(); --left) items.push_back(read(from));
}

void read_identity(VarintReader& from, RankRecord& record) {
  record.rank = read_optional(from);
  record.world_size = read_optional(from);
  record.data_lost = from.next() != 0;
  record.host = from.next_text();
  record.window_source = from.next_text();
  record.device_count = from.next();
  for (size_t left = from.next_count(); left > 0 && from.ok(); --left) {
    record.devices.emplace_back(from.next_text());
  }
  read_list(from, record.cuts.notes, record.notes, [](VarintReader& one) {
    RecordNote note{.what = std::string(one.next_text())};
    note.count = one.next();
    return note;
  });
}

RecordGroup read_group(VarintReader& from) {
  RecordGroup group;
  group.name = from.next_text();
  group.members = from.next_text();
  group.kind = from.next_text();
  group.size = from.next_signed();
  group.waits = from.next() != 0;
  return group;
}

RecordIteration read_iteration(VarintReader& from) {
  RecordIteration one;
  one.number = static_cast<int32_t>(from.next_signed());
  for (int64_t* ns : {&one.start_ns, &one.span_ns, &one.kernel_ns, &one.launch_ns,
                      &one.comm_wait_ns, &one.copy_ns, &one.exposed_comm_ns, &one.tokens}) {
    *ns = from.next_signed();
  }
  one.collectives = from.next();
  return one;
}

RecordOperation read_operation(VarintReader& from) {
  RecordOperation one;
  one.name = from.next_text();
  one.kernels = from.next();
  for (int64_t* ns : {&one.kernel_ns, &one.launch_ns, &one.comm_wait_ns, &one.copy_ns}) {
    *ns = from.next_signed();
  }
  one.durations = Histogram::read(from);
  return one;
}

RecordKernel read_kernel(VarintReader& from) {
  RecordKernel one;
  one.name = from.next_text();
  one.hash = from.next();
  one.count = from.next();
  one.dur_ns = from.next_signed();
  one.durations = Histogram::read(from);
  return one;
}

void read_causes(VarintReader& from, RecordCauses& causes) {
  for (int64_t* ns :
       {&causes.window_ns, &causes.compute_ns, &causes.collective_ns, &causes.copy_ns}) {
    *ns = from.next_signed();
  }
  const size_t told = from.next_count();
  for (size_t c = 0; c < told; ++c) {
    const int64_t ns = from.next_signed();
    // A cause unknown to this version counts as no evidence.
    causes.idle_ns[c < kFlowCauses ? c : static_cast<size_t>(FlowCause::kNoEvidence)] += ns;
  }
}

void read_section(uint64_t id, VarintReader& from, RankRecord& record) {
  RecordCuts& cuts = record.cuts;
  switch (id) {
    case kIdentity:
      return read_identity(from, record);
    case kGroups:
      return read_list(from, cuts.groups, record.groups, read_group);
    case kIterations:
      return read_list(from, cuts.iterations, record.iterations, read_iteration);
    case kArrivals:
      return read_arrivals(from, record);
    case kOperations:
      return read_list(from, cuts.operations, record.operations, read_operation);
    case kKernels:
      return read_list(from, cuts.kernels, record.kernels, read_kernel);
    case kCauses:
      return read_causes(from, record.causes);
    case kGraph:
      record.fold = read_graph(from);
      return;
    default:
      return;
  }
}

// Reads the wanted sections. Fails if one of them, or the payload's framing, is malformed.
template <typename Wanted>
Result<RankRecord> read_sections(const FoundRecord& found, const Wanted& wanted) {
  RankRecord record;
  record.stamp = found.stamp;
  VarintReader payload(found.payload);
  bool fits = true;
  while (!payload.done()) {
    const uint64_t id = payload.next();
    VarintReader section(payload.next_text());
    if (wanted(id)) read_section(id, section, record);
    fits = fits && section.ok() && payload.ok();
  }
  if (fits) return record;
  return Error{ErrorCode::kFormat,
               "the record's sections do not match its checksum: written by another program", "",
               static_cast<int64_t>(found.offset)};
}

// Reads one section of a payload that read_sections accepted.
void read_only(SectionId wanted, std::string_view payload, RankRecord& record) {
  VarintReader sections(payload);
  while (!sections.done()) {
    const uint64_t id = sections.next();
    VarintReader section(sections.next_text());
    if (id == wanted) read_section(id, section, record);
  }
}

// ---- heads ----

uint64_t checksum_of(const Head& head, std::string_view stamp_and_payload) {
  RunningChecksum sum;
  sum.add(&head.major, sizeof(head.major));
  sum.add(&head.minor, sizeof(head.minor));
  sum.add(&head.stamp_bytes, sizeof(head.stamp_bytes));
  sum.add(&head.payload_bytes, sizeof(head.payload_bytes));
  sum.add(stamp_and_payload.data(), stamp_and_payload.size());
  return sum.value();
}

std::string stamp_bytes(const RecordStamp& stamp) {
  VarintWriter to;
  to.add_text(std::string_view(stamp.path).substr(0, kLongestPath));
  to.add(stamp.bytes);
  to.add_signed(stamp.mtime_ns);
  to.add_text(std::string_view(stamp.made_by).substr(0, kLongestText));
  return to.bytes();
}

// Parses the record at the start of `bytes` into `found` and its length into `size`. Returns an
// empty text, or what is wrong.
std::string take_record(std::string_view bytes, FoundRecord& found, size_t& size) {
  Head head;
  if (bytes.size() < sizeof(head)) return "cut off in a record's head";
  std::memcpy(&head, bytes.data(), sizeof(head));
  // Check this first: another version may have another layout.
  if (head.major != kRecordMajor) {
    const std::string version = "a record of version " + std::to_string(head.major);
    return head.major > kRecordMajor
               ? version + ": this Assay reads version " + std::to_string(kRecordMajor)
               : version + ", made by an older Assay: make it again with assay summarize";
  }
  if (head.payload_bytes > kMostRecordBytes || head.stamp_bytes > kMostRecordBytes) {
    return "a record's length is damaged";
  }
  size = sizeof(head) + head.stamp_bytes + static_cast<size_t>(head.payload_bytes);
  if (bytes.size() < size) return "cut off in a record";
  const std::string_view rest = bytes.substr(sizeof(head), size - sizeof(head));
  if (checksum_of(head, rest) != head.checksum) return "a record's checksum does not fit";
  VarintReader stamp(rest.substr(0, head.stamp_bytes));
  found.stamp.path = stamp.next_text();
  found.stamp.bytes = stamp.next();
  found.stamp.mtime_ns = stamp.next_signed();
  found.stamp.made_by = stamp.next_text();
  found.checksum = head.checksum;
  found.payload = rest.substr(head.stamp_bytes);
  return stamp.ok() ? "" : "a record's stamp is damaged";
}

}  // namespace

std::string record_bytes(const RankRecord& record) {
  VarintWriter payload;
  add_section(kIdentity, identity_bytes(record), payload);
  const std::string groups =
      capped_list(record.groups, kGroupsCap, SIZE_MAX, record.cuts.groups, write_group);
  VarintReader counted(groups);
  counted.next();
  add_section(kGroups, groups, payload);
  add_section(kIterations,
              capped_list(record.iterations, kIterationsCap, kMostIterations,
                          record.cuts.iterations, write_iteration),
              payload);
  add_section(kArrivals, arrivals_bytes(record, counted.next()), payload);
  add_section(kOperations,
              capped_list(record.operations, kOperationsCap, kMostHeavy, record.cuts.operations,
                          write_operation),
              payload);
  add_section(
      kKernels,
      capped_list(record.kernels, kKernelsCap, kMostHeavy, record.cuts.kernels, write_kernel),
      payload);
  add_section(kCauses, causes_bytes(record.causes), payload);
  if (!record.fold.points.empty()) {
    add_section(kGraph, graph_bytes(record.fold, kGraphCap), payload);
  }

  const std::string rest = stamp_bytes(record.stamp) + payload.bytes();
  Head head{.major = kRecordMajor,
            .minor = kRecordMinor,
            .stamp_bytes = static_cast<uint32_t>(rest.size() - payload.size()),
            .payload_bytes = payload.size()};
  std::memcpy(head.magic, kRankRecordMagic.data(), sizeof(head.magic));
  head.checksum = checksum_of(head, rest);
  return std::string(reinterpret_cast<const char*>(&head), sizeof(head)) + rest;
}

RecordScan scan_records(std::string_view bytes) {
  RecordScan scan;
  size_t at = 0;
  const auto damaged_to_next = [&](std::string why) {
    scan.damage.push_back({at, std::move(why)});
    at = std::min(bytes.find(kRankRecordMagic, at + 1), bytes.size());
  };
  while (at < bytes.size()) {
    if (!bytes.substr(at).starts_with(kRankRecordMagic)) {
      damaged_to_next("no record begins here");
      continue;
    }
    FoundRecord found{.offset = at};
    size_t size = 0;
    std::string why = take_record(bytes.substr(at), found, size);
    if (why.empty()) {
      scan.records.push_back(std::move(found));
      at += size;
    } else {
      damaged_to_next(std::move(why));
    }
  }
  return scan;
}

Result<RankRecord> read_record(const FoundRecord& found) {
  return read_sections(found, [](uint64_t) { return true; });
}

Result<RankRecord> read_record_head(const FoundRecord& found) {
  ASSAY_TRY_ASSIGN(RankRecord record, read_sections(found, [](uint64_t id) {
                     return id != kIterations && id != kArrivals && id != kOperations &&
                            id != kKernels && id != kGraph;
                   }));
  VarintReader sections(found.payload);
  while (!sections.done()) {
    const uint64_t id = sections.next();
    VarintReader section(sections.next_text());
    if (id == kArrivals) read_arrival_cuts(section, record);
  }
  return record;
}

std::string record_times(std::string_view payload) {
  VarintWriter kept;
  VarintReader sections(payload);
  while (!sections.done()) {
    const uint64_t id = sections.next();
    const std::string_view section = sections.next_text();
    if (id != kIterations) continue;
    kept.add(id);
    kept.add_text(section);
  }
  return kept.bytes();
}

std::vector<RecordIteration> read_record_iterations(std::string_view payload) {
  RankRecord record;
  read_only(kIterations, payload, record);
  return std::move(record.iterations);
}

RankFold read_record_fold(std::string_view payload) {
  RankRecord record;
  read_only(kGraph, payload, record);
  return std::move(record.fold);
}

std::vector<RecordKernel> read_record_kernels(std::string_view payload) {
  RankRecord record;
  read_only(kKernels, payload, record);
  return std::move(record.kernels);
}

}  // namespace assay
