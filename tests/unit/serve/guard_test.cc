// Which requests a server on loopback answers: a row per way that a page of another site could try.

#include "serve/guard.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

constexpr uint16_t kPort = 8421;
constexpr const char* kToken = "5b0c2f00112233445566778899aabbcc";

RequestHead good() {
  return {.method = "GET", .target = "/v1/traces", .host = "127.0.0.1:8421", .authorization = "Bearer 5b0c2f00112233445566778899aabbcc"};
}

int refused(const RequestHead& head, bool needs_token = true) { return refusal_of(head, kPort, kToken, needs_token); }

TEST(ServeGuard, AnswersItsOwnPage) {
  EXPECT_EQ(refused(good()), 0);
  RequestHead head = good();
  head.origin = "http://127.0.0.1:8421";
  head.fetch_site = "same-origin";
  EXPECT_EQ(refused(head), 0);
  head.host = "localhost:8421";
  head.origin = "http://localhost:8421";
  EXPECT_EQ(refused(head), 0);
  head.method = "HEAD";
  EXPECT_EQ(refused(head), 0);
}

TEST(ServeGuard, RefusesOtherHosts) {
  for (const char* host : {"", "evil.example:8421", "127.0.0.1", "127.0.0.1:8422", "127.0.0.1:8421.evil.example", "0.0.0.0:8421"}) {
    RequestHead head = good();
    head.host = host;
    EXPECT_EQ(refused(head), 421) << host;
  }
}

TEST(ServeGuard, RefusesOtherMethods) {
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "CONNECT", "get", ""}) {
    RequestHead head = good();
    head.method = method;
    EXPECT_EQ(refused(head), 405) << method;
  }
}

TEST(ServeGuard, RefusesOtherSites) {
  for (const char* origin : {"https://evil.example", "null", "http://127.0.0.1:9000", "https://127.0.0.1:8421"}) {
    RequestHead head = good();
    head.origin = origin;
    EXPECT_EQ(refused(head), 403) << origin;
  }
  RequestHead head = good();
  head.fetch_site = "cross-site";
  EXPECT_EQ(refused(head), 403);
  EXPECT_EQ(refused(head, false), 0) << "a link to a page without data";
}

TEST(ServeGuard, RefusesWithoutTheToken) {
  for (const char* given : {"", "Bearer ", "Bearer 5b0c2f00112233445566778899aabbcd", "5b0c2f00112233445566778899aabbcc",
                            "Bearer 5b0c2f00112233445566778899aabbcc0", "bearer 5b0c2f00112233445566778899aabbcc"}) {
    RequestHead head = good();
    head.authorization = given;
    EXPECT_EQ(refused(head), 401) << given;
    EXPECT_EQ(refused(head, false), 0);
  }
}

TEST(ServeGuard, TokensAreNeverTheSame) {
  const auto a = random_token();
  const auto b = random_token();
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->size(), 32u);
  EXPECT_NE(*a, *b);
  EXPECT_TRUE(same_secret(*a, *a));
  EXPECT_FALSE(same_secret(*a, *b));
  EXPECT_FALSE(same_secret(*a, a->substr(1)));
}

}  // namespace
}  // namespace assay
