#include "report/writers/writers.h"

#include "text/plain_text.h"

namespace assay {

Result<Format> parse_format(std::string_view name) {
  std::string known;
  for (const Writer& writer : kWriters) {
    if (writer.name == name) return writer.format;
    if (!known.empty()) known += ", ";
    known += writer.name;
  }
  const std::string wanted = shorten_middle(clean_text(name), 40);
  return Error{
      ErrorCode::kInvalidArgument, "unknown format '" + wanted + "'; use one of " + known, {}, -1};
}

std::string render(const Document& document, Format format, const TerminalOptions& options) {
  for (const Writer& writer : kWriters) {
    if (writer.format == format) return writer.write(document, options);
  }
  return {};
}

}  // namespace assay
