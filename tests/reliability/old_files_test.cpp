// Files of earlier versions stay readable. At a release, tests/compat/files gets those of the new one:
//   GRADUS_WRITE_FILES=tests/compat/files/0.2 build/release/reliability_tests -tc='old files: what is
//   written*'

#include <doctest/doctest.h>

#include <cstdlib>
#include <set>

#include "reliability/formats.h"
#include "support.h"

namespace gradus::test {

namespace fs = std::filesystem;

std::vector<Format> formats() {
  std::vector<Format> all;
  for (const auto part : {formats_of_tensors, formats_of_models, formats_of_tokenizers, formats_of_records})
    for (Format& format : part()) all.push_back(std::move(format));
  return all;
}

TEST_CASE("old files: what is written now is read") {
  const ScratchFolder scratch;
  const char* const given = std::getenv("GRADUS_WRITE_FILES");
  const fs::path top = given ? fs::path(given) : scratch.path();
  for (const Format& format : formats()) {
    CAPTURE(format.name);
    fs::create_directories(top / format.name);
    format.write(top / format.name);
    format.read(top / format.name);
  }
}

TEST_CASE("old files: those of every release are read, with their values") {
  const fs::path top = source_file("tests/compat/files");
  int releases = 0, read = 0;
  std::set<std::string> formats_read;
  for (const auto& release : fs::directory_iterator(top)) {
    ++releases;
    CAPTURE(release.path().string());
    for (const Format& format : formats())
      if (fs::exists(release.path() / format.name)) {  // an earlier release may not have had it
        CAPTURE(format.name);
        format.read(release.path() / format.name);
        formats_read.insert(format.name);
        ++read;
      }
  }
  CHECK(releases >= 1);
  CHECK(formats_read.size() == formats().size());
  MESSAGE(read << " files or folders of " << releases << " releases");
}

}  // namespace gradus::test
