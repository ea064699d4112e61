#pragma once

// The day of a measurement, as benchmark files write it.

#include <string>
#include <string_view>

namespace assay {

// The date at the start of a text: "2026-04-17" of "2026-04-17T11:57:09Z". Empty if there is none.
std::string date_of(std::string_view text);

}  // namespace assay
