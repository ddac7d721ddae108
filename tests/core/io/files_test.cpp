// Saving: links, devices, permissions, leftovers.

#include "gradus/core/io/atomic_file.h"
#include "gradus/core/io/detail/input_file.h"
#include "gradus/core/io/printable.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>

#include "check_op.h"
#include "core/io/hostile.h"
#include "gradus/core/io/checkpoint_files.h"
#include "gradus/core/io/npy.h"
#include "gradus/core/profile/profile.h"
#include "in_child.h"
#include "support.h"

using namespace gradus;
using namespace gradus::test;

namespace {

using Path = std::filesystem::path;

const std::vector<std::function<void(const std::string&)>>& writers() {
  static const std::vector<std::function<void(const std::string&)>> all = {
      [](const std::string& path) { save_npy(path, ones({3})); },
      [](const std::string& path) {
        save_safetensors(path, {{"w", ones({3})}});
      },
      [](const std::string& path) { Profile().write_chrome_trace(path); },
      [](const std::string& path) { io::try_output("try", path, 1); }};
  return all;
}

mode_t mode_of(const Path& path) {
  struct stat status = {};
  REQUIRE(lstat(path.c_str(), &status) == 0);
  return status.st_mode;
}

std::size_t files_in(const Path& folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

/// A socket of that name, as servers make one.
bool make_socket(const Path& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.string().size() >= sizeof address.sun_path) return false;
  path.string().copy(address.sun_path, sizeof address.sun_path - 1);
  const int socket_file = socket(AF_UNIX, SOCK_STREAM, 0);
  const bool made = bind(socket_file, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  close(socket_file);
  return made;
}

struct Umask {
  explicit Umask(mode_t mask) : before(umask(mask)) {}
  ~Umask() { umask(before); }
  mode_t before;
};

}  // namespace

TEST_CASE("only regular files are replaced") {
  const ScratchFolder folder;
  std::filesystem::create_directory(folder / "folder");
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  REQUIRE(make_socket(folder / "socket"));
  std::filesystem::create_symlink("pipe", folder / "link");
  std::vector<std::pair<std::string, std::string>> cases = {
      {"folder", "a folder"}, {"pipe", "a pipe"}, {"socket", "a socket"}, {"link", "a pipe"}};
  // A device that swallows everything, made here: only root may.
  if (mknod((folder / "device").c_str(), S_IFCHR | 0600, makedev(1, 3)) == 0)
    cases.emplace_back("device", "a device");
  const std::size_t files = files_in(folder.path());
  for (const auto& [name, kind] : cases) {
    const Path path = folder / name;
    const std::string expected = "is " + kind + ", which saving would replace: expects a file or a new name";
    const mode_t before = mode_of(path);
    for (const auto& write : writers()) CHECK(complaint([&] { write(path); }, path) == expected);
    CHECK(mode_of(path) == before);
    CHECK(files_in(folder.path()) == files);
  }
  CHECK(complaint([&] { load_npy(folder / "pipe"); }, folder / "pipe") == "is a pipe, expects a file");
  CHECK(complaint([&] { load_safetensors(folder / "socket"); }, folder / "socket") ==
        "cannot open: No such device or address");
}

TEST_CASE("a file that is replaced by something else during writing is kept") {
  const ScratchFolder folder;
  io::AtomicFile file("save", folder / "x");
  file.write("x", 1);
  REQUIRE(mkfifo((folder / "x").c_str(), 0600) == 0);
  CHECK_THROWS_AS(file.commit(), Error);
  CHECK(S_ISFIFO(mode_of(folder / "x")));
}

TEST_CASE("links are followed, also those to missing files") {
  const ScratchFolder folder;
  std::filesystem::create_directory(folder / "elsewhere");
  const auto links_to = [&](const Path& target, const char* name) {
    std::filesystem::create_symlink(target, folder / name);
    return folder / name;
  };
  const Path dangling = links_to("elsewhere/new.npy", "dangling");
  save_npy(dangling, ones({1}));
  CHECK(S_ISLNK(mode_of(dangling)));
  CHECK(S_ISREG(mode_of(folder / "elsewhere/new.npy")));
  save_npy(links_to(dangling, "to_link"), ones({2}));  // a link to a link, by its absolute name
  CHECK(load_npy(folder / "elsewhere/new.npy").numel() == 2);
  CHECK(files_in(folder / "elsewhere") == 1);

  const Path nowhere = links_to("missing/new.npy", "nowhere");
  CHECK(complaint([&] { save_npy(nowhere, ones({1})); }, nowhere) ==
        "cannot create a file in its folder: No such file or directory");
  const Path circle = links_to("circle", "circle");
  CHECK(complaint([&] { save_npy(circle, ones({1})); }, circle) == "symbolic links lead in a circle");
  CHECK(S_ISLNK(mode_of(circle)));
}

TEST_CASE("an old file keeps its permissions, a new one has those of the umask") {
  const ScratchFolder folder;
  const Path path = folder / "x.npy";
  const Umask mask(027);
  save_npy(path, ones({1}));
  CHECK((mode_of(path) & 07777) == 0640);
  for (const mode_t mode : {0600U, 0664U, 0755U, 0400U}) {
    if (mode == 0400 && geteuid() != 0) continue;
    REQUIRE(chmod(path.c_str(), mode) == 0);
    save_npy(path, ones({2}));
    CHECK((mode_of(path) & 07777) == mode);
  }
}

TEST_CASE("an old file keeps its owner and group if allowed") {
  if (geteuid() != 0) return;  // only root may give files away
  const ScratchFolder folder;
  const Path path = folder / "x.npy";
  save_npy(path, ones({1}));
  REQUIRE(chown(path.c_str(), 12345, 23456) == 0);
  REQUIRE(chmod(path.c_str(), 0640) == 0);
  save_npy(path, ones({2}));
  struct stat status = {};
  REQUIRE(stat(path.c_str(), &status) == 0);
  CHECK(status.st_uid == 12345);
  CHECK(status.st_gid == 23456);
  CHECK((status.st_mode & 07777) == 0640);

  // One who may not: the file is theirs from now on, and their group gets no more than everybody has.
  REQUIRE(chmod(path.c_str(), 0676) == 0);
  REQUIRE(chmod(folder.path().c_str(), 0777) == 0);
  CHECK(in_child([&] {
          if (setegid(54321) != 0 || seteuid(54321) != 0) return 1;
          save_npy(path, ones({3}));
          return 0;
        }) == 0);
  REQUIRE(stat(path.c_str(), &status) == 0);
  CHECK(status.st_uid == 54321);
  CHECK(status.st_gid == 54321);
  CHECK((status.st_mode & 07777) == 0666);

  // A member of the group: it keeps the group.
  REQUIRE(chown(path.c_str(), 12345, 23456) == 0);
  REQUIRE(chmod(path.c_str(), 0660) == 0);
  CHECK(in_child([&] {
          const gid_t group = 23456;
          if (setgroups(1, &group) != 0 || setegid(54321) != 0 || seteuid(54321) != 0) return 1;
          save_npy(path, ones({4}));
          return 0;
        }) == 0);
  REQUIRE(stat(path.c_str(), &status) == 0);
  CHECK(status.st_uid == 54321);
  CHECK(status.st_gid == 23456);
  CHECK((status.st_mode & 07777) == 0660);
}

TEST_CASE("a folder that cannot be read or flushed is an error that names it") {
  if (geteuid() != 0) return;  // so that the folder can be another user's
  const ScratchFolder folder;
  const std::string path = folder / "x.npy", shown = folder.path().string();
  REQUIRE(chmod(folder.path().c_str(), 0733) == 0);
  CHECK(in_child([&] {
          if (setegid(54321) != 0 || seteuid(54321) != 0) return 1;
          if (complaint([&] { save_npy(path, ones({4})); }, path) !=
              "cannot write its folder to disk: Permission denied")
            return 2;
          return complaint([&] { list_checkpoints(shown); }, shown) ==
                         "cannot read the folder: Permission denied"
                     ? 0
                     : 3;
        }) == 0);
  CHECK(load_npy(path).numel() == 4);  // it is there: what is not sure is whether a loss of power leaves it
}

TEST_CASE("a file its user may not write is refused, though its folder would allow it") {
  const ScratchFolder folder;
  const Path path = folder / "x.npy";
  save_npy(path, ones({3}));
  REQUIRE(chmod(path.c_str(), 0444) == 0);
  if (geteuid() == 0) REQUIRE(chmod(folder.path().c_str(), 0777) == 0);
  CHECK(in_child([&] {  // root may write any file
          if (geteuid() == 0 && (setegid(54321) != 0 || seteuid(54321) != 0)) return 1;
          if (complaint([&] { save_npy(path, ones({4})); }, path) != "cannot write: Permission denied")
            return 2;
          if (load_npy(path).numel() != 3) return 3;
          if (chmod(folder.path().c_str(), 0555) == 0) return 4;
          return 0;
        }) == (geteuid() == 0 ? 0 : 4));
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("a file that is a mount point is refused before anything is computed") {
  const ScratchFolder folder;
  const Path path = folder / "x";
  write_bytes(path, "host's");
  const int status = in_child([&] {
    // In a separate mount namespace, because only root may mount.
    if (unshare(CLONE_NEWNS) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
      return 77;
    if (mount(path.c_str(), path.c_str(), nullptr, MS_BIND, nullptr) != 0) return 77;
    const std::string said = complaint([&] { io::try_output("save", path, 1); }, path);
    umount(path.c_str());
    return said == "is a mount point, which cannot be replaced: mount its folder instead" ? 0 : 1;
  });
  CHECK((status == 0 || status == 77));
  CHECK(read_bytes(path) == "host's");
}

TEST_CASE("try_output finds the errors of saving, and leaves no trace") {
  const ScratchFolder folder;
  const auto trial = [&](const Path& path, std::uint64_t bytes = 1) {
    return complaint([&] { io::try_output("save", path, bytes); }, path);
  };
  CHECK(trial(folder / "new") == "");
  CHECK(trial(folder / "new", 0) == "");
  CHECK(std::filesystem::is_empty(folder.path()));
  CHECK(trial(folder / "no/new") == "cannot create a file in its folder: No such file or directory");
  write_bytes(folder / "old", "precious");
  CHECK(trial(folder / "old") == "");
  CHECK(read_bytes(folder / "old") == "precious");
  CHECK(trial(folder / "old/new") == "cannot write: Not a directory");
  CHECK(trial(folder / std::string(300, 'x')) == "cannot write: File name too long");
  CHECK(files_in(folder.path()) == 1);
  // A disk too small, as far as a test can have one: a limit on the size of files.
  CHECK(in_child([&] {
          std::signal(SIGXFSZ, SIG_IGN);
          const rlimit limit = {8192, 8192};
          if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
          if (trial(folder / "new", 8192) != "") return 2;
          return trial(folder / "new", 8193) == "cannot write: File too large" ? 0 : 3;
        }) == 0);
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("invalid paths, and paths with control characters") {
  for (const auto& write : writers()) {
    check_error([&] { write(""); },
                [&] {
                  try {
                    write("");
                  } catch (const Error& error) {
                    const std::string text = error.what();
                    return text.substr(0, text.find(": ")) + ": the path is empty";
                  }
                  return std::string();
                }());
  }
  check_error([] { load_npy(""); }, "load_npy: the path is empty");
  check_error([] { load_npy(std::string("a\0b", 3)); }, "load_npy: path 'a?b' has a zero byte");
  check_error([] { save_npy(std::string("a\0b", 3), ones({1})); }, "save_npy: path 'a?b' has a zero byte");
  check_error([] { load_npy("no\n\x1b[31m\xff \u00e9\u4e2d\U0001F600\u0085.npy"); },
              "load_npy: no??[31m? \u00e9\u4e2d\U0001F600?\?.npy: cannot open: No such file or directory");
  check_error([] { StateDict().at("a\nb"); }, "StateDict: no entry 'a?b': it holds nothing");
  const ScratchFolder folder;
  const Path spaced = folder / " a  b\n\xff";
  save_npy(spaced, ones({2}));
  CHECK(load_npy(spaced).numel() == 2);
}

TEST_CASE("printable_text keeps lines and tabs, and nothing that controls a terminal") {
  const std::string text =
      "a\tb\n\r\n gr\u00f6\u00dfe \u65e5 \U0001f600 \u200b\u2028\u202f\u2065\u206a\u00a0";
  CHECK(io::printable_text(text) == text);
  const std::string mark = "\uFFFD";
  CHECK(io::printable_text("\x1b]0;title\x07") == mark + "]0;title" + mark);
  for (char c = 0; c >= 0 && c < 32; ++c)
    if (c != '\n' && c != '\t') CHECK(io::printable_text(std::string("a") + c + "b") == "a" + mark + "b");
  CHECK(io::printable_text("a\r") == "a" + mark);
  CHECK(io::printable_text("\r\r\n") == mark + "\r\n");
  CHECK(io::printable_text("\x7f") == mark);
  for (int c = 0x80; c < 0xa0; ++c)
    CHECK(io::printable_text(std::string("\xc2") + static_cast<char>(c)) == mark);
  for (const char* turn :
       {"\u202a", "\u202b", "\u202c", "\u202d", "\u202e", "\u2066", "\u2067", "\u2068", "\u2069"})
    CHECK(io::printable_text(std::string("a") + turn) == "a" + mark);
  CHECK(io::printable("\u202e") == "???");
  CHECK(io::printable_text("x\xff\xc3y") == "x" + mark + mark + "y");
  CHECK(io::printable_text("\xed\xa0\x80") == mark + mark + mark);
  CHECK(io::printable_text("\xe2\x80") == mark + mark);  // cut off
  CHECK(io::printable_text("").empty());
}

TEST_CASE("exists: yes, no, or an error that names the path") {
  const ScratchFolder folder;
  CHECK(io::exists("op", folder.path().string()));
  CHECK_FALSE(io::exists("op", (folder / "none").string()));
  CHECK_FALSE(io::exists("op", (folder / "none/deeper").string()));
  const std::string longest(300, 'x');  // no name is so long
  CHECK_THROWS_WITH_AS(io::exists("op", longest),
                       ("op: cannot look at " + longest + ": File name too long").c_str(), Error);
}

TEST_CASE("printable keeps only text") {
  const std::string text = "a b~\u00e9\u4e2d\U0010FFFF";
  CHECK(io::printable(text) == text);
  CHECK(io::printable("\x1b\x7f\t") == "???");
  CHECK(io::printable("\xc0\x80") == "??");            // overlong
  CHECK(io::printable("\xe0\x9f\x80") == "???");       // overlong
  CHECK(io::printable("\xf0\x8f\xbf\xbf") == "????");  // overlong
  CHECK(io::printable("\xed\xa0\x80") == "???");       // half of a pair
  CHECK(io::printable("\xf4\x90\x80\x80") == "????");  // above the last character
  CHECK(io::printable("\xe4\xb8\xff") == "???");       // no continuation
  CHECK(io::printable("x\xe4\xb8") == "x??");          // cut off
  CHECK(io::printable("\xc2\x9b") == "??");            // a control character of two bytes
  for (const std::string whole :
       {"\u0800", "\ud7ff", "\uffff", "\U00010000", "\U0010ffff"})  // the first and last of a length
    CHECK(io::printable(whole) == whole);
  CHECK(io::quote(std::string(79, 'a') + "\u00e9b") ==
        "'" + std::string(79, 'a') + "...'");  // not cut within a character
}

TEST_CASE("a save removes leftovers of killed programs, but not of running ones") {
  const ScratchFolder folder;
  const Path dead = folder / ".gradus-tmp-1-0", other = folder / ".gradus-other";
  write_bytes(dead, "left");
  write_bytes(other, "not ours");
  REQUIRE(mkfifo((folder / ".gradus-tmp-2-0").c_str(), 0600) == 0);  // nor this
  io::AtomicFile living("save", folder / "a");
  CHECK_FALSE(std::filesystem::exists(dead));
  living.write("abc", 3);
  save_npy(folder / "b.npy", ones({1}));
  save_checkpoint(folder.path(), {{"w", ones({1})}});
  living.commit();
  CHECK(read_bytes(folder / "a") == "abc");
  CHECK(read_bytes(other) == "not ours");
  CHECK(S_ISFIFO(mode_of(folder / ".gradus-tmp-2-0")));
}

TEST_CASE("programs that save to one path at once: the file is always complete") {
  const ScratchFolder folder;
  const std::string path = folder / "x.npy";
  save_npy(path, full({1000}, 0));
  std::vector<pid_t> children;
  for (int child = 1; child <= 3; ++child) {
    children.push_back(fork());
    if (children.back() != 0) continue;
    int status = 0;
    try {
      for (int i = 0; i < 40; ++i) save_npy(path, full({1000 * child}, child));
    } catch (...) {
      status = 1;
    }
    _exit(status);
  }
  for (int i = 0; i < 200; ++i) {
    const Tensor x = load_npy(path);
    const double value = x[0].item();
    CHECK(x.numel() == (value == 0 ? 1000 : 1000 * static_cast<std::int64_t>(value)));
    CHECK((x == value).all());
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(status == 0);
  }
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("a save passes over names that are taken, and needs one file more than it opens") {
  const ScratchFolder folder;
  const std::string path = folder / "x.npy";
  const auto temporaries = [&] {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
      if (const std::string name = entry.path().filename().string(); name.starts_with(".gradus-tmp"))
        names.push_back(name);
    return names;
  };
  std::string next;
  {
    const io::AtomicFile file("test", path);
    REQUIRE(temporaries().size() == 1);
    const std::string name = temporaries()[0];
    const std::size_t dash = name.rfind('-');
    next = name.substr(0, dash + 1) + std::to_string(std::stoi(name.substr(dash + 1)) + 1);
  }
  std::filesystem::create_directory(folder / next);                   // no file, so it stays
  std::filesystem::create_symlink("nothing", folder / (next + "x"));  // cannot be opened
  save_npy(path, ones({2}));
  CHECK(load_npy(path).numel() == 2);
  CHECK(temporaries().size() == 2);
  // The lock of the new file needs a second descriptor: without one the file is saved all the same.
  CHECK(in_child([&] {
          const int free = dup(0);
          close(free);
          rlimit limit = {};
          getrlimit(RLIMIT_NOFILE, &limit);
          limit.rlim_cur = static_cast<rlim_t>(free) + 1;
          if (setrlimit(RLIMIT_NOFILE, &limit) != 0) return 1;
          io::AtomicFile file("test", path);
          file.write("new", 3);
          file.commit();
          return read_bytes(path) == "new" ? 0 : 2;
        }) == 0);
}

TEST_CASE("a name without a folder is a file of the current one") {
  const ScratchFolder folder;
  CHECK(in_child([&] {
          if (chdir(folder.path().c_str()) != 0) return 1;
          save_npy("x.npy", ones({2}));
          return load_npy("x.npy").numel() == 2 ? 0 : 2;
        }) == 0);
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("with stderr closed, no file becomes stderr") {
  const ScratchFolder folder;
  const std::string path = folder / "x";
  CHECK(in_child([&] {
          for (const int stream : {0, 1, 2}) close(stream);
          io::AtomicFile file("save", path);
          if (write(2, "error", 5) != -1 || write(1, "text", 4) != -1) return 1;
          file.write("whole", 5);
          file.commit();
          return 0;
        }) == 0);
  CHECK(read_bytes(path) == "whole");
}

TEST_CASE("a checkpoint's folder is made with its parents, or an error names it") {
  const ScratchFolder folder;
  io::make_folder("test", folder / "a/b/c");
  io::make_folder("test", folder / "a/b/c/");
  CHECK(std::filesystem::is_directory(folder / "a/b/c"));
  write_bytes(folder / "file", "");
  const std::string blocked = folder / "file";
  check_error([&] { io::make_folder("test", blocked); },
              "test: " + blocked + ": cannot make the folder: Not a directory");
  check_error([&] { io::make_folder("test", ""); }, "test: the path is empty");
}
