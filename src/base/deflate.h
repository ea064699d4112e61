#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace assay {

// Compresses into one gzip member without a name or a time in its header. On one machine the same
// chunks give the same bytes; other processor types may find other matches.
class GzipStream {
 public:
  GzipStream();
  GzipStream(GzipStream&&) noexcept;
  ~GzipStream();

  // Appends the compressed bytes that are ready to `out`. Later calls append the rest.
  void write(std::string_view bytes, std::string& out);
  // Appends the end of the member. Do not call write() after it.
  void finish(std::string& out);

 private:
  friend std::string gzip(std::string_view bytes);
  struct State;
  void run(std::string_view bytes, bool last, std::string& out);
  void deflate(std::string_view bytes, bool last, std::string& out);

  std::unique_ptr<State> state_;
};

// `bytes` as one gzip member.
std::string gzip(std::string_view bytes);

}  // namespace assay
