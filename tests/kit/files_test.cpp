#include "gradus/kit/data/files.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <thread>

#include "failing_new.h"
#include "gradus/core/error.h"
#include "gradus/kit/data/run_log.h"
#include "support.h"

namespace {

// The next calls of this thread fail.
thread_local int failing_reads = 0, failing_locks = 0, error_of_calls = 0;

}  // namespace

/// These replace the C library's.
extern "C" ssize_t read(int file, void* bytes, std::size_t count) {
  if (failing_reads == 0) return syscall(SYS_read, file, bytes, count);
  --failing_reads;
  errno = error_of_calls;
  return -1;
}
extern "C" int flock(int file, int operation) noexcept {
  if (failing_locks == 0) return static_cast<int>(syscall(SYS_flock, file, operation));
  --failing_locks;
  errno = error_of_calls;
  return -1;
}

using namespace gradus;
using namespace gradus::kit;

namespace {

long files_in(const std::filesystem::path& folder) {
  return std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
}

}  // namespace

TEST_CASE("replace_file writes, replaces and leaves no other files") {
  const test::ScratchFolder folder;
  const std::string binary("a\0b\xff\n", 5);
  replace_file(folder / "x.bin", "an older and longer content");
  replace_file(folder / "x.bin", binary);
  CHECK(read_file(folder / "x.bin") == binary);
  replace_file(folder / "empty", "");
  CHECK(read_file(folder / "empty").empty());
  CHECK(files_in(folder.path()) == 2);
}

TEST_CASE("replace_file that fails says why and cleans up") {
  const test::ScratchFolder folder;
  std::filesystem::create_directory(folder / "taken");
  CHECK_THROWS_WITH_AS(replace_file(folder / "taken", "x"),
                       ("replace_file: " + (folder / "taken").string() +
                        ": is a folder, which saving would replace: expects a file or a new name")
                           .c_str(),
                       Error);
  CHECK(files_in(folder.path()) == 1);
  CHECK_THROWS_AS(replace_file(folder / "missing" / "x", "x"), Error);
}

TEST_CASE("read_file names the file and the reason") {
  const test::ScratchFolder folder;
  const std::string missing = (folder / "missing").string();
  CHECK_THROWS_WITH_AS(read_file(missing),
                       ("read_file: cannot open " + missing + ": No such file or directory").c_str(), Error);
  const std::string path = folder.path().string();
  CHECK_THROWS_WITH_AS(read_file(path), ("read_file: " + path + " is a folder, expects a file").c_str(),
                       Error);
}

TEST_CASE("read_file goes on after an interruption, and names a file that cannot be read") {
  const test::ScratchFolder folder;
  const std::string path = (folder / "x").string();
  replace_file(path, "content");
  error_of_calls = EINTR;
  failing_reads = 3;
  CHECK(read_file(path) == "content");
  CHECK(failing_reads == 0);
  error_of_calls = EIO;
  failing_reads = 1;
  CHECK_THROWS_WITH_AS(read_file(path), ("read_file: cannot read " + path + ": Input/output error").c_str(),
                       Error);
}

