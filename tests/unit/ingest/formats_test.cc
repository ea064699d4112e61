// The table of formats against its samples: every row has a page and at least one sample, which is
// recognised as itself by content, and no two rows have marks for one file.

#include "ingest/formats.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "ingest/load.h"
#include "support/bytes.h"
#include "support/scratch.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

const fs::path kSource = ASSAY_SOURCE_DIR;

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Samples by the key that their names begin with.
std::map<std::string, std::vector<fs::path>> samples() {
  std::map<std::string, std::vector<fs::path>> found;
  for (const auto& entry : fs::directory_iterator(kSource / "tests/data/formats")) {
    const std::string name = entry.path().filename().string();
    found[name.substr(0, name.find('.'))].push_back(entry.path());
  }
  return found;
}

std::string key_of(const std::string& path) {
  const FileFormat* format = format_of_file(path);
  return format == nullptr ? "" : std::string(format->key);
}

std::vector<std::string> marked(const std::string& path) {
  const std::string bytes = content(path).substr(0, kFormatHeadBytes);
  const FileHead head = file_head(bytes, path);
  std::vector<std::string> keys;
  for (const FileFormat& format : file_formats()) {
    if (format.match(head) == FormatMatch::kMarks) keys.emplace_back(format.key);
  }
  return keys;
}

std::string little_endian(uint32_t value) {
  std::string bytes;
  for (int i = 0; i < 4; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xFF);
  return bytes;
}

// RFC 1952 and 1951: one stored block, at most 65,535 bytes.
std::string gzip_stored(const std::string& text) {
  uint32_t crc = 0xFFFFFFFF;
  for (const char c : text) {
    crc ^= static_cast<unsigned char>(c);
    for (int i = 0; i < 8; ++i) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320 : 0);
  }
  const auto size = static_cast<uint32_t>(text.size());
  const std::string head("\x1F\x8B\x08\0\0\0\0\0\0\xFF", 10);
  return head + '\x01' + little_endian(size | ~size << 16) + text + little_endian(~crc) +
         little_endian(size);
}

// RFC 8878: a frame of one segment with its size in four bytes, one raw block that is the last.
std::string zstd_raw(const std::string& text) {
  const auto size = static_cast<uint32_t>(text.size());
  return "\x28\xB5\x2F\xFD\xA0" + little_endian(size) + little_endian(size << 3 | 1).substr(0, 3) +
         text;
}

std::string load_error(const std::string& path) {
  const auto trace = load_trace(path, {});
  return trace ? "it was read" : trace.error().message;
}

std::string load_text_error(const std::string& text, const std::string& suffix = ".json") {
  return load_error(testing::TempFile(text, suffix).path());
}

TEST(Formats, EveryRowHasAPageAndASample) {
  const auto found = samples();
  std::set<std::string> keys;
  for (const FileFormat& format : file_formats()) {
    SCOPED_TRACE(format.key);
    EXPECT_TRUE(keys.emplace(format.key).second) << "two rows of one key";
    EXPECT_EQ(found.count(std::string(format.key)), 1u) << "no sample";
    EXPECT_FALSE(format.name.empty());
    EXPECT_FALSE(format.give.empty());
    EXPECT_EQ(format.read != nullptr, format.family == FileFamily::kTrace);
    if (format.family != FileFamily::kForeign) {
      EXPECT_FALSE(format.page.empty());
    }
    if (format.page.empty()) continue;
    EXPECT_TRUE(fs::exists(kSource / "docs/formats" / format.page)) << format.page;
  }
  for (const auto& [key, paths] : found) EXPECT_EQ(keys.count(key), 1u) << paths.front();
}

TEST(Formats, SamplesAreRecognisedAsThemselvesByContent) {
  for (const auto& [key, paths] : samples()) {
    for (const fs::path& path : paths) {
      SCOPED_TRACE(path);
      EXPECT_EQ(marked(path), std::vector<std::string>{key});
      EXPECT_EQ(key_of(path), key);
      const testing::TempFile misnamed(content(path), ".wrong");
      EXPECT_EQ(key_of(misnamed.path()), key);
    }
  }
}

TEST(Formats, CompressedSamplesAreRecognised) {
  const auto found = samples();
  int checked = 0;
  for (const FileFormat& format : file_formats()) {
    // Which database it is shows once it is unpacked: faults/found has those.
    if (!format.compressed || format.storage == Storage::kInPlace) continue;
    for (const fs::path& path : found.at(std::string(format.key))) {
      SCOPED_TRACE(path);
      const testing::TempFile gzip(gzip_stored(content(path)), ".gz");
      EXPECT_EQ(key_of(gzip.path()), format.key);
      const testing::TempFile zstd(zstd_raw(content(path)), ".bin");
      EXPECT_EQ(key_of(zstd.path()), format.key);
      ++checked;
    }
  }
  EXPECT_GE(checked, 20);
}

