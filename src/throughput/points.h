#pragma once

// Parses points typed by users: 'bb=96,ii=1024,oo=256,hw=H100,model=...' and grids over several
// values of some attributes (docs/metrics.md#throughput).

#include <array>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "records/bench_table.h"
#include "records/facts.h"

namespace assay {

// Distinct values of the measured rows per attribute, in the order of the attributes below.
struct MeasuredValues {
  MeasuredValues(const std::vector<BenchRow>& rows);
  std::array<std::vector<std::string>, 9> texts;
  std::array<std::vector<double>, 9> numbers;
  std::map<std::string, BenchVariant> variants;  // by text, from the first row that has it
};

// Parses one point. The attributes are hw, n, fw, model, variant, ii, oo, len (both lengths) and
// bb. Missing ones come from the rows if all rows agree; a missing variant is the plain one if rows
// have it. Names are matched against the rows, then the specifications, ignoring case and
// punctuation, or by whole words that only one of them has. Errors suggest a similar attribute or
// value.
Result<BenchRow> parse_point(const std::string& text, const MeasuredValues& measured,
                             const FactBook& facts);

// All combinations; the last attribute varies fastest. Numbers: lists '128:1024:2048' or
// '128|1024|2048', ranges '1..256*2' (powers), '1..64+16' (steps), '1..8'. Names: lists
// 'A100|H100'.
Result<std::vector<BenchRow>> parse_grid(const std::string& text, const MeasuredValues& measured,
                                         const FactBook& facts);

// The most similar known name; empty if none is near.
std::string close_match(const std::string& name, const std::vector<std::string>& known);

}  // namespace assay
