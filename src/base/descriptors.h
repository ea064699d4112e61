#pragma once

namespace assay {

// Takes the lowest free file descriptor for the life of the process, for /dev/null: what is closed
// when a program begins would else become the first file that it opens.
bool hold_descriptor(bool for_writing);

}  // namespace assay