TEST(Formats, NoTwoRowsClaimAFileOfTheCorpus) {
  const char* data = std::getenv("ASSAY_DATA");
  const fs::path corpus = data != nullptr ? fs::path(data) : kSource / "tests/data/kineto";
  for (const auto& entry : fs::recursive_directory_iterator(corpus)) {
    if (!entry.is_regular_file()) continue;
    EXPECT_LE(marked(entry.path().string()).size(), 1u) << entry.path();
  }
}

TEST(Formats, NamesOtherFilesWithASuggestion) {
  const fs::path folder = kSource / "tests/data/formats";
  const std::map<std::string, std::string> expected = {
      {"floor.json",
       "this is a floor file, no trace; give it with the trace: assay report TRACE --floor FILE"},
      {"rocprof_counters.csv",
       "this is counters of rocprofv3 (counter_collection.csv): its kernels ran one at a time, "
       "so their times do not show the run; give it with the trace: assay breakdown TRACE "
       "--counters FILE"},
      {"execution_trace.json",
       "this is an execution trace of PyTorch (a graph of operators without times or devices), no "
       "trace; give it with the profiler's trace of the same run (export_chrome_trace): assay "
       "breakdown TRACE --execution-trace FILE"},
      {"stacks.stacks",
       "unsupported: stacks with sums, as torch.profiler's export_stacks writes for flame graphs: "
       "without starts and kernels; give the trace of the same profiler: export_chrome_trace"},
      {"utf16.json", "unsupported: UTF-16 text; save it as UTF-8 (iconv -f UTF-16 -t UTF-8)"},
      {"zip.zip", "unsupported: a zip archive; give it by its name, alone: assay report FILE"},
  };
  for (const auto& [name, message] : expected) EXPECT_EQ(load_error(folder / name), message);
}

TEST(Formats, RejectsEveryOtherSampleByItsName) {
  const auto found = samples();
  for (const FileFormat& format : file_formats()) {
    if (format.read != nullptr) continue;
    for (const fs::path& path : found.at(std::string(format.key))) {
      const std::string message = load_error(path);
      EXPECT_NE(message.find(format.name), std::string::npos) << path << ": " << message;
      EXPECT_NE(message.find(format.give), std::string::npos) << path << ": " << message;
    }
  }
}

// The keys of a trace may come after more than a head, behind keys that a program added.
TEST(Formats, ATraceWithTheKeysOfSomethingElseIsRead) {
  const std::string text = R"({"batch_size": 1, "input_len": 2, "output_len": 3, "notes": ")" +
                           std::string(kFormatHeadBytes, 'x') + R"(", "traceEvents": []})";
  EXPECT_EQ(load_text_error(text), "it was read");
}

TEST(Formats, TextBeforeAndAroundDoesNotHideAFormat) {
  EXPECT_EQ(load_text_error("\xEF\xBB\xBF \r\n\t{\"traceEvents\": []}"), "it was read");
  EXPECT_EQ(load_text_error("\n\n{\"kind\": \"assay-floor\"}").rfind("this is a floor file", 0),
            0u);
  EXPECT_NE(load_text_error("").find("empty"), std::string::npos);
  EXPECT_EQ(load_text_error("a,b\n1,2\n")
                .rfind("unsupported: not JSON (a table or a text?); Assay "
                       "reads PyTorch profiler and other Chrome-trace "
                       "JSON (.json, .json.gz, .json.zst), Nsight",
                       0),
            0u);
}

TEST(Formats, AFolderOfAnotherToolSaysWhatIsInIt) {
  const testing::Scratch scratch("folder");
  fs::create_directories(scratch.path);
  fs::copy_file(kSource / "tests/data/formats/ncu_report.ncu-rep",
                fs::path(scratch.path) / "rank0.ncu-rep");
  const auto files = expand_inputs({scratch.path});
  ASSERT_FALSE(files);
  EXPECT_EQ(files.error().message,
            "no *.json, *.sqlite, *.nsys-rep, *.qdrep, *kernel_trace.csv, *_results.db, *.rpd, "
            "*.xplane.pb, *.pftrace, *.perfetto-trace, *.proto, *.assaytrace, *.assay in this folder; rank0.ncu-rep is a raw Nsight "
            "Compute report: give it with the trace where ncu is installed (assay breakdown TRACE "
            "--counters FILE), or print its table (ncu --import FILE --csv --page raw > "
            "counters.csv)");
}

TEST(Formats, AReaderNamesAFileOfAnotherFamily) {
  const std::string path = kSource / "tests/data/formats/sweep.csv";
  const Error error = explained(Error{ErrorCode::kFormat, "odd", "", -1}, path, FileFamily::kFloor);
  EXPECT_EQ(error.message,
            "this is launch figures over batch sizes, no floor file; give it to assay sweep "
            "--table");
  EXPECT_EQ(error.code, ErrorCode::kFormat);
  const Error own = explained(Error{ErrorCode::kFormat, "odd", "", -1}, path, FileFamily::kSweep);
  EXPECT_EQ(own.message, "odd");
}

}  // namespace
}  // namespace assay
