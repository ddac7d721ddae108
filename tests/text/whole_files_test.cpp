// Pipes and devices in place of files.

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "gradus/core/error.h"
#include "gradus/text/text.h"
#include "support.h"

using namespace gradus;

TEST_CASE("load_tokenizer: a pipe or a device in place of a file is rejected at once") {
  const test::ScratchFolder folder;
  const std::string file = (folder / "tokenizer.json").string();
  const std::string message = "load_tokenizer: " + file + " is a pipe or a device, expects a file";
  REQUIRE(mkfifo(file.c_str(), 0600) == 0);
  CHECK_THROWS_WITH_AS(text::load_tokenizer(folder.path()), message.c_str(), Error);
  std::filesystem::remove(file);
  std::filesystem::create_symlink("/dev/zero", file);
  CHECK_THROWS_WITH_AS(text::load_tokenizer(folder.path()), message.c_str(), Error);
}
