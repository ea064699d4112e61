#pragma once

// HTTP on loopback. Only http.cc includes Boost.Beast, which costs seconds of compile time.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "serve/guard.h"

namespace assay {

struct HttpAnswer {
  int status = 200;
  std::string type = "application/json";
  std::string body;
  // Value of Content-Security-Policy: what the answer may load and run in a browser.
  std::string policy = "default-src 'none'; frame-ancestors 'none'";
};

class HttpServer {
 public:
  // Listens on 127.0.0.1 only.
  // port: the first of ten that are tried. 0 = any free one.
  // Errors: none of them is free.
  static Result<HttpServer> listen(uint16_t port);
  HttpServer(HttpServer&& other) noexcept;
  ~HttpServer();

  uint16_t port() const;
  // Answers requests until the process ends: at most 64 connections, heads of 8 kB, no bodies, 15 s for a request to
  // arrive. `answer` runs on `threads` threads at once and may take long.
  void run(unsigned threads, const std::function<HttpAnswer(const RequestHead&)>& answer);

 private:
  struct Sockets;
  explicit HttpServer(std::unique_ptr<Sockets> sockets);
  std::unique_ptr<Sockets> sockets_;
};

}  // namespace assay
