#include "kit/files.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include "gradus/core/error.h"
#include "support.h"

using namespace gradus;
using namespace gradus::kit;

namespace {

long files_in(const std::filesystem::path& folder) {
  return std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
}

}  // namespace

TEST_CASE("replace_file writes, replaces and leaves nothing else behind") {
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
  CHECK_THROWS_WITH_AS(
      replace_file(folder / "taken", "x"),
      ("replace_file: cannot replace " + (folder / "taken").string() + ": Is a directory").c_str(), Error);
  CHECK(files_in(folder.path()) == 1);
  CHECK_THROWS_AS(replace_file(folder / "missing" / "x", "x"), Error);
}

TEST_CASE("read_file names the file and the reason") {
  const test::ScratchFolder folder;
  const std::string missing = (folder / "missing").string();
  CHECK_THROWS_WITH_AS(read_file(missing),
                       ("read_file: cannot open " + missing + ": No such file or directory").c_str(), Error);
  const std::string path = folder.path().string();
  CHECK_THROWS_WITH_AS(read_file(path), ("read_file: " + path + " is a folder, expected a file").c_str(),
                       Error);
}

TEST_CASE("make_folder creates the folders above and accepts one that exists") {
  const test::ScratchFolder folder;
  make_folder(folder / "a" / "b");
  make_folder(folder / "a" / "b");
  CHECK(std::filesystem::is_directory(folder / "a" / "b"));
  replace_file(folder / "file", "x");
  CHECK_THROWS_AS(make_folder(folder / "file" / "c"), Error);
}
