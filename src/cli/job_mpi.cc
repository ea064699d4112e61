// assay-job: `assay job` as one MPI program.
//
// Problem: traces differ a lot in size, and machines in speed, so a job with 16,384 traces cannot
// be divided evenly in advance.
//
// Method: every process parses the same options, and process 0 plans. With four processes or more
// it assigns traces, longest first, to idle processes; fewer processes use a static plan by size,
// in which process 0 also reads. Summaries are files, as with a job array. Process 0 alone then
// computes the answer from them, as `assay job` does, so the output is byte-identical, and an
// interrupted run can resume. Messages are texts with zero-terminated parts. One-sided windows are
// not used, because they fail with Open MPI 4.1 over TCP. Waiting processes do not spin, because
// the readers need the cores.
//
// Effect: docs/measured/job.md.

#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/decimal.h"
#include "base/files.h"
#include "base/temporaries.h"
#include "cli/common.h"
#include "cli/job_team.h"
#include "cli/launcher.h"
#include "cli/options.h"
#include "cli/output_guard.h"
#include "cli/version.h"

namespace assay {
namespace {

using Parts = std::vector<std::string>;

constexpr int kTag = 24;
constexpr int kHandsOutFrom = 4;  // minimum number of processes; with fewer, none can be spared for
                                  // scheduling
const char* const kRead = "read";
const char* const kEnd = "end";
constexpr const char* kMpiOverview =
    R"(assay-job: assay job on many processes

