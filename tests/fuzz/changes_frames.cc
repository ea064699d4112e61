#include "changes_frames.h"

#include <sqlite3.h>

#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "base/checksum.h"
#include "collect/wire.h"
#include "ingest/columnar/layout.h"
#include "ingest/sqlite_file.h"

namespace assay::fuzz {
namespace {

using columnar::Block;
using columnar::Head;

constexpr size_t kLargestDatabase = 1 << 20;

struct Closer {
  void operator()(sqlite3* connection) const { sqlite3_close(connection); }
};
using Connection = std::unique_ptr<sqlite3, Closer>;

Connection memory_database() {
  sqlite3* raw = nullptr;
  const int code = sqlite3_open(":memory:", &raw);
  Connection connection(raw);
  return code == SQLITE_OK ? std::move(connection) : nullptr;
}

bool run(const Connection& connection, const std::string& sql) {
  return sqlite3_exec(connection.get(), sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK;
}

Connection database_of(const std::string& bytes) {
  Connection connection = memory_database();
  auto* copy = static_cast<unsigned char*>(sqlite3_malloc64(bytes.size()));
  if (!connection || copy == nullptr) return nullptr;
  std::memcpy(copy, bytes.data(), bytes.size());
  const auto size = static_cast<sqlite3_int64>(bytes.size());
  const int code =
      sqlite3_deserialize(connection.get(), "main", copy, size, size,
                          SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE);
  return code == SQLITE_OK ? std::move(connection) : nullptr;
}

std::string bytes_of(const Connection& connection) {
  sqlite3_int64 size = 0;
  unsigned char* bytes = sqlite3_serialize(connection.get(), "main", &size, 0);
  std::string text;
  if (bytes != nullptr)
    text.assign(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
  sqlite3_free(bytes);
  return text;
}

std::vector<std::string> names(const Connection& connection, const std::string& sql) {
  std::vector<std::string> found;
  sqlite3_exec(
      connection.get(), sql.c_str(),
      [](void* to, int cells, char** cell, char**) {
        if (cells > 0 && cell[0] != nullptr) {
          static_cast<std::vector<std::string>*>(to)->emplace_back(cell[0]);
        }
        return 0;
      },
      &found, nullptr);
  return found;
}

std::string quoted(const std::string& name) {
  std::string text = "\"";
  for (const char c : name) text += c == '"' ? std::string("\"\"") : std::string(1, c);
  return text + '"';
}

std::string odd_cell(const std::string& column, Random& random) {
  constexpr std::array<std::string_view, 14> kCells = {std::string_view("NULL"),
                                                       "-1",
                                                       "0",
                                                       "1",
                                                       "9223372036854775807",
                                                       "(-9223372036854775807 - 1)",
                                                       "4294967296",
                                                       "1e308",
                                                       "0.5",
                                                       "''",
                                                       "'text'",
                                                       "'12'",
                                                       "x'00ff'",
                                                       "zeroblob(300)"};
  const size_t which = random.below(kCells.size() + 2);
  if (which == kCells.size()) return column + " + 1";
  if (which == kCells.size() + 1) return column + " - 1000";
  return std::string(kCells[which]);
}

// One statement over a table and a column that are there.
std::string odd_statement(const Connection& connection, Random& random) {
  const std::vector<std::string> tables =
      names(connection, "SELECT name FROM sqlite_master WHERE type = 'table'");
  if (tables.empty()) return "";
  const std::string plain = tables[random.below(tables.size())];
  const std::string table = quoted(plain);
  const std::vector<std::string> columns =
      names(connection, "SELECT name FROM pragma_table_info(" + table + ")");
  if (columns.empty()) return "";
  const std::string column = quoted(columns[random.below(columns.size())]);
  // Every row, or one.
  const std::string some = random.below(2) == 0
                               ? ""
                               : " WHERE rowid IN (SELECT rowid FROM " + table +
                                     " LIMIT 1 OFFSET " + std::to_string(random.below(4)) + ")";
  switch (random.below(16)) {
    case 0:
      return "DELETE FROM " + table + some;
    case 1:
      return "INSERT INTO " + table + " SELECT * FROM " + table + some;
    case 2:
      return "ALTER TABLE " + table + " DROP COLUMN " + column;
    case 3:
      return "ALTER TABLE " + table + " RENAME COLUMN " + column + " TO other";
    case 4:
      return random.below(2) == 0 ? "DROP TABLE " + table
                                  : "ALTER TABLE " + table + " RENAME TO other";
    default:
      return "UPDATE OR IGNORE " + table + " SET " + column + " = " + odd_cell(column, random) +
             some;
  }
}

// A number in the middle of records: where it stands, other numbers begin at multiples of its size.
void change_number(char* bytes, size_t size, Random& random) {
  constexpr std::array<uint64_t, 8> kNumbers = {
      0, 1, ~uint64_t{0}, uint64_t{1} << 63, (uint64_t{1} << 63) - 1, 0x7FFFFFFF, 0xFFFF, 0x80};
  const size_t width = size_t{1} << random.below(4);
  if (size < width) return;
  const size_t at = random.below(size / width) * width;
  uint64_t value = 0;
  std::memcpy(&value, bytes + at, width);
  switch (random.below(3)) {
    case 0:
      value = kNumbers[random.below(kNumbers.size())];
      break;
    case 1:
      value += random.below(2) == 0 ? 1 : ~uint64_t{0};
      break;
    default:
      value ^= uint64_t{1} << random.below(width * 8);
      break;
  }
  std::memcpy(bytes + at, &value, width);
}

// Where each whole block of a recording begins.
std::vector<size_t> blocks_of(const std::string& bytes) {
  std::vector<size_t> blocks;
  size_t at = sizeof(wire::FileHeader);
  while (at + sizeof(wire::BlockHeader) <= bytes.size()) {
    wire::BlockHeader header;
    std::memcpy(&header, bytes.data() + at, sizeof(header));
    if (header.payload_bytes > bytes.size() - at - sizeof(header)) break;
    blocks.push_back(at);
    at += sizeof(header) + header.payload_bytes;
  }
  return blocks;
}

}  // namespace

std::string database_of_sql(const std::string& statements) {
  const Connection connection = memory_database();
  if (!connection || !run(connection, "PRAGMA page_size = 512") || !run(connection, statements)) {
    return "";
  }
  return bytes_of(connection);
}

bool is_database(std::string_view bytes) { return bytes.starts_with(kSqliteMagic); }

bool change_database(std::string& bytes, Random& random) {
  const Connection connection = database_of(bytes);
  if (!connection) return false;
  run(connection, "PRAGMA foreign_keys = off");
  const std::string statement = odd_statement(connection, random);
  if (statement.empty() || !run(connection, statement)) return false;
  std::string changed = bytes_of(connection);
  if (changed.empty() || changed.size() > kLargestDatabase) return false;
  bytes = std::move(changed);
  return true;
}

bool is_recording(std::string_view bytes) {
  return bytes.starts_with("ASSAYTRC") && bytes.size() > sizeof(wire::FileHeader);
}

bool change_recording(std::string& bytes, Random& random) {
  const std::vector<size_t> blocks = blocks_of(bytes);
  if (blocks.empty()) return false;
  const size_t at = blocks[random.below(blocks.size())];
  wire::BlockHeader header;
  std::memcpy(&header, bytes.data() + at, sizeof(header));
  char* payload = bytes.data() + at + sizeof(header);
  if (random.below(16) == 0) header.records = static_cast<uint32_t>(random.below(100));
  change_number(payload, header.payload_bytes, random);
  header.checksum = wire::block_checksum(header, payload);
  std::memcpy(bytes.data() + at, &header, sizeof(header));
  return true;
}

bool is_columnar(std::string_view bytes) { return bytes.starts_with(kColumnarMagic); }

bool change_columnar(std::string& bytes, Random& random) {
  Head head;
  if (bytes.size() < sizeof(head)) return false;
  std::memcpy(&head, bytes.data(), sizeof(head));
  if (head.blocks == 0 || head.blocks > (bytes.size() - sizeof(head)) / sizeof(Block)) return false;
  std::vector<Block> directory(head.blocks);
  std::memcpy(directory.data(), bytes.data() + sizeof(head), directory.size() * sizeof(Block));
  std::vector<size_t> filled;
  for (size_t i = 0; i < directory.size(); ++i) {
    const Block& block = directory[i];
    if (block.bytes > 0 && block.offset < bytes.size() &&
        block.bytes <= bytes.size() - block.offset) {
      filled.push_back(i);
    }
  }
  if (filled.empty()) return false;
  Block& block = directory[filled[random.below(filled.size())]];
  change_number(bytes.data() + block.offset, block.bytes, random);
  block.hash = checksum(bytes.data() + block.offset, block.bytes);
  std::memcpy(bytes.data() + sizeof(head), directory.data(), directory.size() * sizeof(Block));
  head.directory_hash = checksum(directory.data(), directory.size() * sizeof(Block));
  head.head_hash = checksum(&head, offsetof(Head, head_hash));
  std::memcpy(bytes.data(), &head, sizeof(head));
  return true;
}

}  // namespace assay::fuzz
