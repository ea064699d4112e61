#pragma once

#include <string_view>

namespace assay {

// The contents of messages.en.txt at build time.
std::string_view messages_text();

}  // namespace assay
