#pragma once

// Reads Python pickles of plain data: numbers, texts, lists, tuples and dicts. A pickle is a
// program for a small stack machine. Its opcodes are defined in the comments of CPython's
// Lib/pickletools.py. Only opcodes that make such values are executed. Opcodes that import, call or
// build objects are errors that name the opcode, so that no code of a file ever runs.

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace assay {

enum class PickleKind : uint8_t { kNone, kBool, kInteger, kReal, kText, kList, kDict };

struct PickleValue {
  PickleKind kind = PickleKind::kNone;
  int64_t integer = 0;            // kBool; kInteger modulo 2^64, because addresses have 64 bits
  double real = 0;                // kReal
  std::string_view text = {};     // kText: bytes of the file, UTF-8 or a byte string
  std::vector<uint32_t> of = {};  // kList: elements of a list or tuple; kDict: alternating keys and
                                  // values
};

// All values of a file. Values refer to each other by index into `values`; one may occur in several
// places.
struct PickleDocument {
  std::vector<PickleValue> values = {};
  uint32_t root = 0;

  // The value of a key of a dict; the last one if the key is repeated, as in Python. nullptr if
  // missing.
  const PickleValue* find(const PickleValue& dict, std::string_view key) const;
};

// Parses `bytes`, one pickle of protocol 2 to 5. `bytes` must outlive the document. Errors name the
// byte: kTruncated if it ends early, kUnsupported for code and for sizes beyond any snapshot, else
// kFormat.
Result<PickleDocument> parse_pickle(std::string_view bytes);

}  // namespace assay
