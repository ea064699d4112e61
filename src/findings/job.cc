#include "findings/job.h"

#include <utility>

namespace assay::findings {
namespace {

class JobFindings {
 public:
  explicit JobFindings(const JobFacts& facts) : f_(facts) {}

  std::vector<Finding> all() {
    add_recorded();
    if (f_.hosts) add_hosts();
    if (f_.aligned && !(f_.hosts && !late())) add_who();
    if (f_.aligned && !late() && f_.unmatched_lead) {
      add(Code::kJobRanksMissing).count("missing", missing());
    }
    if (late()) add_why();
    if (!f_.slow_network) add_transfers();
    return std::move(found_);
  }

 private:
  Finding& add(Code code) {
    found_.push_back({.code = code, .window = f_.window});
    return found_.back();
  }

  bool late() const {
    return !f_.causes.empty() && f_.causes.front().kind == JobCause::Kind::kLate;
  }

  uint64_t missing() const {
    const auto world = static_cast<uint64_t>(f_.world_size);
    return f_.world_size > 0 && world > f_.ranks ? world - f_.ranks : 0;
  }

  // Conclusions hold for the traced ranks only.
  Finding& add_here(Code code) {
    Finding& finding = add(code);
    if (missing() > 0) {
      finding.count("here", f_.ranks).count("world", static_cast<uint64_t>(f_.world_size));
    }
    return finding;
  }

  void add_recorded() {
    if (!f_.no_gpu.empty()) add(Code::kJobNoGpuActivity).ranks("ranks", f_.no_gpu);
    if (f_.cut_short.empty()) return;
    add(Code::kJobCutShort)
        .ranks("ranks", f_.cut_short)
        .ns("recorded", f_.cut_ns)
        .ns("span", f_.longest_ns);
  }

  void add_hosts() {
    const JobHosts& hosts = *f_.hosts;
    Finding& finding = add(hosts.in_turn ? Code::kJobHostsInTurn
                           : hosts.all   ? Code::kJobHostBlocksAll
                                         : Code::kJobHostBlocks);
    if (!hosts.in_turn) finding.ranks("rank", {hosts.rank});
    if (!hosts.in_turn && hosts.all) finding.count("others", hosts.waiting.size());
    if (!hosts.in_turn && !hosts.all) finding.ranks("waiting", hosts.waiting);
    finding.ns("wait", hosts.wait_ns)
        .count("times", hosts.times)
        .named("call", SubjectKind::kCall, hosts.call);
    if (hosts.on_device && !hosts.in_turn) {
      finding.list("computing", {hosts.rank});
    } else {
      finding.named("held", SubjectKind::kFunction, hosts.held);
    }
  }

  void add_who() {
    if (!f_.comparable) {
      add(Code::kJobNoPeers);
    } else if (!f_.judged) {
      add(Code::kJobNoDependences);
    } else if (!f_.causes.empty()) {
      add_causes();
    } else if (!f_.slow_network) {
      add_nobody();
    }
  }

  static void fill_ranks(const JobRanks& ranks, Finding& out) {
    out.ranks("ranks", ranks.labels).text("set", ranks.set).text("device", ranks.device);
  }

  static void fill_cause(const JobCause& cause, Finding& out) {
    switch (cause.kind) {
      case JobCause::Kind::kLate:
        fill_ranks(cause.ranks, out);
        break;
      case JobCause::Kind::kSlowLink:
        out.ranks("ranks", cause.ranks.labels)
            .text("set", cause.ranks.set)
            .ratio("factor", cause.factor);
        break;
      case JobCause::Kind::kAllStop:
        out.count("iteration", static_cast<uint64_t>(cause.iteration))
            .ns("longest", cause.longest_ns);
        break;
    }
  }

  void add_causes() {
    constexpr Code kAlone[] = {Code::kJobLate, Code::kJobSlowLink, Code::kJobAllStop};
    constexpr Code kParts[] = {Code::kJobPartLate, Code::kJobPartSlowLink, Code::kJobPartAllStop};
    const JobCause& first = f_.causes.front();
    const bool alone = f_.decided && f_.causes.size() == 1;
    Finding& finding = add_here(alone           ? kAlone[static_cast<size_t>(first.kind)]
                                : f_.decided    ? Code::kJobSeveral
                                : f_.rival_link ? Code::kJobUndecidedLink
                                                : Code::kJobUndecided);
    if (alone) fill_cause(first, finding);
    for (const JobCause& cause : f_.causes) {
      if (alone) break;
      Finding part{.code = kParts[static_cast<size_t>(cause.kind)], .window = f_.window};
      fill_cause(cause, part);
      finding.parts.push_back(std::move(part));
    }
    if (!f_.decided) finding.ranks("rival", f_.rival).ratio("odds", f_.odds);
    finding.ns("without", f_.without_ns);
    if (f_.without_most_ns > f_.without_ns) finding.ns("without_most", f_.without_most_ns);
    finding.ns("span", f_.span_ns);
  }

