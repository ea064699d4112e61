#pragma once

// The day of a measurement, as benchmark files write it.

#include <string>
#include <string_view>

namespace assay {

// "2026-04-17" of a text that is that or begins with it ("2026-04-17T11:57:09Z"); empty for others.
std::string date_of(std::string_view text);

}  // namespace assay
