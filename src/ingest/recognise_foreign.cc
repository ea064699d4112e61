// Detects formats without a reader, and the pages that Assay writes, by marks that their makers
// document.

#include <algorithm>

#include "base/ascii.h"
#include "ingest/flight/dump.h"
#include "ingest/recognise.h"

namespace assay {
namespace {

bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// True for a protobuf message that begins with a message as its field 1, as perfetto.protos.Trace
// (packet) and tensorflow.profiler.XSpace (planes) do, and continues with fields numbered at most
// `last`. Fields that are complete in the head must follow each other without a gap.
bool is_message_of(std::string_view bytes, unsigned last) {
  constexpr unsigned kMessage = 2;
  constexpr int kMostVarintBytes = 5;
  size_t at = 0;
  while (at < bytes.size()) {
    const auto tag = static_cast<unsigned char>(bytes[at]);
    const unsigned number = tag >> 3;
    if ((tag & 7u) != kMessage || number == 0 || number > (at == 0 ? 1 : last)) return false;
    ++at;
    uint64_t length = 0;
    bool ended = false;
    for (int i = 0; i < kMostVarintBytes && at < bytes.size() && !ended; ++i) {
      const auto byte = static_cast<unsigned char>(bytes[at++]);
      length |= uint64_t{byte & 0x7Fu} << (7 * i);
      ended = (byte & 0x80u) == 0;
    }
    if (!ended) return at == bytes.size() && at > 1;
    if (length == 0) return false;
    if (length > bytes.size() - at) return true;
    at += static_cast<size_t>(length);
  }
  return !bytes.empty();
}

bool is_array(const FileHead& head) {
  return head.json && head.bytes[first_text_byte(head.bytes)] == '[';
}

bool has_all(const FileHead& head, std::initializer_list<std::string_view> columns) {
  return !head.binary && !head.json &&
         std::all_of(columns.begin(), columns.end(), [&head](std::string_view column) {
           return std::find(head.header.begin(), head.header.end(), column) != head.header.end();
         });
}

// True for bytes that no text contains: a text may begin with an empty line, which looks like a
// protobuf tag.
bool has_control_bytes(std::string_view bytes) {
  constexpr size_t kLooked = 64;
  return std::any_of(bytes.begin(), bytes.begin() + std::min(kLooked, bytes.size()),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20 && !is_space(c); });
}

bool names_planes(std::string_view bytes) {
  return holds(bytes, "/host:") || holds(bytes, "/device:") || holds(bytes, "Task Environment");
}

bool is_protobuf(const FileHead& head, unsigned last) {
  return !head.json && !head.sqlite && has_control_bytes(head.bytes) &&
         is_message_of(head.bytes, last);
}

constexpr std::string_view kOwnPage = "name=\"assay-sources\"";

bool is_page(const FileHead& head) {
  if (head.binary || head.json) return false;
  const size_t first = first_text_byte(head.bytes);
  if (first == std::string_view::npos) return false;
  constexpr size_t kLongestStart = 15;
  const std::string start = lower(head.bytes.substr(first, kLongestStart));
  return start.starts_with("<!doctype html") || start.starts_with("<html");
}

bool is_zip(const FileHead& head) { return head.bytes.starts_with("PK"); }

// True for the opcode PROTO and a version from 2 to 5, with which every pickle of Python 3 begins.
bool is_pickle(const FileHead& head) {
  return head.bytes.size() > 2 && head.bytes[0] == '\x80' && head.bytes[1] >= 2 &&
         head.bytes[1] <= 5;
}

bool begins_as_snapshot(std::string_view bytes) {
  constexpr size_t kLooked = 128;
  const std::string_view start = bytes.substr(0, kLooked);
  return holds(start, "segments") || holds(start, "device_traces");
}

bool holds_workbook(const FileHead& head) {
  return holds(head.bytes, "[Content_Types].xml") || holds(head.bytes, "xl/");
}

}  // namespace

FormatMatch match_nsys_raw(const FileHead& head) {
  return marks_if(head.bytes.starts_with("NVIDIA"));
}

// "NVR\0": the file format that NVIDIA documents with the Python interface of its reports.
FormatMatch match_ncu_raw_report(const FileHead& head) {
  return marks_if(head.bytes.starts_with(std::string_view("NVR\0", 4)));
}

// Tables of nsys stats: times under these titles, and rows without the ids that link them.
FormatMatch match_nsys_stats(const FileHead& head) {
  return marks_if(has_all(head, {"start (ns)", "duration (ns)"}) ||
                  has_all(head, {"time (%)", "total time (ns)"}) ||
                  has_all(head, {"timestamp (ns)", "event type"}));
}

FormatMatch match_rpd(const FileHead& head) {
  return marks_if(has_table(head, "rocpd_api") || has_table(head, "rocpd_op"));
}

FormatMatch match_nvprof(const FileHead& head) {
  return marks_if(has_table(head, "StringTable") && !has_table(head, "StringIds"));
}

FormatMatch match_xspace(const FileHead& head) {
  constexpr unsigned kHostNames = 4;  // after planes, errors and warnings
  return marks_if(is_protobuf(head, kHostNames) && names_planes(head.bytes));
}

FormatMatch match_perfetto(const FileHead& head) {
  return marks_if(is_protobuf(head, 1) && !names_planes(head.bytes));
}

