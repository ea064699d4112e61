#include "base/temporaries.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "base/files.h"
#include "base/output_file.h"
#include "support/scratch.h"

namespace assay {
namespace {

using testing::ScratchFolder;

size_t entries(const ScratchFolder& folder) { return files_below(folder.path, 5).size(); }

TEST(Temporaries, GoWithTheirOwner) {
  const ScratchFolder folder;
  {
    int descriptor = -1;
    auto file = temporary_beside(folder.file("out"), descriptor);
    ASSERT_TRUE(file);
    ::close(descriptor);
    EXPECT_EQ(entries(folder), 1u);
  }
  EXPECT_EQ(entries(folder), 0u);
}

TEST(Temporaries, TwoOfOneTargetAreTwo) {
  const ScratchFolder folder;
  int one = -1;
  int other = -1;
  auto first = temporary_beside(folder.file("out"), one);
  auto second = temporary_beside(folder.file("out"), other);
  ASSERT_TRUE(first);
  ASSERT_TRUE(second);
  EXPECT_NE(first->path(), second->path());
  ::close(one);
  ::close(other);
}

TEST(Temporaries, ALongNameCanStillBeWritten) {
  const ScratchFolder folder;
  const std::string path = folder.file(std::string(255, 'n'));
  auto file = OutputFile::open(path);
  ASSERT_TRUE(file) << file.error().describe();
  ASSERT_TRUE(file->write("x"));
  ASSERT_TRUE(file->finish());
  EXPECT_TRUE(file_exists(path));
  const auto longer = OutputFile::open(path + "n");
  ASSERT_FALSE(longer);
  EXPECT_EQ(longer.error().file, path + "n");
}

// A child that waits for a signal with a half-written file and folder.
int ended_by(int number, const ScratchFolder& folder) {
  int ready[2];
  if (::pipe(ready) != 0) return -1;
  const pid_t child = ::fork();
  if (child == 0) {
    remove_temporaries_on_signals();
    auto file = OutputFile::open(folder.file("out"));
    auto exported = temporary_folder_beside(folder.file("tables"));
    if (!file || !exported || !make_folders(exported->path() + "/0/deep")) ::_exit(9);
    auto table = open_file(exported->path() + "/0/deep/ops.csv", "wb");
    if (!table || ::write(ready[1], "r", 1) != 1) ::_exit(9);
    for (;;) ::pause();
  }
  char word = 0;
  const bool heard = ::read(ready[0], &word, 1) == 1;
  if (heard) {
    EXPECT_EQ(entries(folder), 2u);
  }
  ::kill(child, number);
  int status = 0;
  ::waitpid(child, &status, 0);
  ::close(ready[0]);
  ::close(ready[1]);
  return WIFSIGNALED(status) ? WTERMSIG(status) : -1;
}

TEST(Temporaries, GoWhereASignalEndsTheProcess) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    const ScratchFolder folder;
    EXPECT_EQ(ended_by(number, folder), number);
    EXPECT_EQ(entries(folder), 0u);
    EXPECT_TRUE(is_empty_folder(folder.path)) << "also the folders";
  }
}

}  // namespace
}  // namespace assay
