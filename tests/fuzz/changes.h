#pragma once

// Changed copies of inputs. Bytes are changed anywhere; where a format would refuse most of that at
// its door (a database, a checksum, brackets), changes also keep the frame and touch what is
// inside.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace assay::fuzz {

// SplitMix64 (Steele, Lea, Flood 2014).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  size_t below(size_t end) { return end == 0 ? 0 : next() % end; }

 private:
  uint64_t state_;
};

// One change at any byte. other: another input, of which parts are taken.
void change_bytes(std::string& bytes, std::string_view other, Random& random);

// One change that keeps the frame of what `bytes` begin like: a cell, a row or a column of a SQLite
// database; the records of an .assaytrace or a column of an .assay, with checksums that fit again;
// a value, a member or an element of JSON; a cell, a row or a column of lines of text. False, with
// nothing changed, where there is no such thing.
bool change_inside(std::string& bytes, Random& random);

// `seed` with one to six changes of either kind.
std::string changed_copy(const std::string& seed, const std::string& other, Random& random);

// The bytes of the database that the statements make; empty where SQLite refuses one.
std::string database_of_sql(const std::string& statements);

}  // namespace assay::fuzz
