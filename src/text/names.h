#pragma once

// Names from a trace as a sentence shows them: in the form a programmer writes, and in few columns.

#include <string>
#include <string_view>

namespace assay {

// Python's own words for built-in functions as one writes them: "<built-in method send of
// _socket.socket object at 0x7f>" is _socket.socket.send, "<method 'acquire' of '_thread.lock'
// objects>" is _thread.lock.acquire. Everything else stays.
std::string spoken(std::string_view name);

// The same in at most `columns` columns: folders go first, then the middle.
constexpr size_t kLongestNameSaid = 44;
std::string fitted(std::string_view name, size_t columns = kLongestNameSaid);

}  // namespace assay
