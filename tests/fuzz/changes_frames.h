#pragma once

// Changes inside of files whose frame has sums or pages. Each returns false, and changes nothing,
// where the frame of `bytes` does not hold.

#include <string>
#include <string_view>

#include "changes.h"

namespace assay::fuzz {

bool is_database(std::string_view bytes);   // SQLite
bool is_recording(std::string_view bytes);  // .assaytrace
bool is_columnar(std::string_view bytes);   // .assay

bool change_database(std::string& bytes, Random& random);
bool change_recording(std::string& bytes, Random& random);
bool change_columnar(std::string& bytes, Random& random);

}  // namespace assay::fuzz
