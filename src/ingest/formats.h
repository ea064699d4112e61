#pragma once

// All file formats that Assay reads or identifies, one row each in formats.cc. The rows define the
// readers, the messages about other files, the text of --help and the tables of
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

// Use of a file. The reader of a family reads all of its formats.
enum class FileFamily : uint8_t {
  kTrace,
  kCounters,
  kSamples,    // power, clocks and cores during a trace
  kRequests,   // requests of a serving engine during a trace
  kOperators,  // what a trace's operators were called with
  kBench,
  kModel,
  kSweep,
  kReplay,
  kFloor,
  kKernelDb,
  kMemory,    // memory snapshots of an allocator
  kDump,      // the last collectives of a rank of a job that hung
  kSettings,  // hand-written rules and specifications
  kResult,    // output of Assay
  kForeign,   // without a reader
};
// Name of a family in messages: "trace", "table of throughput".
std::string_view family_words(FileFamily family);

// Storage that a trace's reader needs.
enum class Storage : uint8_t {
  kStream,   // any, including a pipe
  kFile,     // a file, compressed or not
  kInPlace,  // an uncompressed file
};

// Which files of this format belong to a folder of traces.
enum class InFolder : uint8_t {
  kNo,
  kByEnding,
  kUnlessOthers,   // only if no other file of the folder is a trace
  kOncePerRun,     // by ending, unless a results file of the same run has the same data
  kByResultsName,  // by ending, also in subfolders
};

// An open input with its first bytes already read.
struct TraceInput {
  const std::string& path;
  ByteSource& source;
  std::string head;  // decoded
  ReadFn rest;       // the bytes after the head; empty for an uncompressed file
};
using TraceReader = Result<Trace> (*)(TraceInput&, const ReadOptions&);

struct FileFormat {
  std::string_view key;   // unique word
  std::string_view name;  // continues "this is"
  FileFamily family = FileFamily::kForeign;
  std::string_view endings;  // of file names, separated by blanks; detection uses only the content
  bool compressed = false;   // also read if .gz or .zst follows the ending
  FormatMatch (*match)(const FileHead&) = nullptr;
  bool is_text = false;            // foreign formats: may be in a folder of traces
  std::string_view no_trace = {};  // why it is no trace, unless its family says it
  std::string_view give;           // suggestion for the user
  std::string_view page = {};      // in docs/formats/, if it has one
  std::string_view plural = {};  // traces: name in lists of inputs; equal in rows with one page
  TraceReader read = nullptr;    // traces only
  Storage storage = Storage::kStream;
  InFolder in_folder = InFolder::kNo;
};

std::span<const FileFormat> file_formats();

// The best matching row: a match by marks before one by shape, then the first row. nullptr if none
// matches. At most one row has marks for a file, which the tests check.
const FileFormat* format_of(const FileHead& head);
// The same for the decompressed file at `path`; nullptr also if it cannot be opened.
const FileFormat* format_of_file(const std::string& path);
// The same for a file found in a folder. Returns nullptr for foreign formats, and for traces
// without one of the format's endings, because other JSON files such as notebooks look alike.
const FileFormat* format_among_files(const std::string& path);

// Enough to include the keys of a result after its server's description, and the header of counters
// after the program's output.
constexpr size_t kFormatHeadBytes = 65536;

// Error for a file of another format than the reader expects: the format and a suggestion.
Error not_a(FileFamily wanted, const FileFormat& is);
// Improves a reader's error for a file that should be of family `wanted`: names the actual format
// if it clearly is another one; else keeps the error. Sets the error's file to `path`.
Error explained(Error error, const std::string& path, FileFamily wanted);

// "PyTorch profiler JSON (.json, .json.gz, .json.zst), Nsight Systems exports (.sqlite), ...".
std::string trace_inputs_words();
// "*.json, *.sqlite, ...": the file names that count as traces in a folder.
std::string folder_names_words();
// True if `name` ends with one of the format's endings, in any letter case.
bool has_ending(std::string_view name, const FileFormat& format);

}  // namespace assay
