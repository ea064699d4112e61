#pragma once

namespace assay {

// Occupies the lowest free file descriptor with /dev/null for the life of the process. Otherwise a
// standard stream that was closed at the start would become the first file that the program opens.
bool hold_descriptor(bool for_writing);

}  // namespace assay
