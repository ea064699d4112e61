#pragma once

// All file formats that Assay reads or identifies, one row each in formats.cc. The rows define the
// readers, the messages about other files, the words of --help and the tables of
// docs/formats/README.md. A new format needs a row, a folder with its reader, a page in
// docs/formats/ and a sample in tests/data/formats/.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_source.h"
#include "base/result.h"
#include "ingest/recognise.h"
#include "trace/trace.h"

namespace assay {

struct ReadOptions;

// Use of a file. The readers of one family take any of its formats.
enum class FileFamily : uint8_t {
  kTrace,
  kCounters,
  kSamples,  // power, clocks and cores during a trace
  kRequests,  // of a serving engine during a trace
  kBench,
  kModel,
  kSweep,
  kReplay,
  kFloor,
  kKernelDb,
  kMemory,    // what an allocator held
  kDump,      // what a rank of a job waited for when it hung
  kSettings,  // rules and facts that a person writes
  kResult,    // what Assay itself said
  kForeign,   // read by nothing here
};
// "trace", "table of throughput": what a file of the family is to a reader that wanted one.
std::string_view family_words(FileFamily family);

// How the bytes of a trace have to lie for its reader.
enum class Storage : uint8_t {
  kStream,   // anywhere, also in a pipe
  kFile,     // a file, compressed or not
  kInPlace,  // an uncompressed file
};

// Which names make a file one of a folder of traces.
enum class InFolder : uint8_t {
  kNo,
  kByEnding,
  kUnlessOthers,   // only if no other file of the folder is a trace
  kOncePerRun,     // by ending, unless a results file of the same run has the same data
  kByResultsName,  // by ending, also in folders below
};

// An open input with its first bytes already read.
struct TraceInput {
  const std::string& path;
  ByteSource& source;
  std::string head;  // decoded
  ReadFn rest;       // what follows the head; empty for an uncompressed file
};
using TraceReader = Result<Trace> (*)(TraceInput&, const ReadOptions&);

struct FileFormat {
  std::string_view key;   // a word, unique
  std::string_view name;  // after "this is"
  FileFamily family = FileFamily::kForeign;
  std::string_view endings;  // of names, apart by blanks; the content decides, not these
  bool compressed = false;   // also read with a further ending .gz or .zst
  FormatMatch (*match)(const FileHead&) = nullptr;
  bool is_text = false;            // of foreign ones: may lie among traces
  std::string_view no_trace = {};  // why it is none, where that is more than another family
  std::string_view give;           // what to do with it
  std::string_view page = {};      // in docs/formats/, where it has one
  std::string_view plural = {};  // of traces: name in lists of inputs; equal in rows with one page
  TraceReader read = nullptr;    // of traces
  Storage storage = Storage::kStream;
  InFolder in_folder = InFolder::kNo;
};

std::span<const FileFormat> file_formats();

// The best matching row: marks of a format before its mere shape, then the order of the rows.
// nullptr if none matches. At most one row has marks for a file, which the tests check.
const FileFormat* format_of(const FileHead& head);
// For the file at `path`, decompressed; nullptr also if it cannot be opened.
const FileFormat* format_of_file(const std::string& path);
// The same for a file found in a folder. It must be readable, and a trace needs one of its format's endings, because a
// notebook is similar JSON. nullptr for other files.
const FileFormat* format_among_files(const std::string& path);

// Enough for the keys of a result in front of what its server said of itself, and for the output of
// a program in front of its counters.
constexpr size_t kFormatHeadBytes = 65536;

// For a file of a format that the reader at hand does not take: what it is and what to do with it.
Error not_a(FileFamily wanted, const FileFormat& is);
// Improves a reader's error for a file that should be of family `wanted`: names the actual format
// if the file is plainly another one; else returns the error unchanged. Sets the error's file to
// `path`.
Error explained(Error error, const std::string& path, FileFamily wanted);

// "PyTorch profiler JSON (.json, .json.gz, .json.zst), Nsight Systems exports (.sqlite), ...".
std::string trace_inputs_words();
// "*.json, *.sqlite, ...": the names that are looked for in a folder.
std::string folder_names_words();
// `name` without its ending, if it is one that files of the format have; in any letter case.
bool has_ending(std::string_view name, const FileFormat& format);

}  // namespace assay
