#include "query/columns_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <deque>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/files.h"
#include "base/json_string.h"

namespace assay {
namespace {

constexpr std::string_view kColumnsMagic("ASSAYC1\0", 8);
constexpr size_t kBufferAlignment = 64;  // as Arrow recommends
constexpr size_t kColumnsBatchRows = 16384;

struct BufferPlace {
  size_t offset = 0;  // from the start of the file
  size_t bytes = 0;
};

// Output file. After a failed write, nothing more is written and flush() returns false.
class BufferFile {
 public:
  explicit BufferFile(std::FILE* file) : file_(file) {}

  void append(const void* data, size_t bytes) {
    if (failed_ || bytes == 0) return;
    failed_ = std::fwrite(data, 1, bytes, file_) != bytes;
    at_ += bytes;
  }
  // Pads to the alignment and returns the offset of a new buffer.
  size_t begin() {
    constexpr char kZeros[kBufferAlignment] = {};
    append(kZeros, (kBufferAlignment - at_ % kBufferAlignment) % kBufferAlignment);
    return at_;
  }
  // Place of the buffer from `begin` to the current end of the file.
  BufferPlace end(size_t begin) const { return {begin, at_ - begin}; }
  BufferPlace whole(const void* data, size_t bytes) {
    const size_t from = begin();
    append(data, bytes);
    return end(from);
  }
  bool flush() { return !failed_ && std::fflush(file_) == 0; }

 private:
  std::FILE* file_;
  size_t at_ = 0;
  bool failed_ = false;
};

// Arrow bitmap: one bit per row, least significant bit first.
class Bits {
 public:
  void push(bool set) {
    if (count_ % 8 == 0) bytes_.push_back(0);
    if (set) bytes_.back() = static_cast<uint8_t>(bytes_.back() | (1U << (count_ % 8)));
    ++count_;
    unset_ += set ? 0 : 1;
  }
  size_t unset() const { return unset_; }
  BufferPlace write(BufferFile& file) const { return file.whole(bytes_.data(), bytes_.size()); }

 private:
  std::vector<uint8_t> bytes_;
  size_t count_ = 0;
  size_t unset_ = 0;
};

// Distinct texts of a column, numbered in order of first appearance.
class Dictionary {
 public:
  int32_t code_of(std::string_view text) {
    const auto known = codes_.find(text);
    if (known != codes_.end()) return known->second;
    const std::string& kept = texts_.emplace_back(text);
    const auto code = static_cast<int32_t>(texts_.size() - 1);
    codes_.emplace(kept, code);
    return code;
  }
  bool too_many() const { return texts_.size() >= std::numeric_limits<int32_t>::max(); }

  void write(BufferFile& file, std::vector<BufferPlace>& places) const {
    std::vector<int64_t> offsets = {0};
    for (const std::string& text : texts_) {
      offsets.push_back(offsets.back() + static_cast<int64_t>(text.size()));
    }
    places.push_back(file.whole(offsets.data(), offsets.size() * sizeof offsets[0]));
    const size_t begin = file.begin();
    for (const std::string& text : texts_) file.append(text.data(), text.size());
    places.push_back(file.end(begin));
  }

