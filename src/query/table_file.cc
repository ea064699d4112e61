#include "query/table_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/files.h"
#include "base/json_string.h"
#include "query/table_text.h"

namespace assay {
namespace {

constexpr size_t kFileBatchRows = 2048;

using Batch = std::vector<Cells>;  // per column

void append_csv_row(const Relation& relation, const Batch& batch, size_t row, std::string& text) {
  for (size_t c = 0; c < batch.size(); ++c) {
    if (c > 0) text += ',';
    append_csv(batch[c], relation.columns[c].type, row, text);
  }
  text += '\n';
}

void append_json_row(const Relation& relation, const Batch& batch, size_t row, std::string& text) {
  for (size_t c = 0; c < batch.size(); ++c) {
    text += c > 0 ? ',' : '{';
    append_json_string(relation.columns[c].name, text);
    text += ':';
    append_json(batch[c], relation.columns[c].type, row, text);
  }
  text += "}\n";
}

std::string csv_header(const Relation& relation) {
  std::string text;
  for (size_t c = 0; c < relation.columns.size(); ++c) {
    if (c > 0) text += ',';
    append_csv_text(relation.columns[c].name, text);
  }
  return text + '\n';
}

bool write_rows(const Relation& relation, const RelationPart& part, TableFormat format,
                std::FILE* file) {
  std::string text = format == TableFormat::kCsv ? csv_header(relation) : std::string();
  Batch batch(relation.columns.size());
  for (size_t first = 0; first < part.rows; first += kFileBatchRows) {
    const size_t count = std::min(kFileBatchRows, part.rows - first);
    for (size_t c = 0; c < batch.size(); ++c) {
      batch[c].clear();
      part.columns[c](first, count, batch[c]);
    }
    for (size_t row = 0; row < count; ++row) {
      if (format == TableFormat::kCsv) {
        append_csv_row(relation, batch, row, text);
      } else {
        append_json_row(relation, batch, row, text);
      }
    }
    if (std::fwrite(text.data(), 1, text.size(), file) != text.size()) return false;
    text.clear();
  }
  return std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0;
}

}  // namespace

Status write_table_file(const Relation& relation, const RelationPart& part, TableFormat format,
                        const std::string& path) {
  const auto failed = [&path](int code) {
    return Error{ErrorCode::kIo, std::string("cannot write: ") + std::strerror(code), path, -1};
  };
  ASSAY_TRY_ASSIGN(FileHandle file, open_file(path, "wb"));
  errno = 0;
  const bool written = write_rows(relation, part, format, file.get());
  const int code = errno;
  if (std::fclose(file.release()) != 0 && written) return failed(errno);
  if (!written) return failed(code);
  return Ok{};
}

}  // namespace assay