// By the first key in the result of torch.cuda.memory._snapshot().
FormatMatch match_memory_snapshot(const FileHead& head) {
  return marks_if(is_pickle(head) && begins_as_snapshot(head.bytes));
}

FormatMatch match_flight_recorder(const FileHead& head) {
  return marks_if(is_flight_head(head.bytes));
}

FormatMatch match_pickle(const FileHead& head) {
  return marks_if(is_pickle(head) && !begins_as_snapshot(head.bytes) &&
                  !is_flight_head(head.bytes));
}

// PyTorch's execution trace and Chakra's, which derives from it: a list of nodes with a schema.
FormatMatch match_execution_trace(const FileHead& head) {
  return marks_if(head.keys.count("schema") > 0 && head.keys.count("nodes") > 0);
}

// Lines of frames without spaces, joined by semicolons, and a sum; the last line may be cut.
FormatMatch match_stacks(const FileHead& head) {
  if (head.binary || head.json) return FormatMatch::kNo;
  size_t lines = 0;
  std::string_view rest = head.bytes;
  for (size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
    const std::string_view line = rest.substr(0, end);
    const size_t space = line.find(' ');
    const bool sum = space != std::string_view::npos && space + 1 < line.size() &&
                     line.find_first_not_of("0123456789", space + 1) == std::string_view::npos;
    if (!sum || line.find(';') > space) return FormatMatch::kNo;
    ++lines;
    rest.remove_prefix(end + 1);
  }
  return marks_if(lines > 0);
}

FormatMatch match_speedscope(const FileHead& head) {
  return marks_if(head.json && holds(head.bytes, "speedscope.app/file-format-schema.json"));
}

// Arrays of trtexec: a row of times per inference under --exportTimes, or a row of means per layer
// after a count under --exportProfile (samples/trtexec in NVIDIA/TensorRT).
FormatMatch match_trtexec_times(const FileHead& head) {
  return marks_if(is_array(head) && head.keys.count("startEnqMs") +
                                            head.keys.count("startComputeMs") +
                                            head.keys.count("computeMs") >=
                                        2);
}

FormatMatch match_trtexec_profile(const FileHead& head) {
  const bool first = head.keys.count("count") > 0 || head.keys.count("averageMs") > 0;
  return marks_if(is_array(head) && first && holds(head.bytes, "\"averageMs\"") &&
                  holds(head.bytes, "\"percentage\""));
}

// The literal form of Hatchet, which Triton's Proton writes by default: frames with their children.
FormatMatch match_call_tree(const FileHead& head) {
  const bool node = head.keys.count("children") > 0 || head.keys.count("frame") > 0;
  return marks_if(is_array(head) && node && holds(head.bytes, "\"frame\"") &&
                  holds(head.bytes, "\"metrics\""));
}

FormatMatch match_rocprof_stats(const FileHead& head) {
  return marks_if(has_all(head, {"name", "calls", "totaldurationns"}));
}

// Tables of rocprof v1 with "pmc:" counters. Tables of kernel times without counters are traces.
FormatMatch match_rocprof_v1_counters(const FileHead& head) {
  return marks_if(has_all(head, {"kernelname", "gpu-id", "queue-id"}) &&
                  match_rocprof_csv(head) == FormatMatch::kNo);
}

// Output of nvprof: lists and totals after its own lines, or a table without those lines.
FormatMatch match_nvprof_text(const FileHead& head) {
  if (head.binary || head.json) return FormatMatch::kNo;
  const bool said = holds(head.bytes, "== NVPROF is profiling process") ||
                    holds(head.bytes, "== Profiling result:");
  const bool totals = has_all(head, {"time(%)", "time", "calls", "avg", "min", "max", "name"});
  const bool list = has_all(head, {"start", "duration", "static smem", "name"});
  return marks_if(said || totals || list);
}

// A single column of power: its rows have no times.
FormatMatch match_power_without_times(const FileHead& head) {
  const bool one = !head.binary && !head.json && head.header.size() == 1;
  return marks_if(one && (head.header[0].starts_with("power.draw") || head.header[0] == "power_w" ||
                          head.header[0] == "power"));
}

FormatMatch match_parquet(const FileHead& head) { return marks_if(head.bytes.starts_with("PAR1")); }

FormatMatch match_workbook(const FileHead& head) {
  return marks_if(is_zip(head) && holds_workbook(head));
}

FormatMatch match_zip(const FileHead& head) {
  return marks_if(is_zip(head) && !holds_workbook(head));
}

FormatMatch match_tar(const FileHead& head) {
  constexpr size_t kMagicAt = 257;
  return marks_if(head.bytes.size() > kMagicAt + 5 && head.bytes.substr(kMagicAt, 5) == "ustar");
}

FormatMatch match_xz(const FileHead& head) {
  return marks_if(
      head.bytes.starts_with("\xFD"
                             "7zXZ"));
}

FormatMatch match_bzip2(const FileHead& head) { return marks_if(head.bytes.starts_with("BZh")); }

FormatMatch match_lz4(const FileHead& head) {
  return marks_if(head.bytes.starts_with("\x04\x22\x4D\x18"));
}

FormatMatch match_utf16(const FileHead& head) { return marks_if(is_utf16(head.bytes)); }

FormatMatch match_report_page(const FileHead& head) {
  return marks_if(is_page(head) && holds(head.bytes, kOwnPage));
}

FormatMatch match_web_page(const FileHead& head) {
  return marks_if(is_page(head) && !holds(head.bytes, kOwnPage));
}

}  // namespace assay
