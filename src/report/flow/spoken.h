#pragma once

// Names of causes and of rows as a sentence says them.

#include <string>
#include <string_view>

#include "flow/causes.h"
#include "trace/trace.h"

namespace assay {

// Python's own words for built-in functions as one writes them: "<built-in method send of
// _socket.socket object at 0x7f>" is _socket.socket.send, "<method 'acquire' of '_thread.lock'
// objects>" is _thread.lock.acquire. Everything else stays.
std::string spoken(std::string_view name);

// The same in at most `room` columns: folders go first, then the middle.
constexpr size_t kLongestNameSaid = 44;
std::string fitted(std::string_view name, size_t room = kLongestNameSaid);

// A cause in a sentence: "operators", "launch latency".
std::string_view cause_words(FlowCause cause);
// Names of what stands behind a cause, as a sentence says them; empty where nothing names it.
std::string contributor_name(const Trace& trace, const Contributor& contributor);
// The data loader around a stretch of time, as an operator, label or frame names it; empty where
// there is none.
std::string loader_around(const Trace& trace, Interval span);

}  // namespace assay
