#pragma once

#include <string>
#include <string_view>

namespace assay {

// The bytes as one gzip member, without a name or a time in its header: the same bytes in give the
// same bytes out on one machine; processors of another kind may find other matches.
std::string gzip(std::string_view bytes);

}  // namespace assay
