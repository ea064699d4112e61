#include "report/document/explain.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <sstream>

#include "report/document/definitions.h"
#include "text/plain_text.h"

namespace assay {
namespace {

constexpr size_t kMostLines = 20;
constexpr size_t kHead = 10;

// As it is typed: any case, blanks and dashes as underscores.
std::string normal(std::string_view word) {
  std::string text;
  for (const char c : word) {
    const bool gap = c == ' ' || c == '-';
    text += gap ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return text;
}

// A key without the ending that tells its unit.
std::string stem(std::string_view key) {
  for (const std::string_view ending : {"_ns", "_share", "_bytes", "_w", "_j", "_hz"}) {
    if (key.ends_with(ending)) return normal(key.substr(0, key.size() - ending.size()));
  }
  return normal(key);
}

// "Launch and queue time: TKLQT" as the place of a heading in docs/metrics.md.
std::string anchor(std::string_view heading) {
  std::string text;
  for (const char c : heading) {
    if (c == ' ') text += '-';
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-') {
      text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return text;
}

class Lines {
 public:
  explicit Lines(size_t width) : width_(std::clamp<size_t>(width, 40, 100)) {}
  void plain(const std::string& line) { lines_.push_back(line); }
  void headed(std::string_view head, std::string_view text) {
    if (text.empty()) return;
    bool first = true;
    for (const std::string& part : wrap_text(clean_text(text), width_ - kHead)) {
      lines_.push_back(pad_text(first ? head : "", kHead, false) + part);
      first = false;
    }
  }
  void wrapped(std::string_view text) {
    for (const std::string& part : wrap_text(clean_text(text), width_ - 2)) {
      lines_.push_back("  " + part);
    }
  }
  std::string take() {
    if (lines_.size() > kMostLines) {
      lines_.resize(kMostLines - 1);
      lines_.emplace_back("  \u2026 more in docs/metrics.md");
    }
    std::string text;
    for (const std::string& line : lines_) text += line + "\n";
    return text;
  }

 private:
  size_t width_;
  std::vector<std::string> lines_;
};

std::string of_plain_word(const PlainWord& word, size_t width) {
  Lines lines(width);
  lines.plain(std::string(word.name));
  lines.wrapped(word.what);
  lines.headed("grows by", word.moves);
  lines.headed("to do", word.todo);
  lines.headed("exactly",
               "docs/metrics.md#causes; the answer's shares are of the window's wall time");
  return lines.take();
}

bool is_named(const Definition& definition, const std::string& wanted) {
  for (const std::string& key : definition.keys) {
    if (normal(key) == wanted || stem(key) == wanted) return true;
  }
  return normal(definition.label) == wanted;
}

std::vector<std::string> names_of(std::string_view names) {
  std::istringstream words{std::string(names)};
  return {std::istream_iterator<std::string>(words), {}};
}

// By a name that people type, or the key with or without its unit.
const PlainWord* symbol_called(const std::string& wanted) {
  for (const PlainWord& symbol : symbol_words()) {
    if (normal(symbol.key) == wanted || stem(symbol.key) == wanted) return &symbol;
    for (const std::string& name : names_of(symbol.name)) {
      if (normal(name) == wanted) return &symbol;
    }
  }
  return nullptr;
}

// The first definition says it, after plain words where there are some; others of the same name are
// named with their place.
std::string of_definitions(const std::vector<Definition>& found, const PlainWord* plain,
                           size_t width) {
  const Definition& first = found.front();
  Lines lines(width);
  lines.plain(first.label.empty() ? first.keys.front()
                                  : first.label + " (" + first.keys.front() + ")");
  if (plain == nullptr) {
    lines.wrapped(first.text);
  } else {
    lines.wrapped(plain->what);
    lines.headed("grows by", plain->moves);
    lines.headed("to do", plain->todo);
    lines.headed("formula", first.text);
  }
  std::string keys;
  for (const std::string& key : first.keys) keys += (keys.empty() ? "" : "  ") + key;
  lines.headed("keys", keys);
  lines.headed("room", first.room + (first.heading == first.room ? "" : ", " + first.heading));
  lines.headed("exactly", "docs/metrics.md#" + anchor(first.heading));
  std::vector<std::string> told = {first.heading};
  for (const Definition& more : found) {
    if (std::find(told.begin(), told.end(), more.heading) != told.end()) continue;
    told.push_back(more.heading);
    if (told.size() > 4) break;
    lines.headed("also", more.heading + ": " + more.text);
  }
  return lines.take();
}

}  // namespace

const std::vector<PlainWord>& plain_words() {
  static const std::vector<PlainWord> kWords = {
      {"compute", "compute", "The GPU runs kernels that are no communication.",
       "more or slower kernels",
       "Where it leads, cheaper kernels are the lever: assay levels FILE has them by operation."},
      {"collective", "collectives",
       "Communication runs and no other kernel beside it. Of one rank, "
       "waiting for others and moving data are not told apart.",
       "a rank that comes late, messages that nothing hides, a slow link",
       "Give the traces of all ranks: assay DIR tells who is late."},
      {"late", "late rank",
       "A rank that enters a collective after the others, which stand in it "
       "until it comes.",
       "pauses of its host threads, uneven data, a slower GPU or clock",
       "Look at its own trace: assay FILE. Pin its host threads to cores of their own; even out "
       "what ranks are given."},
      {"host", "host-bound",
       "The GPU is idle because the host has not launched the next work: Python, dispatch, runtime "
       "calls, host time without detail, and launch latency together.",
       "many small kernels, an eager loop, a slow CPU core, host threads that stall",
       "The answer names the largest part: assay explain PART. assay tax FILE splits it by layer."},
      {"copy", "copy", "Only copies and fills run, and no kernel beside them.",
       "large transfers, pageable memory, copies on the stream that computes",
       "Pin the memory, copy on another stream while kernels run, keep data on the GPU."},
      {"wait_other", "other work",
       "Work was handed over and waits for work of another stream or another GPU of the program, "
       "or has no room beside it; or the host waits for another GPU.",
       "events between streams, streams with too little to overlap, GPUs that take turns",
       "Move the event, or give the other stream or GPU something to do meanwhile."},
      {"unseen", "unseen device work",
       "Work was handed over and ready, yet did not begin, and the "
       "recording does not show why.",
       "work from before the recording, other processes, rows that were left out",
       "Record from an idle GPU on, with all processes and rows. Until then nothing is advised."},
      {"latency", "launch latency",
       "The few microseconds from handing work over until it begins on "
       "an idle stream.",
       "many tiny kernels with nothing between them",
       "Fewer, larger kernels: fusion (assay fuse FILE) or graphs."},
      {"sync", "sync",
       "The host waits in a blocking call, and the GPU runs empty because it is given "
       "nothing meanwhile.",
       "reading results on the host, device-wide synchronisation in the loop",
       "Keep values on the GPU; read them later or less often."},
      {"alloc", "allocation", "The host is in a driver call that allocates or frees GPU memory.",
       "no caching allocator, memory given back in the loop",
       "Allocate once, or use a pool or the framework's caching allocator."},
      {"cold", "cold start",
       "One-off costs: loading modules and libraries, contexts, compiling, "
       "first calls.",
       "a recording that begins before the warm-up",
       "Record behind the warm-up; for start-up time itself, load ahead."},
      {"input", "input", "The launching thread loads or prepares the next batch.",
       "no worker processes, slow storage, preprocessing in the loop",
       "More workers, or prepare ahead in another thread."},
      {"call", "runtime call", "Own time of CUDA or HIP calls that launch or copy.",
       "many launches, each of which costs the host some microseconds",
       "Fewer launches: graphs or fusion."},
      {"dispatch", "dispatch",
       "The host is in an operator of the framework, which prepares kernels.",
       "many small operators, an eager mode, a slow CPU core",
       "Compile or capture the step; assay tax FILE tells which layer costs what."},
      {"python", "Python", "The host runs Python between operators.",
       "an eager loop, hooks, recording stacks",
       "Compile the step, or move the work out of the loop."},
      {"host_gap", "no detail",
       "The host had not handed work over, and the recording does not show "
       "what it did.",
       "stacks and operators that were not recorded, other threads, the operating system",
       "Record with stacks, or with a sampler beside it."},
      {"no_evidence", "no evidence", "The next work has no launch in the recording.",
       "recordings of kernels alone, or that lost calls", "Record the host's calls too."},
      {"nothing_asked", "nothing asked",
       "Nobody had asked for work: the host waited for the outside, or was "
       "done.",
       "a server without requests", "Judge it under load."},
      {"evidence", "minimum evidence",
       "Below 50 pieces of GPU work or 1 ms nothing is judged, unless few long kernels "
       "fill the window.",
       "short or cut recordings", "Record some whole iterations behind the warm-up."},
      {"trust", "trust",
       "How sure the answer is. high: launches linked, a replay without changes is within 2 % of "
       "the recording, three whole iterations. fair: one of these fails. low: what-if is refused, "
       "or "
       "a fifth of the time is unexplained. none: nothing is judged.",
       "", "The reason stands beside the grade; --full has all notes."},
      {"predicted", "predicted",
       "A lever's gain from a replay of the recording with the change made, where the replay "
       "without changes fits the recording.",
       "", ""},
      {"at_most", "at most",
       "A lever's gain if the change itself cost nothing: the recording is replayed without what "
       "the change removes.",
       "", ""}};
  return kWords;
}

const std::vector<PlainWord>& symbol_words() {
  static const std::vector<PlainWord> kSymbols = {
      {"tklqt_ns", "TKLQT",
       "Time from launch calls to the starts of their kernels, all added up: launching plus "
       "waiting in the queue.",
       "full queues (the GPU is the bound, nothing to mend there); a slow way from call to GPU",
       "Read it against the floor: TKLQT near launches times the floor means that the host is "
       "the bound, far beyond it that the GPU is. assay bound shows where it turns."},
      {"akd_ns", "AKD", "How long a kernel runs, in the mean.", "larger batches, slower kernels",
       "Below some launch floors kernels are too short to keep the GPU busy: fuse them, or larger "
       "batches."},
      {"il_ns", "IL",
       "Wall time of one inference or step: from the first operator that launches to the end of "
       "the last kernel.",
       "kernel time and idle time of the GPU", "assay FILE says what the idle part waits for."},
      {"floor_ns", "F T_floor launch_floor",
       "What launching an empty kernel takes, from the call to its start: no launch can be "
       "quicker.",
       "driver, CPU clock, virtual machines",
       "Measure it with assay null-kernel where the trace was made."},
      {"hdbi", "HDBI", "Whose time it is: 0 is all host, 1 all device, 0.5 as much of each.",
       "longer kernels, or less host work for each launch",
       "It has no classes. assay FILE says whether the GPU waits; HDBI may be low where nothing "
       "waits, since host work can hide behind kernels."},
      {"t_py_ns", "T_Py",
       "Time that launches spend in Python before PyTorch's dispatcher has them.",
       "Python between operators; recording stacks slows it", "torch.compile or CUDA graphs."},
      {"ft_ns", "ΔFT delta_ft", "What the framework costs: Python and the dispatcher.",
       "many small operators", "torch.compile, fused operators, CUDA graphs."},
      {"ct_ns", "ΔCT delta_ct",
       "What a vendor's library costs beyond the dispatcher: choosing kernels, packing arguments.",
       "shapes that change, cold caches of heuristics", "Fixed shapes; warm up; CUDA graphs."},
      {"kt_ns", "ΔKT delta_kt", "What the launch calls themselves cost.", "the number of launches",
       "Fewer launches: fusion, CUDA graphs."},
      {"t_orch_ns", "T_Orch T_Orchestration",
       "All that the host does to get the kernels launched: Python, dispatcher, library and "
       "launch calls.",
       "the number of launches and what each costs",
       "Only what the GPU waits for can be won: see its idle time in assay FILE."},
      {"t_device_ns", "T_Device T_DeviceActive",
       "Kernel time, added up; kernels side by side count twice.", "more or slower kernels",
       "assay levels FILE."},
      {"launch_ns", "O_launch",
       "Idle time of the GPU before a kernel that ends with that kernel's launch: the host was "
       "late.",
       "operators, Python and launch calls between kernels", "assay why FILE names them."},
      {"prep_ns", "O_prep",
       "Idle time of the GPU until the next kernel's launch call: the host had not got to it yet.",
       "operators and Python before the call", "torch.compile, CUDA graphs."},
      {"call_ns", "O_call",
       "Idle time of the GPU from a launch call to its kernel's start: the call and the way there.",
       "slow launch calls, a slow way to the GPU", "CUDA graphs; a faster CPU core."}};
  return kSymbols;
}

std::string explain(std::string_view word, size_t width) {
  const std::string wanted = normal(word);
  for (const PlainWord& plain : plain_words()) {
    if (plain.key == wanted || normal(plain.name) == wanted) return of_plain_word(plain, width);
  }
  const PlainWord* symbol = symbol_called(wanted);
  const std::string key = symbol == nullptr ? wanted : normal(symbol->key);
  std::vector<Definition> found;
  for (Definition& definition : parse_definitions(metrics_text())) {
    if (is_named(definition, key)) found.push_back(std::move(definition));
  }
  // A definition says more than a row that only tells what the key is here.
  std::stable_sort(found.begin(), found.end(), [](const Definition& a, const Definition& b) {
    return !a.label.empty() && b.label.empty();
  });
  return found.empty() ? "" : of_definitions(found, symbol, width);
}

std::string explain_list(size_t width) {
  std::string text =
      "assay explain WORD, where WORD is one of these or any key or label of docs/metrics.md:\n\n";
  for (const PlainWord& word : plain_words()) {
    const std::string what(word.what.substr(0, word.what.find(". ")));
    text += "  " + pad_text(word.key, 15, false) +
            shorten_middle(clean_text(what), std::max<size_t>(width, 40) - 17) + "\n";
  }
  return text;
}

std::vector<std::string> explained_words() {
  std::vector<std::string> words;
  for (const PlainWord& word : plain_words()) words.emplace_back(word.key);
  for (const PlainWord& symbol : symbol_words()) {
    for (const std::string& name : names_of(symbol.name)) words.push_back(normal(name));
  }
  for (const Definition& definition : parse_definitions(metrics_text())) {
    for (const std::string& key : definition.keys) {
      words.push_back(key);
      if (stem(key) != key) words.push_back(stem(key));
    }
  }
  return words;
}

}  // namespace assay
