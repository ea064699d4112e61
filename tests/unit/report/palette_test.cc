// Colours of causes stay apart: distances in OKLab, as seen by normal eyes and by three kinds of
// colour blindness (matrices of Machado, Oliveira and Fernandes 2009, severity 1).

#include "report/document/palette.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <set>

namespace assay {
namespace {

using Triple = std::array<double, 3>;
using Matrix = std::array<Triple, 3>;

constexpr std::array<Matrix, 4> kEyes = {{{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
                                          {{{0.152286, 1.052583, -0.204868},
                                            {0.114503, 0.786281, 0.099216},
                                            {-0.003882, -0.048116, 1.051998}}},
                                          {{{0.367322, 0.860646, -0.227968},
                                            {0.280085, 0.672501, 0.047413},
                                            {-0.011820, 0.042940, 0.968881}}},
                                          {{{1.255528, -0.076749, -0.178779},
                                            {-0.078411, 0.930809, 0.147602},
                                            {0.004733, 0.691367, 0.303900}}}}};

Triple times(const Matrix& m, const Triple& v) {
  Triple out{};
  for (size_t i = 0; i < 3; ++i) out[i] = m[i][0] * v[0] + m[i][1] * v[1] + m[i][2] * v[2];
  return out;
}

double linear(uint32_t channel) {
  const double c = channel / 255.0;
  return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

Triple seen(uint32_t rgb, const Matrix& eye) {
  Triple out = times(eye, {linear(rgb >> 16), linear(rgb >> 8 & 255), linear(rgb & 255)});
  for (double& c : out) c = std::clamp(c, 0.0, 1.0);
  return out;
}

Triple oklab(const Triple& rgb) {
  Triple lms = times({{{0.4122214708, 0.5363325363, 0.0514459929},
                       {0.2119034982, 0.6806995451, 0.1073969566},
                       {0.0883024619, 0.2817188376, 0.6299787005}}},
                     rgb);
  for (double& c : lms) c = std::cbrt(c);
  return times({{{0.2104542553, 0.7936177850, -0.0040720468},
                 {1.9779984951, -2.4285922050, 0.4505937099},
                 {0.0259040371, 0.7827717662, -0.8086757660}}},
               lms);
}

double apart(const Triple& a, const Triple& b) {
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

double contrast(uint32_t a, uint32_t b) {
  const auto light = [](uint32_t rgb) {
    return 0.2126 * linear(rgb >> 16) + 0.7152 * linear(rgb >> 8 & 255) +
           0.0722 * linear(rgb & 255);
  };
  const double x = light(a);
  const double y = light(b);
  return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

// "No evidence" and "not recorded" mean nearly one thing, "rest" is none: they share colours.
bool shares(const CauseColour& a, const CauseColour& b) { return a.light == b.light; }

TEST(Palette, PairsStayApartForAllEyes) {
  for (const Matrix& eye : kEyes) {
    for (const CauseColour& a : cause_colours()) {
      for (const CauseColour& b : cause_colours()) {
        if (a.key == b.key || shares(a, b)) continue;
        EXPECT_GE(apart(oklab(seen(a.light, eye)), oklab(seen(b.light, eye))), 0.055)
            << a.key << " " << b.key;
        EXPECT_GE(apart(oklab(seen(a.dark, eye)), oklab(seen(b.dark, eye))), 0.055)
            << a.key << " " << b.key;
      }
    }
  }
}

TEST(Palette, StandsOutFromThePage) {
  const std::set<std::string_view> nobodys_fault = {"comm_wait", "nothing_asked", "rest"};
  for (const CauseColour& colour : cause_colours()) {
    if (nobodys_fault.count(colour.key) != 0) continue;
    EXPECT_GE(contrast(colour.light, 0xffffff), 3.1) << colour.key;
    EXPECT_GE(contrast(colour.dark, 0x12161c), 3.1) << colour.key;
  }
}

TEST(Palette, KnowsEveryCause) {
  for (const char* key :
       {"compute", "collective", "copy", "no_evidence", "unseen", "wait_other", "latency", "sync",
        "cold", "alloc", "input", "call", "dispatch", "python", "host_gap", "nothing_asked"}) {
    EXPECT_EQ(colour_of(key).key, key);
  }
}

}  // namespace
}  // namespace assay
