#pragma once

// Python pickles of plain data: numbers, texts, lists, tuples and dicts. A pickle is a program for
// a small machine (the comments of CPython's Lib/pickletools.py define its opcodes); of it only
// what makes such values is done here. Opcodes that import, call or build objects are refused by
// name, so that nothing of a file is ever run.

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace assay {

enum class PickleKind : uint8_t { kNone, kBool, kInteger, kReal, kText, kList, kDict };

struct PickleValue {
  PickleKind kind = PickleKind::kNone;
  int64_t integer = 0;         // for kBool, and for kInteger modulo 2^64 because addresses have 64
                               // bits
  double real = 0;             // kReal
  std::string_view text = {};  // kText, in the bytes of the file: also those of Python 2 and bytes
  std::vector<uint32_t> of = {};  // values of kList and tuples; alternating keys and values of
                                  // kDict
};

// All values of a file; values refer to each other by number, and one may be in several places.
struct PickleDocument {
  std::vector<PickleValue> values = {};
  uint32_t root = 0;

  // The value of a key of a dict, the last of that name as in Python; nullptr without one.
  const PickleValue* find(const PickleValue& dict, std::string_view key) const;
};

// One pickle of protocol 2 to 5 that fills `bytes`, which must outlive the document. kTruncated
// where it ends early, kUnsupported for code and for what is beyond any snapshot, else kFormat;
// each with its byte.
Result<PickleDocument> parse_pickle(std::string_view bytes);

}  // namespace assay
