#pragma once

// The small document whose every output the writers' golden tests spell out by hand.

#include "report/document/document.h"

namespace assay {

inline Document sample_document() {
  Document document;
  document.tool.version = "1.2.3";
  document.title = "Launch report";
  document.inputs = {{"a.json.gz", {{"size_bytes", "size", 1572864, Unit::kBytes}}}};
  document.import_log = {{"truncated", "data_loss", 1, "the input ends early", 17},
                         {"whole_microseconds", "info", 1200, "times are whole us"}};
  document.verdict = {"Host-bound: the GPU waits.", "Fuse chains first."};

  Facts whole{.key = "whole"};
  whole.items = {{"kernels", "kernels", 1234, Unit::kCount},
                 {"tklqt_ns", "TKLQT", 12345678, Unit::kNanoseconds, "launch and queue time"},
                 {"il_ns", "IL", Value(), Unit::kNanoseconds},
                 {"device", "device", "H200", Unit::kText},
                 {"seed", "seed", 7, Unit::kNone, {}, Show::kDataOnly},
                 {"hint", "hint", "see docs", Unit::kText, {}, Show::kReadersOnly}};
  Table top{.key = "top_kernels", .title = "Top kernels"};
  top.columns = {{"name", "kernel", Unit::kText, Align::kAuto, true},
                 {"count", "count", Unit::kCount},
                 {"mean_ns", "mean", Unit::kNanoseconds},
                 {"share", "share", Unit::kShare}};
  top.rows = {{"gemm, 128", 1000, 1500.5, 0.625}, {"copy", 2, 2000.0, 0.375}, {"tail", 1}};
  top.terminal_limit = 2;
  Prose remark{.paragraphs = {"Only for readers."}};
  document.sections.push_back({"launch", "Launch", {whole, top, remark}});

  Tree tree{.key = "tree"};
  tree.columns = {{"host_ns", "host", Unit::kNanoseconds}};
  tree.nodes = {{0, "aten::linear", {3000}}, {1, "cudaLaunchKernel", {1000}}};
  Table trust{.key = "caveats", .show = Show::kDataOnly};
  trust.columns = {{"code", "code", Unit::kText}, {"count", "count", Unit::kCount}};
  trust.rows = {{"unlinked_kernels", 3}};
  Prose trust_words{.key = "trust_words", .paragraphs = {"3 kernels unlinked"}, .bullets = true};
  document.sections.push_back({"", "Trust", {tree, trust, trust_words}});
  return document;
}

}  // namespace assay
