#pragma once

// Names of host rows as a sentence says them.

#include <string>
#include <string_view>

namespace assay {

// Python's own words for built-in functions as one writes them: "<built-in method send of
// _socket.socket object at 0x7f>" is _socket.socket.send, "<method 'acquire' of '_thread.lock'
// objects>" is _thread.lock.acquire. Everything else stays.
std::string spoken(std::string_view name);

// The same in at most `room` columns: folders go first, then the middle.
constexpr size_t kLongestNameSaid = 44;
std::string fitted(std::string_view name, size_t room = kLongestNameSaid);

}  // namespace assay
