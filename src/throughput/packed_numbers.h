#pragma once

// Many numbers as text without loss: base64 (RFC 4648) of IEEE 754 doubles, least byte first.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

std::string packed(const std::vector<double>& numbers);
// nullopt if the text is invalid or a number is not finite.
std::optional<std::vector<double>> unpacked(std::string_view text);

}  // namespace assay
