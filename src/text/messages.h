#pragma once

#include <string_view>

namespace assay {

// messages.en.txt, as it was when the binary was built.
std::string_view messages_text();

}  // namespace assay
