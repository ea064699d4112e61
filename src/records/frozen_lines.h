#pragma once

// Lines that the files of predictions have in common.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace assay {

// The first lines of the file; `head` is its first section.
std::string frozen_head(std::string_view head);
// Appends "key = value". Line breaks in the value become blanks, since they would end it.
void add_frozen_line(std::string_view key, std::string_view value, std::string& text);
std::string one_line(std::string_view text);
Error frozen_line_error(size_t number, const std::string& problem);
Error unknown_frozen_line(size_t number, std::string_view key);
// The largest number of a line, so that the difference of two fits 64 bits.
constexpr int64_t kMostFrozen = int64_t{1} << 60;

}  // namespace assay