  // No rank is the straggler: occasional delays affect each rank and cost all of them time.
  void add_nobody() {
    if (f_.last) return add_last();
    const bool costs = f_.common_gain_ns * 10 >= f_.span_ns;
    Finding& finding = add_here(!costs           ? Code::kJobNoRankLater
                                : f_.hosts_stall ? Code::kJobNoRankLaterStalls
                                                 : Code::kJobNoRankLaterDelays);
    if (!costs) return;
    finding.text("uneven", f_.uneven)
        .ns("without", f_.span_ns - f_.common_gain_ns)
        .ns("span", f_.span_ns);
  }

  void add_last() {
    const JobLast& last = *f_.last;
    const bool apart = last.ranks.device.empty();
    Finding& finding = add_here(apart ? Code::kJobLastRanksApart : Code::kJobLastRanks);
    fill_ranks(last.ranks, finding);
    finding.count("times", last.times)
        .count("collectives", last.collectives)
        .ns("behind", last.behind_ns)
        .ns("span", f_.span_ns);
    if (f_.hosts_stall) {
      add(Code::kJobHostsStall)
          .ns("without", f_.span_ns - f_.common_gain_ns)
          .ns("span", f_.span_ns);
    } else {
      add(Code::kJobNotCompared).ns("behind", last.behind_ns);
    }
  }

  void add_why() {
    for (const JobReason& reason : f_.reasons) {
      const bool alike = !reason.host && reason.name.empty() && reason.alike;
      add(reason.host ? Code::kJobReasonHost
          : alike     ? Code::kJobReasonKernelsAlike
                      : Code::kJobReasonKernels)
          .ranks("ranks", reason.ranks)
          .text("name", reason.name);
    }
    if (!f_.reasons.empty() || !f_.why) return;
    const JobWhy& why = *f_.why;
    switch (why.kind) {
      case JobWhy::Kind::kMoreWork:
        fill_when(why, add(Code::kJobMoreWork)).named("name", SubjectKind::kKernel, why.name);
        break;
      case JobWhy::Kind::kKernels:
        add_kernels(why);
        break;
      case JobWhy::Kind::kHostSlower:
        add(Code::kJobHostSlower)
            .ranks("ranks", why.ranks)
            .text("name", why.alike ? std::string() : why.name);
        break;
      case JobWhy::Kind::kHostStalls:
        add(Code::kJobHostStalls)
            .ranks("ranks", why.ranks)
            .count("stalls", why.stalls)
            .ns("sum", why.stalls_ns)
            .named("name", SubjectKind::kFunction, why.name);
        break;
    }
  }

  void add_kernels(const JobWhy& why) {
    const bool factor = why.alike && why.factor > 0;
    Finding& finding =
        add(why.alike && !factor ? Code::kJobKernelsLongerAlike : Code::kJobKernelsLonger);
    fill_when(why, finding);
    if (factor) finding.ratio("factor", why.factor);
    if (!why.alike) finding.named("name", SubjectKind::kKernel, why.name);
  }

  static Finding& fill_when(const JobWhy& why, Finding& out) {
    const JobWhen& when = why.when;
    out.ranks("ranks", why.ranks)
        .text("from", when.from)
        .text("until", when.until)
        .text("only", when.only)
        .text("first", when.first);
    if (when.some > 0) out.count("some", when.some).count("iterations", when.iterations);
    return out;
  }

  void add_transfers() {
    if (f_.few_slow) {
      const JobTransfers& few = *f_.few_slow;
      add(Code::kJobFewSlowTransfers)
          .count("slow", few.slow)
          .count("transfers", few.count)
          .named("collective", SubjectKind::kCollective, few.collective)
          .ns("longest", few.slow_ns)
          .ns("usual", few.fast_ns)
          .ns("within", few.within_ns)
          .ns("gain", few.gain_ns);
    } else if (f_.varying) {
      const JobTransfers& varying = *f_.varying;
      add(Code::kJobVaryingTransfers)
          .count("transfers", varying.count)
          .named("collective", SubjectKind::kCollective, varying.collective)
          .ns("fast", varying.fast_ns)
          .ns("slow", varying.slow_ns)
          .ns("gain", varying.gain_ns);
    }
  }

  const JobFacts& f_;
  std::vector<Finding> found_;
};

}  // namespace

std::vector<Finding> job_findings(const JobFacts& facts) { return JobFindings(facts).all(); }

}  // namespace assay::findings