 private:
  std::deque<std::string> texts_;  // with stable addresses
  std::unordered_map<std::string_view, int32_t> codes_;
};

struct WrittenColumn {
  std::vector<BufferPlace> buffers;
  BufferPlace valid;  // only where nulls > 0
  size_t nulls = 0;
};

std::string_view columns_type(CellType type) {
  switch (type) {
    case CellType::kInteger:
      return "int64";
    case CellType::kUnsigned:
      return "uint64";
    case CellType::kReal:
      return "float64";
    case CellType::kBool:
      return "bool";
    case CellType::kText:
      break;
  }
  return "text";
}

// As in the other exports, NaN and infinities are missing cells.
bool is_there(const Cells& cells, CellType type, size_t i) {
  if (cells.is_missing(i)) return false;
  return type != CellType::kReal || std::isfinite(cells.reals[i]);
}

// State of one column during the pass over its rows.
struct ColumnState {
  Bits valid;
  Bits truths;
  Dictionary texts;
  std::vector<int32_t> codes;  // of one batch
};

void append_cells(const Cells& cells, CellType type, size_t count, ColumnState& state,
                  BufferFile& file) {
  for (size_t i = 0; i < count; ++i) state.valid.push(is_there(cells, type, i));
  switch (type) {
    case CellType::kInteger:
      return file.append(cells.integers.data(), count * sizeof(int64_t));
    case CellType::kUnsigned:
      return file.append(cells.unsigneds.data(), count * sizeof(uint64_t));
    case CellType::kReal:
      return file.append(cells.reals.data(), count * sizeof(double));
    case CellType::kBool:
      for (size_t i = 0; i < count; ++i) state.truths.push(cells.bools[i] != 0);
      return;
    case CellType::kText:
      state.codes.clear();
      for (size_t i = 0; i < count; ++i) {
        state.codes.push_back(cells.is_missing(i) ? 0 : state.texts.code_of(cells.texts[i]));
      }
      return file.append(state.codes.data(), count * sizeof(int32_t));
  }
}

Result<WrittenColumn> write_column(const RelationColumn& column, const ReadCells& read, size_t rows,
                                   BufferFile& file) {
  ColumnState state;
  Cells cells;
  const size_t begin = file.begin();
  for (size_t first = 0; first < rows; first += kColumnsBatchRows) {
    const size_t count = std::min(kColumnsBatchRows, rows - first);
    cells.clear();
    read(first, count, cells);
    append_cells(cells, column.type, count, state, file);
    if (state.texts.too_many()) {
      return Error{ErrorCode::kInvalidArgument,
                   "column " + column.name + " has more different texts than a table can number",
                   "", -1};
    }
  }
  WrittenColumn written;
  if (column.type == CellType::kBool) {
    written.buffers.push_back(state.truths.write(file));
  } else {
    written.buffers.push_back(file.end(begin));
  }
  if (column.type == CellType::kText) state.texts.write(file, written.buffers);
  written.nulls = state.valid.unset();
  if (written.nulls > 0) written.valid = state.valid.write(file);
  return written;
}

std::string place_json(const BufferPlace& place) {
  return fmt::format("[{}, {}]", place.offset, place.bytes);
}

std::string column_json(const RelationColumn& column, const WrittenColumn& written) {
  std::string json = "{\"name\": " + json_string(column.name) + ", \"type\": \"" +
                     std::string(columns_type(column.type)) +
                     "\", \"unit\": " + json_string(column.unit) +
                     ", \"meaning\": " + json_string(column.meaning) + ", \"buffers\": [";
  for (size_t i = 0; i < written.buffers.size(); ++i) {
    if (i > 0) json += ", ";
    json += place_json(written.buffers[i]);
  }
  json += "]";
  if (written.nulls > 0) {
    json += fmt::format(", \"valid\": {}, \"nulls\": {}", place_json(written.valid), written.nulls);
  }
  return json + "}";
}

// Writes the magic, the columns, their JSON description, its length, and the magic again.
Result<bool> write_table(const Relation& relation, const RelationPart& part, BufferFile& file) {
  file.append(kColumnsMagic.data(), kColumnsMagic.size());
  std::string json = fmt::format(
      "{{\"version\": 1, \"name\": {}, \"meaning\": {}, \"rank\": {}, "
      "\"rows\": {}, \"columns\": [",
      json_string(relation.name), json_string(relation.meaning), part.rank, part.rows);
  for (size_t c = 0; c < relation.columns.size(); ++c) {
    ASSAY_TRY_ASSIGN(const WrittenColumn written,
                     write_column(relation.columns[c], part.columns[c], part.rows, file));
    if (c > 0) json += ",";
    json += "\n" + column_json(relation.columns[c], written);
  }
  json += "]}";
  file.begin();
  file.append(json.data(), json.size());
  uint8_t length[8];
  for (size_t i = 0; i < sizeof length; ++i) {
    length[i] = static_cast<uint8_t>(json.size() >> (8 * i));
  }
  file.append(length, sizeof length);
  file.append(kColumnsMagic.data(), kColumnsMagic.size());
  return file.flush();
}

}  // namespace

Status write_columns_file(const Relation& relation, const RelationPart& part,
                          const std::string& path) {
  const auto failed = [&path](int code) {
    return Error{ErrorCode::kIo, std::string("cannot write: ") + std::strerror(code), path, -1};
  };
  ASSAY_TRY_ASSIGN(FileHandle handle, open_file(path, "wb"));
  BufferFile file(handle.get());
  errno = 0;
  ASSAY_TRY_ASSIGN(const bool written, write_table(relation, part, file));
  const int code = errno;
  if (std::fclose(handle.release()) != 0 && written) return failed(errno);
  if (!written) return failed(code);
  return Ok{};
}

}  // namespace assay
