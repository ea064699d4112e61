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
  // Value of Content-Security-Policy: what the browser may load and run.
  std::string policy = "default-src 'none'; frame-ancestors 'none'";
};

class HttpServer {
 public:
  // Listens on 127.0.0.1 only. Tries ten ports starting with `port`; 0 = any free port. Errors:
  // none of them is free.
  static Result<HttpServer> listen(uint16_t port);
  HttpServer(HttpServer&& other) noexcept;
  ~HttpServer();

  uint16_t port() const;
  // Answers requests until the process ends. Limits: 64 connections, 8 kB of header, no bodies, 15
  // s until a request is complete. Up to `threads` threads call `answer` concurrently; it may take
  // long.
  void run(unsigned threads, const std::function<HttpAnswer(const RequestHead&)>& answer);

 private:
  struct Sockets;
  explicit HttpServer(std::unique_ptr<Sockets> sockets);
  std::unique_ptr<Sockets> sockets_;
};

}  // namespace assay
