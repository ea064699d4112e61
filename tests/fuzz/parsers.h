#pragma once

// Every parser of files and texts that come from somebody else, by name, for fuzzing: each takes
// any bytes and gives an answer or an Error.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::fuzz {

struct ParserTarget {
  const char* name;
  // Which files of tests/data/formats are its seeds: their names begin with one of these, apart by
  // blanks.
  const char* seeds;
  // bytes: the input. path: a file that holds it.
  void (*parse)(const std::string& bytes, const std::string& path);
};

const std::vector<ParserTarget>& parser_targets();
// How many answers there were so far that are no Error: how deep a run went.
uint64_t inputs_read();
const ParserTarget* find_target(std::string_view name);

// Bytes as a temporary file; rewritten for each input, so that its path stays. It has a name:
// SQLite does not open a file without one.
class InputFile {
 public:
  InputFile();
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  bool put(std::string_view bytes);
  const std::string& path() const { return path_; }
  void remove() const;  // for handlers of signals

 private:
  std::string path_;
  int descriptor_;
};

}  // namespace assay::fuzz
