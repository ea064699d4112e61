#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace assay {

// Compresses in chunks into one gzip member, without a name or a time in its header. The same
// chunks give the same bytes on one machine; other types of processor may find other matches.
class GzipStream {
 public:
  GzipStream();
  GzipStream(GzipStream&&) noexcept;
  ~GzipStream();

  // Appends what is ready to `out`; the rest comes with later calls.
  void write(std::string_view bytes, std::string& out);
  // Appends the end. Nothing may be written after it.
  void finish(std::string& out);

 private:
  friend std::string gzip(std::string_view bytes);
  struct State;
  void run(std::string_view bytes, bool last, std::string& out);
  void deflate(std::string_view bytes, bool last, std::string& out);

  std::unique_ptr<State> state_;
};

// The bytes as one such member.
std::string gzip(std::string_view bytes);

}  // namespace assay
