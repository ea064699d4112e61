#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <semaphore>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/child_process.h"
#include "base/files.h"
#include "base/json_tree.h"
#include "base/temporaries.h"
#include "cli/common.h"
#include "cli/options.h"
#include "cli/verbs.h"
#include "findings/causes.h"
#include "report/document/palette.h"
#include "serve/folder.h"
#include "serve/guard.h"
#include "serve/http.h"
#include "text/plain_text.h"
#include "text/units.h"

namespace assay {

std::string_view serve_page();  // web/dist/serve.html

namespace {

using Json = nlohmann::ordered_json;

constexpr unsigned kThreads = 8;      // concurrent requests
constexpr int kMostAnalyses = 2;      // concurrent requests that read a trace
constexpr size_t kMostPages = 64;     // kept for reloading; the oldest are dropped
constexpr size_t kMostPageBytes = size_t{1} << 28;
constexpr const char* kHtml = "text/html; charset=utf-8";
// Values of Content-Security-Policy. Report pages contain their own, stricter policy.
constexpr const char* kCommonPolicy =  // language: allow too_many_colons
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; script-src 'unsafe-inline'; ";
constexpr const char* kMayDraw = "style-src 'unsafe-inline'; img-src data: blob:";
constexpr const char* kMayAsk = "; connect-src 'self'";

struct ServeVerb {
  std::string path;
  uint32_t port = 8421;
  std::string cache;
  double timeout_s = 600;
  uint64_t memory = 0;  // limit of an analysis; 0 = half of the machine's
};

HttpAnswer refusal(int status, const std::string& words) {
  return {.status = status, .body = json_text(Json{{"error", words}})};
}

HttpAnswer json_answer(const Json& json) {
  return {.body = json_text(json)};
}

// Value of a key in "?a=1&b=2". Ids consist of digits, so no decoding is needed.
std::string query_value(std::string_view target, std::string_view key) {
  const size_t begin = target.find('?');
  if (begin == std::string_view::npos) return {};
  for (std::string_view rest = target.substr(begin + 1); !rest.empty();) {
    const size_t end = std::min(rest.find('&'), rest.size());
    const std::string_view pair = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (pair.starts_with(key) && pair.size() > key.size() && pair[key.size()] == '=') {
      return std::string(pair.substr(key.size() + 1));
    }
  }
  return {};
}

// The error message that the command line prints: its last line.
std::string last_line(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  const size_t begin = text.rfind('\n');
  return clean_text(begin == std::string::npos ? text : text.substr(begin + 1));
}

// Answers requests of the browser with the command line's results. Each analysis runs in its own
// process, so that one that exceeds memory or time does not affect others. Thread-safe.
class TraceService {
 public:
  TraceService(const ServeVerb& verb, ServedFolder folder, Temporary files, std::string token)
      : verb_(verb), folder_(std::move(folder)), files_(std::move(files)), token_(std::move(token)) {}

  void listens_on(uint16_t port) { port_ = port; }

  HttpAnswer answer(const RequestHead& head) {
    const std::string path(head.target.substr(0, std::min(head.target.find('?'), head.target.size())));
    const bool is_index = path == "/";
    // The path of a page contains a secret, because a browser that follows a link sends no token.
    const bool is_page = path.starts_with(kPages);
    if (const int status = refusal_of(head, port_, token_, !is_index && !is_page); status != 0) {
      return refusal(status, kRefusals.at(status));
    }
    if (is_index) return {.type = kHtml, .body = std::string(serve_page()), .policy = std::string(kCommonPolicy) + kMayDraw + kMayAsk};
    if (is_page) return page_at(path.substr(kPages.size()));
    if (path == "/v1/traces") return traces();
    if (path == "/v1/answer") return first_screen(query_value(head.target, "id"));
    if (path == "/v1/page") return page_of(head.target);
    if (path == "/v1/perfetto") return perfetto(query_value(head.target, "id"));
    return refusal(404, "there is nothing here");
  }

 private:
  static constexpr std::string_view kPages = "/page/";
  inline static const std::map<int, const char*> kRefusals = {
      {401, "the token is missing or wrong: open the address that `assay serve` printed"},
      {403, "another site asks"},
      {405, "only GET and HEAD are answered"},
      {421, "this server answers on 127.0.0.1 and localhost only"}};

  HttpAnswer traces() const {
    Json json = {{"folder", folder_.path}, {"traces", Json::array()}};
    for (const ServedTrace& trace : folder_.traces) {
      json["traces"].push_back({{"id", trace.id},
                                {"name", trace.name},
                                {"kind", trace.kind},
                                {"bytes", trace.bytes},
                                {"modified_ms", trace.modified_ns / 1'000'000},
                                {"job", trace.is_job}});
    }
    json["other_files"] = folder_.other_files;
    json["links_left_out"] = folder_.links;
    json["cut"] = folder_.cut;
    return json_answer(json);
  }

