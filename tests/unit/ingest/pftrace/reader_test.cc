// Small Perfetto traces by hand, in the wire format of protocol buffers: what each field does to
// the rows. Whole files are compared in tests/golden/check_pftrace.py.

#include "ingest/pftrace/reader.h"

#include <gtest/gtest.h>

#include <string>

#include "base/varint.h"
#include "ingest/pftrace/decoder.h"
#include "ingest/pftrace/packets.h"
#include "ingest/pftrace/rocprof_rows.h"
#include "support/bytes.h"

namespace assay {
namespace {

std::string number(uint32_t field, uint64_t value) {
  std::string out;
  append_varint(uint64_t{field} << 3, out);
  append_varint(value, out);
  return out;
}

std::string bytes(uint32_t field, const std::string& content) {
  std::string out;
  append_varint(uint64_t{field} << 3 | 2, out);
  append_varint(content.size(), out);
  return out + content;
}

std::string packet(uint64_t sequence, const std::string& content) {
  return bytes(1, number(10, sequence) + content);
}

// An event of a track, with its name in place: type 1 begins a slice, 2 ends one.
std::string event(uint64_t type, uint64_t track, const std::string& name = "",
                  const std::string& more = "") {
  return bytes(11,
               number(9, type) + number(11, track) + (name.empty() ? "" : bytes(23, name)) + more);
}

std::string at(uint64_t time) { return number(8, time); }

PerfettoRows rows_of(const std::string& trace) {
  PacketStream packets(testing::bytes_of(trace, 7));
  PerfettoDecoder decoder;
  std::string_view one;
  for (auto more = packets.next(one); more && *more; more = packets.next(one)) {
    decoder.read_packet(one, static_cast<int64_t>(packets.offset()));
  }
  return decoder.finish();
}

uint64_t counted(const PerfettoRows& rows, ImportCode code) { return rows.log.entry(code).count; }

TEST(Pftrace, SlicesNestPerTrack) {
  const PerfettoRows rows =
      rows_of(packet(1, at(10) + event(1, 5, "outer")) + packet(1, at(20) + event(1, 5, "inner")) +
              packet(1, at(25) + event(1, 6, "other")) + packet(1, at(30) + event(2, 5)) +
              packet(1, at(40) + event(2, 5)) + packet(1, at(50) + event(2, 6)));
  ASSERT_EQ(rows.slices.size(), 3u);
  EXPECT_EQ(rows.view(rows.slices[0].name), "outer");
  EXPECT_EQ(rows.slices[0].end_ns, 40);
  EXPECT_EQ(rows.slices[1].end_ns, 30);
  EXPECT_EQ(rows.slices[2].end_ns, 50);
}

TEST(Pftrace, ParallelSlicesOfOneTrackKeepTheirEnds) {
  // rocprofv3 writes each copy as a begin and an end, whatever runs at the same time.
  const PerfettoRows rows =
      rows_of(packet(1, at(10) + event(1, 5, "a")) + packet(1, at(40) + event(2, 5)) +
              packet(1, at(20) + event(1, 5, "b")) + packet(1, at(60) + event(2, 5)));
  ASSERT_EQ(rows.slices.size(), 2u);
  EXPECT_EQ(rows.slices[0].end_ns, 40);
  EXPECT_EQ(rows.slices[1].end_ns, 60);
}

TEST(Pftrace, HalvesOfTwoSequencesAreJoinedInOrderOfTime) {
  const PerfettoRows rows =
      rows_of(packet(2, at(30) + event(2, 5)) + packet(1, at(10) + event(1, 5, "a")) +
              packet(1, at(50) + event(1, 5, "b")));
  ASSERT_EQ(rows.slices.size(), 2u);
  EXPECT_EQ(rows.slices[0].end_ns, 30);
  EXPECT_EQ(rows.slices[1].end_ns, kNoPerfettoTime);
  EXPECT_EQ(counted(rows, ImportCode::kUnmatchedBegin), 1u);
  EXPECT_EQ(counted(rows, ImportCode::kUnmatchedEnd), 0u);
}

TEST(Pftrace, TextsBelongToTheirSequenceAndEndWithItsState) {
  const auto named = [](uint64_t id, const std::string& name) {
    return bytes(12, bytes(2, number(1, id) + bytes(2, name)));
  };
  const auto by_id = [](uint64_t id) {
    return bytes(11, number(9, 3) + number(11, 5) + number(10, id));
  };
  const PerfettoRows rows = rows_of(packet(1, at(1) + number(13, 1) + named(1, "one") + by_id(1)) +
                                    packet(2, at(2) + number(13, 1) + named(1, "two") + by_id(1)) +
                                    packet(1, at(3) + number(13, 2) + by_id(1)) +
                                    packet(1, at(4) + number(13, 1) + by_id(1)) +
                                    packet(3, at(5) + number(13, 2) + by_id(1)));
  ASSERT_EQ(rows.instants.size(), 4u);
  EXPECT_EQ(rows.view(rows.instants[0].name), "one");
  EXPECT_EQ(rows.view(rows.instants[1].name), "two");
  EXPECT_EQ(rows.view(rows.instants[2].name), "one");
  EXPECT_EQ(rows.view(rows.instants[3].name), "");
  EXPECT_EQ(counted(rows, ImportCode::kMissingName), 1u);
  EXPECT_EQ(counted(rows, ImportCode::kLostRecords), 1u);
}

TEST(Pftrace, IncrementalClocksAddUpInTheirUnit) {
  const auto clock = [](uint64_t id, uint64_t time, const std::string& more = "") {
    return bytes(1, number(1, id) + number(2, time) + more);
  };
  const std::string snapshot =
      bytes(6, clock(6, 5'000'000) + clock(64, 100, number(3, 1) + number(4, 1000)));
  const std::string defaults = bytes(59, number(58, 64));
  const PerfettoRows rows =
      rows_of(packet(1, number(13, 1) + defaults + snapshot) + packet(1, at(7) + event(3, 5)) +
              packet(1, at(2)) + packet(1, at(1) + event(3, 5)) +
              packet(1, at(4'000) + number(58, 6) + event(3, 5)) + packet(2, at(9) + event(3, 5)));
  ASSERT_EQ(rows.instants.size(), 4u);
  EXPECT_EQ(rows.instants[0].at_ns, 5'007'000);
  EXPECT_EQ(rows.instants[1].at_ns, 5'010'000);  // a packet without rows moved the clock on
  EXPECT_EQ(rows.instants[2].at_ns, 4'000);
  EXPECT_EQ(rows.instants[3].at_ns, 9);
}

TEST(Pftrace, AClockIsConvertedByASnapshotOrLeftOut) {
  const std::string snapshot =
      bytes(6, bytes(1, number(1, 6) + number(2, 1'000)) + bytes(1, number(1, 1) + number(2, 900)));
  const PerfettoRows rows =
      rows_of(packet(1, snapshot) + packet(1, at(950) + number(58, 1) + event(3, 5)) +
              packet(1, at(950) + number(58, 3) + event(3, 5)) +
              packet(1, at(950) + number(58, 64) + event(3, 5)));
  ASSERT_EQ(rows.instants.size(), 1u);
  EXPECT_EQ(rows.instants[0].at_ns, 1'050);
  EXPECT_EQ(counted(rows, ImportCode::kMissingTimestamp), 2u);
}

TEST(Pftrace, DamagedPacketsAreCountedAndLeaveNothing) {
  const std::string bad =
      event(3, 5, "x", bytes(4, bytes(10, "a") + number(3, 1)) + bytes(4, "\x0b"));
  const PerfettoRows rows =
      rows_of(packet(1, at(1) + event(3, 5, "x")) + packet(1, at(2) + bad) + packet(1, "\x0b"));
  EXPECT_EQ(rows.instants.size(), 1u);
  EXPECT_TRUE(rows.annotations.empty());
  EXPECT_EQ(counted(rows, ImportCode::kDamagedBlock), 2u);
}

TEST(Pftrace, IncrementalCountersAreSums) {
  const std::string descriptor =
      bytes(60, number(1, 5) + bytes(2, "bytes") + bytes(8, number(4, 1024) + number(5, 1)));
  const auto count = [](uint64_t value) {
    return bytes(11, number(9, 4) + number(11, 5) + number(30, value));
  };
  const PerfettoRows rows =
      rows_of(packet(1, descriptor) + packet(1, at(1) + count(2)) + packet(1, at(2) + count(3)));
  ASSERT_EQ(rows.counters.size(), 2u);
  EXPECT_EQ(rows.counters[1].value, 5 * 1024);
}

std::string annotated(const std::string& key, uint64_t value) {
  return bytes(4, bytes(10, key) + number(3, value));
}
std::string annotated(const std::string& key, const std::string& value) {
  return bytes(4, bytes(10, key) + bytes(6, value));
}

TEST(Pftrace, AKernelOfRocprofv3KeepsItsRecordedDetails) {
  const std::string details = bytes(22, "kernel_dispatch") + annotated("begin_ns", 1000) +
                              annotated("end_ns", 4000) + annotated("agent", "Agent-4") +
                              annotated("corr_id", 17) + annotated("queue", 2) +
                              annotated("tid", 99) + annotated("group_segment_size", 512) +
                              annotated("workgroup_size", 64) + annotated("grid_size", 640);
  const std::string track =
      bytes(60, number(1, 5) + number(5, 8) + bytes(2, "COMPUTE AGENT [4] STREAM [3] (GPU)"));
  const std::string process = bytes(60, number(1, 8) + bytes(3, number(1, 4242)));
  PerfettoRows rows =
      rows_of(packet(1, track) + packet(1, process) +
              packet(1, at(50) + event(1, 5, "scale(float*) [clone .kd]", details)));
  ASSERT_TRUE(is_rocprof_pftrace(rows));
  const RocprofRun run = rocprof_run_of(std::move(rows));
  ASSERT_EQ(run.kernels.size(), 1u);
  const RocprofKernel& kernel = run.kernels[0];
  EXPECT_EQ(run.strings.view(kernel.name), "scale(float*)");
  EXPECT_EQ(kernel.start_ns, 1000);
  EXPECT_EQ(kernel.end_ns, 4000);
  EXPECT_EQ(kernel.agent, 4);
  EXPECT_EQ(kernel.queue, 2);
  EXPECT_EQ(kernel.stream, 3);
  EXPECT_EQ(kernel.process, 4242);
  EXPECT_EQ(kernel.thread, 99);
  EXPECT_EQ(kernel.correlation, 17u);
  EXPECT_EQ(kernel.shared_bytes, 512u);
  EXPECT_EQ(kernel.group[0], 64u);
  EXPECT_EQ(kernel.grid[0], 640u);
  ASSERT_EQ(run.agents.size(), 1u);
  EXPECT_TRUE(run.agents[0].gpu);
}

TEST(Pftrace, CopiesOfRocprofilerSystemsAreOnTheGpuOfItsKernels) {
  const std::string kernel = bytes(22, "rocm_kernel_dispatch") + annotated("begin_ns", 1000) +
                             annotated("end_ns", 4000) + annotated("grid_size", "(640,2,1)") +
                             annotated("workgroup_size", "(64,1,1)");
  const std::string copy = bytes(22, "rocm_memory_copy") + annotated("begin_ns", 5000) +
                           annotated("end_ns", 6000) + annotated("dst_agent_id", 4) +
                           annotated("src_agent_id", uint64_t{0});
  const std::string track = bytes(60, number(1, 5) + bytes(2, "GPU Kernel Dispatch [1] Queue 7"));
  PerfettoRows rows = rows_of(packet(1, track) + packet(1, at(1) + event(1, 5, "k", kernel)) +
                              packet(1, at(1) + event(1, 6, "MEMORY_COPY_HOST_TO_DEVICE", copy)));
  const RocprofRun run = rocprof_run_of(std::move(rows));
  ASSERT_EQ(run.kernels.size(), 1u);
  EXPECT_EQ(run.kernels[0].agent, 1);
  EXPECT_EQ(run.kernels[0].grid[1], 2u);
  ASSERT_EQ(run.copies.size(), 1u);
  EXPECT_EQ(run.copies[0].to_agent, 1);
  EXPECT_EQ(run.copies[0].from_agent, -1);
  EXPECT_EQ(run.agents[0].facts.ordinal, 1);
}

Error refusal(const std::string& trace, bool allow_truncated = false) {
  const auto read =
      read_pftrace(testing::bytes_of(trace), ReadOptions{.allow_truncated = allow_truncated});
  EXPECT_FALSE(read);
  return read ? Error{} : read.error();
}

TEST(Pftrace, FilesThatAreNotTracesAreRefusedByName) {
  const std::string whole = packet(1, at(1) + event(3, 5, "x"));
  const Error cut = refusal(whole + whole.substr(0, whole.size() - 1));
  EXPECT_EQ(cut.code, ErrorCode::kTruncated);
  EXPECT_EQ(cut.offset, static_cast<int64_t>(whole.size()));
  EXPECT_EQ(refusal(whole + "\x0b\x0b").code, ErrorCode::kFormat);
  EXPECT_EQ(refusal(whole + std::string("\x0a\xff\xff\xff\xff\x0f", 6)).code,
            ErrorCode::kUnsupported);
  EXPECT_EQ(refusal(packet(1, bytes(33, "config"))).code, ErrorCode::kNotATrace);
  EXPECT_EQ(refusal(packet(1, "\x0b")).code, ErrorCode::kFormat);
}

}  // namespace
}  // namespace assay
