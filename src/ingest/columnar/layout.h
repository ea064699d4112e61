#pragma once

// Common to writer and reader of `.assay` files: the fixed head, the directory of blocks, and the
// order of the blocks. Uses the byte order of the machine, which the head records.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "ingest/columnar/file.h"
#include "trace/trace.h"

namespace assay::columnar {

inline constexpr uint32_t kByteOrder = 0x01020304;
inline constexpr uint32_t kVersion = 1;
inline constexpr uint64_t kAlignment = 64;

struct Head {
  char magic[8];
  uint32_t byte_order;
  uint32_t version;
  uint64_t schema_hash;   // of names and types of all columns, and of the import codes
  uint64_t reader_stamp;  // of the sources of everything that turns a file into a Trace
  uint64_t file_bytes;
  uint64_t blocks;
  uint64_t directory_hash;
  uint64_t head_hash;  // of the bytes before it
};
static_assert(sizeof(Head) == 64 && std::is_trivially_copyable_v<Head>);

struct Block {
  uint64_t offset;
  uint64_t bytes;  // without the zeros that fill it up to the next multiple of 64
  uint64_t hash;
};
static_assert(sizeof(Block) == 24);

// The blocks before those of the columns.
enum : size_t { kInfoBlock, kStringLengths, kStringBytes, kFirstColumn };

constexpr uint64_t padded(uint64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// visit("ops.start_ns", column) for every column of every table, in the order of the schema.
template <typename AnyTrace, typename Visitor>
void for_each_column(AnyTrace& trace, Visitor&& visit){
#define ASSAY_MEMBER(member, Row, COLUMNS, doc)                                            \
  trace.member.for_each_column([&visit](std::string_view name, auto, auto, auto& column) { \
    visit(std::string_view(#member), name, column);                                        \
  });
    ASSAY_TABLES(ASSAY_MEMBER)
#undef ASSAY_MEMBER
}

uint64_t schema_hash();
uint64_t reader_stamp();  // generated when the library is built

// All data outside columns, as bytes of block 0.
std::string encode_info(const Trace& trace, const SourceStamp& source);
// False when the bytes are not what encode_info writes.
bool decode_info(std::string_view bytes, Trace& trace, SourceStamp& source);

// Checks that ids, enums, durations and order are as promised in trace/trace.h; else names the
// first bad column.
Status check_trace(const Trace& trace);

}  // namespace assay::columnar