  HttpAnswer first_screen(const std::string& id) {
    const ServedTrace* trace = folder_.find(id);
    if (trace == nullptr) return refusal(404, "no trace has this id");
    const std::string stamp = stamp_of(*trace);
    {
      const std::lock_guard lock(mutex_);
      if (const auto known = answers_.find(id); known != answers_.end() && known->second.first == stamp) {
        return {.body = known->second.second};
      }
    }
    auto document = run({"report", "--format=json"}, {trace->path}, ".json");
    if (!document) return refusal(500, document.error().message);
    const Json whole = parsed_ordered_json(*document);
    if (whole.is_discarded() || !whole.contains("summary")) return refusal(500, "no answer was made");
    const Json& summary = whole["summary"];
    Json json = {{"headline", summary.value("headline", whole.value("headline", Json::array()))},
                 {"bottleneck", summary.value("bottleneck", Json())},
                 {"confidence", summary.value("confidence", Json())},
                 {"total_ns", summary.value("total_ns", Json())},
                 {"window_ns", summary.value("window_ns", Json())},
                 {"causes", Json::array()}};
    for (const Json& cause : summary.value("causes", Json::array())) {
      const std::string key = cause.value("cause", "");
      const CauseColour& colour = colour_of(key);
      json["causes"].push_back({{"word", findings::cause_legend(key)},
                                {"ns", cause.value("ns", int64_t{0})},
                                {"light", fmt::format("#{:06x}", colour.light)},
                                {"dark", fmt::format("#{:06x}", colour.dark)}});
    }
    HttpAnswer made = json_answer(json);
    const std::lock_guard lock(mutex_);
    answers_[id] = {stamp, made.body};
    return made;
  }

  // "?id=N" requests the report of one trace, "?a=N&b=M" the comparison of two. The answer contains
  // the path of the page.
  HttpAnswer page_of(std::string_view target) {
    const ServedTrace* one = folder_.find(query_value(target, "id"));
    const ServedTrace* a = folder_.find(query_value(target, "a"));
    const ServedTrace* b = folder_.find(query_value(target, "b"));
    if (one == nullptr && (a == nullptr || b == nullptr)) return refusal(404, "no trace has this id");
    auto html = one != nullptr ? run({"report"}, {one->path}, ".html") : run({"diff"}, {a->path, b->path}, ".html");
    if (!html) return refusal(500, html.error().message);
    auto secret = random_token();
    if (!secret) return refusal(500, secret.error().message);
    const std::lock_guard lock(mutex_);
    pages_.emplace_back(*secret, *std::move(html));
    if (pages_.size() > kMostPages) pages_.erase(pages_.begin());
    return json_answer({{"page", std::string(kPages) + *secret}});
  }

  HttpAnswer page_at(std::string_view secret) {
    const std::lock_guard lock(mutex_);
    for (const auto& [known, html] : pages_) {
      if (same_secret(known, secret)) return {.type = kHtml, .body = html, .policy = std::string(kCommonPolicy) + kMayDraw};
    }
    return {.status = 404, .type = "text/plain; charset=utf-8", .body = "This page is gone: open it again from the list of traces.\n"};
  }

  HttpAnswer perfetto(const std::string& id) {
    const ServedTrace* trace = folder_.find(id);
    if (trace == nullptr) return refusal(404, "no trace has this id");
    auto timeline = run({"report"}, {trace->path}, ".json.gz", "--perfetto");
    if (!timeline) return refusal(500, timeline.error().message);
    return {.type = "application/gzip", .body = *std::move(timeline)};
  }

  static std::string stamp_of(const ServedTrace& trace) {
    const auto facts = file_facts(trace.path);
    return facts ? fmt::format("{} {}", facts->bytes, facts->mtime_ns) : "";
  }

  // Path of the file that `assay VERB ... PATHS` writes, with this extension.
  Result<std::string> run(std::vector<std::string> words, const std::vector<std::string>& paths, const char* ending,
                          const char* option = "-o") {
    analyses_.acquire();
    Result<std::string> made = run_now(std::move(words), paths, ending, option);
    analyses_.release();
    return made;
  }

