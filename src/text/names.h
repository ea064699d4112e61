#pragma once

// Names from a trace as shown in sentences: as a programmer would write them, and short.

#include <string>
#include <string_view>

namespace assay {

// Rewrites Python's descriptions of built-in functions: "<built-in method send of _socket.socket
// object at 0x7f>" becomes _socket.socket.send, and "<method 'acquire' of '_thread.lock' objects>"
// becomes _thread.lock.acquire. Other names are returned unchanged.
std::string spoken(std::string_view name);

// spoken(), shortened to at most `columns` columns: folders are dropped first, then the middle is
// cut.
constexpr size_t kLongestNameSaid = 44;
std::string fitted(std::string_view name, size_t columns = kLongestNameSaid);

}  // namespace assay