  mpirun -n 64 assay-job traces/ -o report.html
  srun --mpi=pmix -n 64 assay-job @traces.list --summary-dir records -o report.html

Options are those of assay job: assay job --help
)";

void send(const Parts& parts, int to) {
  std::string text;
  for (const std::string& part : parts) text += part + '\0';
  MPI_Send(text.data(), static_cast<int>(text.size()), MPI_BYTE, to, kTag, MPI_COMM_WORLD);
}

// Receives a message. from: MPI_ANY_SOURCE for any sender; set to the actual sender.
Parts receive(int& from) {
  int there = 0;
  MPI_Status status;
  for (;;) {
    MPI_Iprobe(from, kTag, MPI_COMM_WORLD, &there, &status);
    if (there != 0) break;
    constexpr timespec kNap = {.tv_sec = 0, .tv_nsec = 500'000};
    ::nanosleep(&kNap, nullptr);
  }
  int bytes = 0;
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  from = status.MPI_SOURCE;
  std::string text(static_cast<size_t>(bytes), '\0');
  MPI_Recv(text.data(), bytes, MPI_BYTE, from, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  Parts parts;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\0', begin);
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// Result of a process as message parts: error (empty if there is none), counts, and the unreadable
// traces with the reasons.
Parts parts_of(const Result<Summarized>& done) {
  if (!done) return {done.error().describe()};
  Parts parts = {"",
                 std::to_string(done->written),
                 std::to_string(done->bytes),
                 std::to_string(done->largest),
                 done->largest_file,
                 done->data_lost ? "1" : "0"};
  for (const FleetUnused& one : done->unread) {
    parts.push_back(one.what);
    parts.push_back(one.why);
  }
  return parts;
}

void add(const Parts& parts, Summarized& all) {
  constexpr size_t kHead = 6;
  if (parts.size() < kHead) return;
  const auto number = [&parts](size_t k) {
    uint64_t value = 0;
    return parse_uint64(parts[k], value) ? value : 0;
  };
  all.written += number(1);
  all.bytes += number(2);
  if (number(3) > all.largest) {
    all.largest = number(3);
    all.largest_file = parts[4];
  }
  all.data_lost |= parts[5] == "1";
  for (size_t k = kHead; k + 1 < parts.size(); k += 2)
    all.unread.push_back({parts[k], parts[k + 1]});
}

Parts order_to_read(const SummarizeRequest& request, const std::vector<PlannedFile>& files) {
  Parts parts = {kRead, request.out};
  for (const PlannedFile& file : files) parts.push_back(file.path);
  return parts;
}

class Leader {
 public:
  explicit Leader(int processes) : processes_(processes) {}

  Result<Summarized> lead(SummarizeRequest request) {
    ASSAY_TRY_ASSIGN(std::vector<PlannedFile> files, planned_files(request.traces));
    ASSAY_TRY(make_folders(request.out));
    done_ = {.files = files.size()};
    ASSAY_TRY_ASSIGN(files, files_to_read(std::move(files), request, done_.kept));
    request.shard = Shard{0, static_cast<uint32_t>(processes_)};
    files = files_of_shard(std::move(files), Shard{});  // longest first
    processes_ < kHandsOutFrom ? share(files, request) : hand_out(files, request);
    if (!failed_.empty()) return Error{ErrorCode::kIo, failed_, "", -1};
    put_in_order(files);
    return std::move(done_);
  }

 private:
  void share(const std::vector<PlannedFile>& files, const SummarizeRequest& request) {
    const auto of = static_cast<uint32_t>(processes_);
    for (int p = 1; p < processes_; ++p) {
      send(order_to_read(request, files_of_shard(files, {static_cast<uint32_t>(p), of})), p);
    }
    take(parts_of(summarize_files(files_of_shard(files, {0, of}), request)));
    for (int p = 1; p < processes_; ++p) take_next();
  }

  void hand_out(const std::vector<PlannedFile>& files, const SummarizeRequest& request) {
    size_t next = 0;
    int busy = 0;
    for (int p = 1; p < processes_ && next < files.size(); ++p, ++busy) {
      send(order_to_read(request, {files[next++]}), p);
    }
    while (busy > 0) {
      const int who = take_next();
      if (next < files.size() && failed_.empty()) {
        send(order_to_read(request, {files[next++]}), who);
      } else {
        --busy;
      }
    }
  }

  int take_next() {
    int from = MPI_ANY_SOURCE;
    take(receive(from));
    return from;
  }

  void take(const Parts& parts) {
    if (!parts.empty() && !parts[0].empty() && failed_.empty()) failed_ = parts[0];
    add(parts, done_);
  }

  // Sorts unreadable traces into the order in which a single process would have tried them.
  void put_in_order(const std::vector<PlannedFile>& files) {
    std::map<std::string, size_t> place;
    for (size_t k = 0; k < files.size(); ++k) place.emplace(files[k].path, k);
    std::sort(done_.unread.begin(), done_.unread.end(),
              [&place](const FleetUnused& a, const FleetUnused& b) {
                return place[a.what] < place[b.what];
              });
  }

  int processes_;
  Summarized done_;
  std::string failed_;
};

Result<Summarized> read_here(const Parts& order, const SummarizeRequest& how) {
  SummarizeRequest request = how;
  request.out = order[1];
  if (!is_folder(request.out)) {
    return Error{ErrorCode::kIo, "is not seen here: --summary-dir, a folder that all machines share",
                 request.out, -1};
  }
  std::vector<PlannedFile> files;
  for (size_t k = 2; k < order.size(); ++k) files.push_back({0, order[k]});
  return summarize_files(files, request);
}

void follow(SummarizeRequest how, uint32_t number, uint32_t of) {
  how.traces.listener = {};
  how.shard = Shard{number, of};
  char machine[MPI_MAX_PROCESSOR_NAME] = {};
  int length = 0;
  MPI_Get_processor_name(machine, &length);
  for (;;) {
    int leader = 0;
    const Parts order = receive(leader);
    if (order.size() < 2 || order[0] != kRead) return;
    Parts parts = parts_of(read_here(order, how));
    if (!parts[0].empty())
      parts[0] = fmt::format("process {} on {}: {}", number, machine, parts[0]);
    send(parts, leader);
  }
}

// Only one process prints; the output of the others would be the same.
void be_silent() {
  const auto nowhere = open_file("/dev/null", "wb");
  if (!nowhere) return;
  ::dup2(::fileno(nowhere->get()), STDOUT_FILENO);
  ::dup2(::fileno(nowhere->get()), STDERR_FILENO);
}

int run(int argc, char** argv) {
  int number = 0;
  int processes = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &number);
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  if (const uint64_t tasks = tasks_of_step(environment_value); processes == 1 && tasks > 1) {
    return fail(
        {ErrorCode::kInvalidArgument,
         fmt::format("MPI sees one of {} tasks: use its mpirun, or srun --mpi=pmix. Else run "
                     "assay summarize DIR --shard auto -o RECORDS, then once assay job "
                     "--summaries RECORDS",
                     tasks),
         "", -1});
  }
  const bool leads = number == 0;
  if (!leads) be_silent();
  Leader leader(processes);
  const FleetTeam team{
      .leads = leads,
      .lead = [&leader](const SummarizeRequest& request) { return leader.lead(request); },
      .follow =
          [&](const SummarizeRequest& how) {
            follow(how, static_cast<uint32_t>(number), static_cast<uint32_t>(processes));
          }};
  CommandLine line("assay-job",
                   "assay job on many processes: mpirun -n 64 assay-job TRACES -o report.html",
                   version_text(), kMpiOverview);
  int exit_code = kExitFine;
  add_job_verb(line.root(), exit_code, &team);
  if (line.parse(argc, argv, "job", refuse_outputs_over_inputs) == CommandLine::End::kRefused) {
    return kExitError;
  }
  for (int p = 1; leads && p < processes; ++p) send({kEnd}, p);
  return exit_code;
}

}  // namespace
}  // namespace assay

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  assay::remove_temporaries_on_signals();
  MPI_Init(&argc, &argv);
  const int exit_code = assay::run(argc, argv);
  MPI_Finalize();
  return exit_code;
}
