#pragma once

// Many numbers as text without loss: base64 (RFC 4648) of IEEE 754 doubles, least byte first.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

std::string packed(const std::vector<double>& numbers);
// Absent: not such text, or a number that is not finite.
std::optional<std::vector<double>> unpacked(std::string_view text);

}  // namespace assay