  Result<std::string> run_now(std::vector<std::string> words, const std::vector<std::string>& paths, const char* ending,
                              const char* option) {
    std::string name;
    {
      const std::lock_guard lock(mutex_);
      name = std::to_string(++made_) + ending;
    }
    Temporary file(joined(files_.path(), name));
    words.insert(words.begin(), program_path());
    words.push_back(fmt::format("{}={}", option[1] == '-' ? option : "--output", file.path()));
    add_cache_word(verb_.cache, words);
    words.push_back("--");
    words.insert(words.end(), paths.begin(), paths.end());
    ASSAY_TRY_ASSIGN(AskedChild child, AskedChild::start(words, verb_.memory));
    using Clock = std::chrono::steady_clock;
    const auto until = Clock::now() + std::chrono::milliseconds(static_cast<int64_t>(verb_.timeout_s * 1e3));
    for (bool more = true; more;) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
      if (left <= 0) {
        return Error{ErrorCode::kIo, fmt::format("ended after {:g} s: start the server with a larger --timeout", verb_.timeout_s), "", -1};
      }
      pollfd output{child.output(), POLLIN, 0};
      if (::poll(&output, 1, static_cast<int>(std::min<int64_t>(left, 1000))) > 0) more = child.read_some();
    }
    ChildResult ended = child.finish();
    const bool answered = ended.exit_code == kExitFine || ended.exit_code == kExitGateCrossed;
    if (!answered) {
      const std::string words_of_it = last_line(std::move(ended.output));
      return Error{ErrorCode::kIo, words_of_it.empty() ? "the analysis ended without an answer: is memory short?" : words_of_it, "", -1};
    }
    return file_text(file.path(), kMostPageBytes);
  }

  const ServeVerb& verb_;
  const ServedFolder folder_;
  const Temporary files_;
  const std::string token_;
  uint16_t port_ = 0;
  std::counting_semaphore<kMostAnalyses> analyses_{kMostAnalyses};
  std::mutex mutex_;  // guards all members below
  uint64_t made_ = 0;
  std::map<std::string, std::pair<std::string, std::string>> answers_;  // by id: file stamp, JSON
  std::vector<std::pair<std::string, std::string>> pages_;              // secret, HTML
};

int serve(ServeVerb& verb) {
  auto folder = served_folder(verb.path);
  if (!folder) return fail(folder.error());
  auto files = temporary_folder("assay-serve");
  if (!files) return fail(files.error());
  const auto token = random_token();
  if (!token) return fail(token.error());
  auto server = HttpServer::listen(static_cast<uint16_t>(verb.port));
  if (!server) return fail(server.error());
  if (verb.memory == 0) verb.memory = half_of_memory();
  const auto jobs = static_cast<size_t>(std::count_if(folder->traces.begin(), folder->traces.end(),
                                                      [](const ServedTrace& trace) { return trace.is_job; }));
  std::string offer = fmt::format("{}: {}, {}", clean_text(verb.path), format_counted(folder->traces.size() - jobs, "trace", "traces"),
                                  format_counted(jobs, "folder of several", "folders of several"));
  if (folder->links > 0) offer += fmt::format("; {} out of it left out", format_counted(folder->links, "link", "links"));
  if (folder->cut) offer += fmt::format("; only the first {} files", kMostServed);
  const uint16_t port = server->port();
  fmt::print("{}\nhttp://127.0.0.1:{}/#k={}   for this machine only; Ctrl-C ends\n", offer, port, *token);
  fmt::print("from elsewhere: ssh -L {}:127.0.0.1:{} HOST, then the same address\n", port, port);
  std::fflush(stdout);
  TraceService service(verb, *std::move(folder), *std::move(files), *token);
  service.listens_on(port);
  server->run(kThreads, [&service](const RequestHead& head) { return service.answer(head); });
  return kExitFine;
}

}  // namespace

void add_serve_verb(Verb& app, int& exit_code) {
  auto verb = std::make_shared<ServeVerb>();
  Verb& sub = app.verb("serve", "A folder of traces in the browser: answers, pages, comparisons, Perfetto; on this machine only");
  sub.example("assay serve traces/", "prints an address for the browser");
  sub.input("path", verb->path, "folder of traces, or one trace").required();
  sub.option("--port", verb->port, "port on 127.0.0.1, or the next free one of ten; 0: any free one")
      .between(0u, 65535u)
      .shows_default();
  sub.flag("--cache{auto}", verb->cache,
           "keep a cached form of every trace read, so that the next answer is quick; --cache=DIR names the folder, else "
           "~/.cache/assay");
  sub.option("--timeout", verb->timeout_s, "seconds that one analysis may take").between(1.0, 86400.0).shows_default();
  sub.option("--memory", verb->memory, "what one analysis may use, e.g. 4GB; default half of the machine's").size();
  sub.run([verb, &exit_code] { exit_code = serve(*verb); });
}

}  // namespace assay