TEST_CASE("read_file names a file, or a pipe, that does not fit into memory") {
  const test::ScratchFolder folder;
  const std::string file = (folder / "file").string();
  replace_file(file, std::string(100'000, 'x'));
  // Each allocation of a call fails once; the messages of these calls.
  const auto messages = [](const auto& read) {
    std::string all;
    for (int others = 0; others < 1000; ++others) {
      const test::FailingNew failing(others, /*for_good=*/false);
      try {
        read();
      } catch (const std::exception& error) {
        all += std::string(error.what()) + "\n";
      }
      if (!failing.struck()) return all;
    }
    return all;
  };
  CHECK(messages([&] {
          read_file(file);
        }).find("read_file: " + file + " does not fit into memory: it has 100000 bytes or more\n") !=
        std::string::npos);
  // As a pipe, it does not say how long it is.
  CHECK(messages([&] {
          read_file("/proc/self/maps");
        }).find("read_file: /proc/self/maps does not fit into memory: it has ") != std::string::npos);
}

TEST_CASE("make_folder creates parents and accepts an existing folder") {
  const test::ScratchFolder folder;
  make_folder(folder / "a" / "b");
  make_folder(folder / "a" / "b");
  CHECK(std::filesystem::is_directory(folder / "a" / "b"));
  replace_file(folder / "file", "x");
  CHECK_THROWS_AS(make_folder(folder / "file" / "c"), Error);
}

TEST_CASE("read_file reads no device, and a pipe only if requested") {
  const test::ScratchFolder folder;
  const std::filesystem::path pipe = folder / "pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THROWS_WITH_AS(read_file(pipe),
                       ("read_file: " + pipe.string() + " is a pipe, expects a file").c_str(), Error);
  std::string text(100000, 'x');
  std::thread writer([&] { std::ofstream(pipe) << text; });
  CHECK(read_file_or_pipe(pipe) == text);
  writer.join();
  // One that may never end. It fits into the pipe's buffer, so that nothing is written after the end of
  // reading.
  std::thread endless([&] { std::ofstream(pipe) << std::string(1000, 'x'); });
  CHECK_THROWS_WITH_AS(read_file_or_pipe(pipe, "--text", 999),
                       ("--text: " + pipe.string() +
                        " is a pipe with more than 999 bytes, the limit for pipes: write them into a file")
                           .c_str(),
                       Error);
  endless.join();
  CHECK_THROWS_AS(RunLog{pipe}, Error);
}

TEST_CASE("same_file resolves links, also for files that do not exist yet") {
  const test::ScratchFolder folder;
  replace_file(folder / "a", "x");
  std::filesystem::create_hard_link(folder / "a", folder / "hard");
  std::filesystem::create_symlink("a", folder / "soft");
  std::filesystem::create_symlink("new", folder / "dangling");
  CHECK(same_file(folder / "a", folder / "hard"));
  CHECK(same_file(folder / "a", folder / "soft"));
  CHECK(same_file(folder / "new", folder / "." / "new"));
  CHECK(same_file("relative", "./relative"));
  CHECK_FALSE(same_file(folder / "a", folder / "new"));
  CHECK_FALSE(same_file(folder / "new", folder / "newer"));
}

TEST_CASE("is_within resolves links, also for files that do not exist yet") {
  const test::ScratchFolder folder;
  make_folder(folder / "run");
  std::filesystem::create_symlink("run", folder / "link");
  CHECK(is_within(folder / "run/a", folder / "run"));
  CHECK(is_within(folder / "run/new/a", folder / "run/"));
  CHECK(is_within(folder / "link/a", folder / "run"));
  CHECK(is_within(folder / "new/a", folder / "./new"));
  CHECK(is_within("new/a", "./new"));
  CHECK(is_within("a", "."));
  CHECK(is_within("/a", "/"));
  CHECK_FALSE(is_within(folder / "run", folder / "run"));
  CHECK_FALSE(is_within(folder / "run-a", folder / "run"));
  CHECK_FALSE(is_within(folder / "run/../a", folder / "run"));
}

TEST_CASE("try_output names its caller and changes nothing") {
  const test::ScratchFolder folder;
  try_output("--save", folder / "x", 1 << 20);
  CHECK(files_in(folder.path()) == 0);
  const std::string missing = (folder / "no/x").string();
  CHECK_THROWS_WITH_AS(
      try_output("--save", missing),
      ("--save: " + missing + ": cannot create a file in its folder: No such file or directory").c_str(),
      Error);
}

TEST_CASE("expect_nothing_else: no program mixes its files with those of another") {
  const test::ScratchFolder folder;
  const std::string name = folder.path().string();
  const auto said = [&](const std::filesystem::path& path, const std::vector<std::string>& names) {
    try {
      expect_nothing_else("--save", path, names);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(said(folder / "new", {}) == "");
  CHECK(said(folder.path(), {}) == "");  // empty
  replace_file(folder / "model", "x");
  replace_file(folder / ".gradus-tmp-1", "x");
  CHECK(said(folder.path(), {"model"}) == "");
  CHECK(said(folder.path(), {}) ==
        "--save: " + name + " contains 'model', which would be mixed with the output: name another folder");
  CHECK(said(folder / "model", {}) == "--save: " + name + "/model is not a folder");
}

TEST_CASE("OutputFolder: is removed if nothing was written") {
  const test::ScratchFolder folder;
  { const OutputFolder made(folder / "a/b/c"); }
  CHECK(files_in(folder.path()) == 0);
  {
    const OutputFolder made(folder / "a/b/c");
    CHECK(std::filesystem::is_directory(folder / "a/b/c"));
    replace_file(folder / "a/kept", "x");
  }
  CHECK(std::filesystem::exists(folder / "a/kept"));
  CHECK_FALSE(std::filesystem::exists(folder / "a/b"));
  std::filesystem::create_directory(folder / "own");
  { const OutputFolder there(folder / "own"); }
  CHECK(std::filesystem::exists(folder / "own"));  // was there before
  CHECK_THROWS_WITH_AS(OutputFolder(folder / "a/kept/x"), doctest::Contains("cannot make the folder"), Error);
  const std::string deep(300, 'x');
  CHECK_THROWS_WITH_AS(OutputFolder(folder / deep / "a"),
                       doctest::Contains("cannot make the folder: File name too long"), Error);
  CHECK_THROWS_WITH_AS(OutputFolder(""), "make_folder: the path is empty", Error);
}

TEST_CASE("OutputFolder: folders that another program has removed are no reason to keep the others") {
  const test::ScratchFolder folder;
  {
    const OutputFolder made(folder / "a/b/c");
    std::filesystem::remove_all(folder / "a/b");
  }
  CHECK(files_in(folder.path()) == 0);
}

TEST_CASE("FolderLock: one training in a folder, and any number where there are no locks") {
  const test::ScratchFolder folder;
  const std::string path = folder.path().string();
  const FolderLock lock(folder.path());
  CHECK_THROWS_WITH_AS(
      FolderLock(folder.path()),
      (path + ": another training uses this folder: wait for its end, or name another folder").c_str(),
      Error);
  error_of_calls = ENOLCK;
  failing_locks = 1;
  CHECK_NOTHROW(FolderLock(folder.path()));
  CHECK(failing_locks == 0);
}
