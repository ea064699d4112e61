#include "base/files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "support/scratch.h"

namespace assay {
namespace {

using testing::ScratchFolder;

void put(const std::string& path, const std::string& text) {
  auto file = open_file(path, "wb");
  ASSERT_TRUE(file) << file.error().describe();
  ASSERT_EQ(std::fwrite(text.data(), 1, text.size(), file->get()), text.size());
}

// A name that no file system takes, a way that leads in a circle, a file as a folder: calls of the
// standard library throw at these.
class OddPaths : public ::testing::Test {
 protected:
  OddPaths() {
    put(folder_.file("plain"), "x");
    EXPECT_EQ(::symlink("loop", folder_.file("loop").c_str()), 0);
    paths_ = {folder_.file(std::string(300, 'n')), folder_.file("loop"),
              folder_.file("plain") + "/below", folder_.file("missing"), ""};
  }
  ScratchFolder folder_;
  std::vector<std::string> paths_;
};

TEST_F(OddPaths, AreAnsweredWithoutThrowing) {
  for (const std::string& path : paths_) {
    SCOPED_TRACE(path);
    EXPECT_FALSE(file_facts(path));
    EXPECT_FALSE(file_exists(path));
    EXPECT_FALSE(is_folder(path));
    EXPECT_FALSE(is_regular_file(path));
    EXPECT_FALSE(is_same_file(path, path));
    EXPECT_FALSE(is_empty_folder(path));
    EXPECT_FALSE(files_in(path));
    EXPECT_TRUE(files_below(path, 3).empty());
    EXPECT_FALSE(open_file(path, "rb"));
    EXPECT_FALSE(file_text(path));
    remove_tree(folder_.file("no") + path);
  }
}

TEST(FileText, RefusesWhatItWouldCut) {
  const ScratchFolder folder;
  const std::string path = folder.file("hosts");
  put(path, "a b c d");
  EXPECT_EQ(*file_text(path, 7), "a b c d");
  EXPECT_FALSE(file_text(path, 6));
  EXPECT_EQ(*file_head(path, 3), "a b");
}

TEST_F(OddPaths, ErrorsNameTheFileAndTheReason) {
  const auto facts = file_facts(paths_[1]);
  ASSERT_FALSE(facts);
  EXPECT_EQ(facts.error().file, paths_[1]);
  EXPECT_NE(facts.error().message.find("Too many levels of symbolic links"), std::string::npos);
  const auto loop = link_target(paths_[1]);
  ASSERT_FALSE(loop);
  EXPECT_EQ(loop.error().file, paths_[1]);
  const Status made = make_folders(paths_[2]);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().file, folder_.file("plain"));
  EXPECT_NE(made.error().message.find("Not a directory"), std::string::npos);
}

TEST(Files, PropertiesOfAFileAndOfAFolder) {
  const ScratchFolder folder;
  put(folder.file("five"), "12345");
  const auto file = file_facts(folder.file("five"));
  ASSERT_TRUE(file);
  EXPECT_EQ(file->kind, FileKind::kFile);
  EXPECT_EQ(file->bytes, 5u);
  EXPECT_TRUE(is_special_file("/dev/null"));
  EXPECT_TRUE(is_same_file(folder.file("five"), folder.file("./five")));
}

TEST(Files, ListsInOrderAndToADepth) {
  const ScratchFolder folder;
  ASSERT_TRUE(make_folders(folder.file("a/b/c")));
  for (const char* name : {"z", "m", "a/n", "a/b/o", "a/b/c/p"}) put(folder.file(name), "");
  const auto here = files_in(folder.path);
  ASSERT_TRUE(here);
  ASSERT_EQ(here->size(), 2u);
  EXPECT_EQ(file_name(here->front()), "m");
  EXPECT_EQ(file_name(here->back()), "z");
  EXPECT_EQ(files_below(folder.path, 0).size(), 2u);
  EXPECT_EQ(files_below(folder.path, 2).size(), 4u);
  EXPECT_EQ(files_below(folder.path, 9).size(), 5u);
}

TEST(Files, ALinkLeadsToWhatNeedNotExist) {
  const ScratchFolder folder;
  ASSERT_EQ(::symlink("to/there", folder.file("link").c_str()), 0);
  const auto target = link_target(folder.file("link"));
  ASSERT_TRUE(target);
  EXPECT_EQ(*target, folder.file("to/there"));
}

TEST(Files, DoesNotTrustFilesThatOthersMayWrite) {
  const ScratchFolder folder;
  put(folder.file("library"), "x");
  EXPECT_TRUE(check_trusted(folder.file("library"))) << "owned by who runs the tests";
  ASSERT_EQ(::chmod(folder.file("library").c_str(), 0666), 0);
  const Status open_file_refused = check_trusted(folder.file("library"));
  ASSERT_FALSE(open_file_refused);
  EXPECT_NE(open_file_refused.error().message.find("can be written to by others"),
            std::string::npos);
  ASSERT_EQ(::chmod(folder.file("library").c_str(), 0644), 0);
  ASSERT_TRUE(make_folders(folder.file("open")));
  ASSERT_EQ(::chmod(folder.file("open").c_str(), 0777), 0);
  put(folder.file("open/library"), "x");
  EXPECT_FALSE(check_trusted(folder.file("open/library"))) << "its folder is open to all";
  // As /tmp is: nobody can replace what is another's there.
  ASSERT_EQ(::chmod(folder.file("open").c_str(), 01777), 0);
  EXPECT_TRUE(check_trusted(folder.file("open/library")));
  EXPECT_FALSE(check_trusted(folder.file("missing")));
}

TEST(Files, TheCacheFolderIsAbsoluteAndOnesOwn) {
  const ScratchFolder folder;
  ASSERT_EQ(::setenv("XDG_CACHE_HOME", "relative", 1), 0);
  ASSERT_EQ(::setenv("HOME", folder.file("home").c_str(), 1), 0);
  const auto home = user_cache_folder("assay/x");
  ASSERT_TRUE(home) << "a relative XDG_CACHE_HOME does not count";
  EXPECT_EQ(*home, folder.file("home/.cache/assay/x"));
  ASSERT_TRUE(make_folders(folder.file("cache/assay")));
  ASSERT_EQ(::chmod(folder.file("cache/assay").c_str(), 0777), 0);
  ASSERT_EQ(::setenv("XDG_CACHE_HOME", folder.file("cache").c_str(), 1), 0);
  EXPECT_FALSE(user_cache_folder("assay")) << "anybody could have put files there";
  ASSERT_EQ(::chmod(folder.file("cache/assay").c_str(), 0700), 0);
  EXPECT_TRUE(user_cache_folder("assay"));
  ASSERT_EQ(::unsetenv("XDG_CACHE_HOME"), 0);
}

}  // namespace
}  // namespace assay
