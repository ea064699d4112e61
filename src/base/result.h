#pragma once

// Error handling of the library: functions return a value or an Error. They never throw and never
// write to stderr. The interface follows std::expected, so that it can become an alias when every
// supported compiler ships it (docs/decisions/0002-language-and-result.md).

#include <cassert>
#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace assay {

enum class ErrorCode : uint8_t {
  kIo,               // the file could not be opened, read or written
  kFormat,           // the bytes violate the format
  kTruncated,        // the input ends too early; the complete part can be offered
  kUnsupported,      // valid, but not supported by Assay
  kNotATrace,        // readable, but not a trace
  kSeveralTraces,    // several traces in one file, to be split
  kInvalidArgument,  // the user's request is invalid
  kInternal,         // our bug
};

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;  // what is wrong and what to do, without file name or offset
  std::string file;     // empty = no file involved
  int64_t offset = -1;  // byte (JSON, CSV) in the uncompressed input; -1 = the whole input

  // Text shown to users: "file: byte 123: message".
  std::string describe() const {
    std::string text;
    if (!file.empty()) text += file + ": ";
    if (offset >= 0) text += "byte " + std::to_string(offset) + ": ";
    return text + message;
  }
};

// A format error of the whole input. The caller adds the file name.
inline Error format_error(std::string message) {
  return {ErrorCode::kFormat, std::move(message), "", -1};
}

template <typename T>
class [[nodiscard]] Result {
 public:
  template <typename U = T>
    requires std::constructible_from<T, U> && (!std::same_as<std::remove_cvref_t<U>, Error>) &&
             (!std::same_as<std::remove_cvref_t<U>, Result>)
  Result(U&& value) : value_(std::in_place_index<0>, std::forward<U>(value)) {}
  Result(Error error) : value_(std::in_place_index<1>, std::move(error)) {}

  bool has_value() const { return value_.index() == 0; }
  explicit operator bool() const { return has_value(); }
  T& operator*() & { return checked(); }
  const T& operator*() const& {
    assert(has_value());
    return *std::get_if<0>(&value_);
  }
  T&& operator*() && { return std::move(checked()); }
  T* operator->() { return &checked(); }
  const T* operator->() const { return &**this; }
  const Error& error() const {
    assert(!has_value());
    return *std::get_if<1>(&value_);
  }
  Error take_error() {
    assert(!has_value());
    return std::move(*std::get_if<1>(&value_));
  }

 private:
  T& checked() {
    assert(has_value());
    return *std::get_if<0>(&value_);
  }
  std::variant<T, Error> value_;
};

struct Ok {};
using Status = Result<Ok>;

#define ASSAY_CONCAT_INNER(a, b) a##b
#define ASSAY_CONCAT(a, b) ASSAY_CONCAT_INNER(a, b)

// ASSAY_TRY_ASSIGN(auto x, f()) binds x to the value or returns f's error.
#define ASSAY_TRY_ASSIGN(decl, expr) \
  ASSAY_TRY_ASSIGN_INNER(ASSAY_CONCAT(assay_try_, __LINE__), decl, expr)
#define ASSAY_TRY_ASSIGN_INNER(tmp, decl, expr) \
  auto tmp = (expr);                            \
  if (!tmp) return tmp.take_error();            \
  decl = *std::move(tmp)
#define ASSAY_TRY(expr)                                                              \
  do {                                                                               \
    if (auto assay_status = (expr); !assay_status) return assay_status.take_error(); \
  } while (0)

}  // namespace assay
