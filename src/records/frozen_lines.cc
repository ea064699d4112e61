#include "records/frozen_lines.h"

namespace assay {

std::string frozen_head(std::string_view head) {
  return "# What a replay said before the other recording was read.\n[" + std::string(head) + "]\n";
}

void add_frozen_line(std::string_view key, std::string_view value, std::string& text) {
  text += std::string(key) + " = " + one_line(value) + "\n";
}

std::string one_line(std::string_view text) {
  std::string line(text);
  for (char& c : line) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return line;
}

Error frozen_line_error(size_t number, const std::string& problem) {
  return format_error("line " + std::to_string(number) + ": " + problem);
}

Error unknown_frozen_line(size_t number, std::string_view key) {
  return frozen_line_error(number, "'" + one_line(key) + "' is not a line of a prediction");
}

}  // namespace assay
