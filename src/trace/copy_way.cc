#include "trace/copy_way.h"

#include <array>
#include <string>

#include "base/ascii.h"

namespace assay {
namespace {

struct Spelling {
  std::string_view text;  // in lower case, without '-', '_' and spaces
  CopyWay way;
};

// Short forms of Kineto and CUPTI, words of HIP and HSA, and Kineto's kinds of memory.
constexpr std::array<Spelling, 23> kSpellings = {{{"htod", CopyWay::kToDevice},
                                                  {"memcpyh2d", CopyWay::kToDevice},
                                                  {"memcpyd2h", CopyWay::kToHost},
                                                  {"memcpyd2d", CopyWay::kOnDevice},
                                                  {"htoa", CopyWay::kToDevice},
                                                  {"hosttodevice", CopyWay::kToDevice},
                                                  {"host>device", CopyWay::kToDevice},
                                                  {"pageable>device", CopyWay::kToDevice},
                                                  {"pinned>device", CopyWay::kToDevice},
                                                  {"dtoh", CopyWay::kToHost},
                                                  {"atoh", CopyWay::kToHost},
                                                  {"devicetohost", CopyWay::kToHost},
                                                  {"device>host", CopyWay::kToHost},
                                                  {"device>pageable", CopyWay::kToHost},
                                                  {"device>pinned", CopyWay::kToHost},
                                                  {"ptop", CopyWay::kBetweenDevices},
                                                  {"peertopeer", CopyWay::kBetweenDevices},
                                                  {"dtod", CopyWay::kOnDevice},
                                                  {"dtoa", CopyWay::kOnDevice},
                                                  {"atod", CopyWay::kOnDevice},
                                                  {"atoa", CopyWay::kOnDevice},
                                                  {"devicetodevice", CopyWay::kOnDevice},
                                                  {"device>device", CopyWay::kOnDevice}}};

std::string plain(std::string_view name) {
  std::string text;
  for (const char c : lower(name)) {
    if (c != '-' && c != '_' && c != ' ') text.push_back(c);
  }
  return text;
}

}  // namespace

CopyWay copy_way(std::string_view name) {
  const std::string text = plain(name);
  for (const Spelling& spelling : kSpellings) {
    if (text.find(spelling.text) != std::string::npos) return spelling.way;
  }
  return CopyWay::kUnknown;
}

bool is_pinned_copy(std::string_view name) { return name.find("Pinned") != std::string_view::npos; }

bool is_managed_copy(std::string_view name) {
  return name.starts_with("Memcpy ") && name.find("Managed") != std::string_view::npos;
}

bool is_pageable_copy(std::string_view name) {
  return name.find("Pageable") != std::string_view::npos;
}

}  // namespace assay
