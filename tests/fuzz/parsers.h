#pragma once

// Every parser of files and texts that come from somebody else, by name, for fuzzing: each takes
// any bytes and gives an answer or an Error.

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
const ParserTarget* find_target(std::string_view name);

// Bytes as a file of memory; rewritten for each input, so that its path stays.
class MemoryFile {
 public:
  MemoryFile();
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  bool put(std::string_view bytes);
  const std::string& path() const { return path_; }

 private:
  int descriptor_;
  std::string path_;
};

}  // namespace assay::fuzz
