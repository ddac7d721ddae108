#include "gradus/kit/data/run_log.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <limits>
#include <utility>

#include "gradus/core/error.h"
#include "gradus/kit/data/files.h"
#include "support.h"

namespace {

int failing_truncations = 0, failing_seeks = 0;

/// Limits the size of all files during one scope.
class FileLimit {
 public:
  explicit FileLimit(rlim_t bytes) : handler_(signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit small = before_;
    small.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &small);
  }
  ~FileLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

}  // namespace

/// These replace the C library's.
extern "C" int ftruncate(int file, off_t bytes) noexcept {
  if (failing_truncations == 0) return static_cast<int>(syscall(SYS_ftruncate, file, bytes));
  --failing_truncations;
  errno = EIO;
  return -1;
}
extern "C" off_t lseek(int file, off_t offset, int from) noexcept {
  if (failing_seeks == 0) return syscall(SYS_lseek, file, offset, from);
  --failing_seeks;
  errno = EIO;
  return -1;
}

using namespace gradus;
using namespace gradus::kit;

TEST_CASE("a run log is one flushed line each, names in order") {
  const test::ScratchFolder folder;
  RunLog log(folder / "runs" / "a" / "m.jsonl");  // the folders are made
  const std::string note = "say \"hi\"\n";
  const std::optional<int> none;
  log.write({{"step", 1}, {"loss", 2.5}, {"lr", 1e-3F}, {"note", note}, {"done", true}, {"left", none}});
  CHECK(read_file(folder / "runs" / "a" / "m.jsonl") ==  // while the log is open
        "{\"step\":1,\"loss\":2.5,\"lr\":0.0010000000474974513,\"note\":\"say \\\"hi\\\"\\n\",\"done\":true,"
        "\"left\":null}\n");
  log.write(
      {{"bytes", "\xff"}, {"u", std::size_t{7}}, {"best", std::optional(0.5)}, {"v", std::string_view("v")}});
  const LogLines lines = read_run_log(folder / "runs" / "a" / "m.jsonl");
  REQUIRE(lines.size() == 2);
  CHECK(lines[0]["step"].integer() == 1);
  CHECK(lines[0]["loss"].number() == 2.5);
  CHECK(lines[0]["note"].text() == note);
  CHECK(lines[0]["done"] == LogValue(true));
  CHECK(lines[0]["left"].is_null());
  CHECK(lines[1]["bytes"].text() == "\xEF\xBF\xBD");  // what is not UTF-8 cannot stand in JSON
  CHECK(lines[1]["u"].integer() == 7);
  CHECK(lines[1]["best"].number() == 0.5);
  CHECK(lines[1]["v"].text() == "v");
}

TEST_CASE("a list of numbers is a JSON array, with null for what is not finite") {
  const test::ScratchFolder folder;
  const double infinite = std::numeric_limits<double>::infinity();
  RunLog(folder / "m.jsonl")
      .write({{"losses", std::vector{2.5, infinite, 1e-7}}, {"none", std::vector<double>{}}});
  CHECK(read_file(folder / "m.jsonl") == "{\"losses\":[2.5,null,1e-07],\"none\":[]}\n");
  const LogLines lines = read_run_log(folder / "m.jsonl");
  const std::vector<double>& losses = lines[0]["losses"].list();
  REQUIRE(losses.size() == 3);
  CHECK(losses[0] == 2.5);
  CHECK(std::isnan(losses[1]));
  CHECK(lines[0]["none"].is_list());
  CHECK(lines[0]["none"].list().empty());
  CHECK_THROWS_WITH_AS(lines[0]["losses"].number(), "LogValue: expects a number, got '[2.5,null,1e-07]'",
                       Error);
  CHECK_THROWS_WITH_AS(LogValue(2).list(), "LogValue: expects a list of numbers, got '2'", Error);
  CHECK_THROWS_AS(lines.column("losses"), Error);
}

TEST_CASE("a number that is not finite is null in the file and NaN when it is read") {
  const test::ScratchFolder folder;
  RunLog log(folder / "m.jsonl");
  log.write({{"step", 7}, {"loss", std::nan("")}});
  log.write({{"step", 8}, {"loss", -std::numeric_limits<float>::infinity()}});
  CHECK(read_file(folder / "m.jsonl") == "{\"step\":7,\"loss\":null}\n{\"step\":8,\"loss\":null}\n");
  CHECK(std::isnan(read_run_log(folder / "m.jsonl").column("loss")[1]));
  CHECK(LogValue(std::nan("")).is_null());
}

TEST_CASE("numbers come back as the same bits") {
  const test::ScratchFolder folder;
  RunLog log(folder / "m.jsonl");
  const std::vector<double> values = {0.1, 1e300, 5e-324, -0.0, 3.0, 1.0 / 3, 123456789.0};
  for (const double value : values)
    log.write({{"x", value}, {"i", std::numeric_limits<std::int64_t>::min()}});
  const LogLines lines = read_run_log(folder / "m.jsonl");
  CHECK(lines.column("x") == values);
  CHECK(std::signbit(lines.column("x")[3]));
  CHECK(lines[0]["i"].integer() == std::numeric_limits<std::int64_t>::min());
  CHECK(lines[0].json() == "{\"x\":0.1,\"i\":-9223372036854775808}");
  replace_file(folder / "m.jsonl", "{\"x\":9223372036854775807,\"y\":18446744073709551615}");
  const LogLines large = read_run_log(folder / "m.jsonl");  // of another program
  CHECK(large[0]["x"].integer() == std::numeric_limits<std::int64_t>::max());
  CHECK(large[0]["y"].number() == 0x1p64);
  CHECK_THROWS_AS(large[0]["y"].integer(), Error);
}

TEST_CASE("a bool is the number 0 or 1, and true or false as JSON") {
  CHECK(LogValue(true).number() == 1);
  CHECK(LogValue(false).number() == 0);
  CHECK(LogValue(true).json() == "true");
  CHECK(LogValue(false).json() == "false");
}

TEST_CASE("a log can be moved: what it writes goes to the same file") {
  const test::ScratchFolder folder;
  RunLog log(folder / "a.jsonl"), other(folder / "b.jsonl");
  RunLog moved(std::move(log));
  moved.write({{"step", 1}});
  other = std::move(moved);
  other.write({{"step", 2}});
  CHECK(read_file(folder / "a.jsonl") == "{\"step\":1}\n{\"step\":2}\n");
  CHECK(read_file(folder / "b.jsonl").empty());
}

TEST_CASE("a column has one value per line") {
  const test::ScratchFolder folder;
  CHECK(read_run_log(folder / "none.jsonl").empty());
  CHECK(read_run_log(folder / "none.jsonl").column("loss").empty());
  RunLog log(folder / "m.jsonl");
  log.write({{"step", 1}, {"loss", 4}});
  log.write({{"step", 2}});
  log.write({{"note", "half time"}, {"loss", 3.5}});
  const LogLines lines = read_run_log(folder / "m.jsonl");
  const std::vector<double> losses = lines.column("loss");
  REQUIRE(losses.size() == 3);
  CHECK(losses[0] == 4);
  CHECK(std::isnan(losses[1]));
  CHECK(losses[2] == 3.5);
  CHECK_THROWS_WITH_AS(lines.column("los"),
                       "LogLines::column: no line has 'los'; there are 'step', 'loss', 'note'", Error);
  CHECK_THROWS_WITH_AS(lines.column("note"),
                       ("LogLines::column: 'note' is a text in line 3 of " + (folder / "m.jsonl").string() +
                        ", 'half time'; expects numbers")
                           .c_str(),
                       Error);
  LogLines made;
  made.add({{"note", "a"}});
  CHECK_THROWS_WITH_AS(made.column("note"),
                       "LogLines::column: 'note' is a text in line 1, 'a'; expects numbers", Error);
  LogLines copied;  // of one file or several: its lines have no file
  copied.add(lines[2]);
  CHECK_THROWS_WITH_AS(copied.column("note"),
                       "LogLines::column: 'note' is a text in line 1, 'half time'; expects numbers", Error);
  LogLines empty;
  empty.add({});
  CHECK_THROWS_WITH_AS(empty.column("x"), "LogLines::column: no line has 'x'; there are none", Error);
}

TEST_CASE("a line knows its number in the file") {
  const test::ScratchFolder folder;
  const std::string path = (folder / "m.jsonl").string();
  replace_file(path, "{\"a\":1}\n\n{\"a\":2,\"v\":\"x\"}\n{\"a\":3}");
  const LogLines lines = read_run_log(path);
  CHECK(lines[0].number() == 1);
  CHECK(lines[1].number() == 3);
  CHECK(lines[2].number() == 4);
  CHECK(LogLine{{"a", 1}}.number() == 0);
  CHECK(lines[0] == LogLine{{"a", 1}});
  CHECK_THROWS_WITH_AS(lines.with("v").column("v"), doctest::Contains(("in line 3 of " + path).c_str()),
                       Error);
}

TEST_CASE("lines with a value that is present only occasionally") {
  LogLines lines;
  for (int step = 1; step <= 6; ++step) {
    LogLine line = {{"step", step}};
    if (step % 2 == 0) line.add("validation", step == 4 ? LogValue() : LogValue(1.0 / step));
    lines.add(line);
  }
  const LogLines some = lines.with("validation");
  CHECK(some.column("step") == std::vector<double>{2, 6});
  CHECK(some.column("validation") == std::vector<double>{1.0 / 2, 1.0 / 6});
  CHECK(lines.with("step").size() == 6);
  CHECK_THROWS_WITH_AS(lines.with("val"), "LogLines::with: no line has 'val'; there are 'step', 'validation'",
                       Error);
  CHECK(LogLines().with("step").empty());
}

TEST_CASE("a log is overwritten if requested") {
  const test::ScratchFolder folder;
  const std::filesystem::path path = folder / "runs" / "m.jsonl";
  for (const bool append : {false, true, true}) RunLog(path, {.append = append}).write({{"step", 1}});
  CHECK(read_run_log(path).size() == 3);
  RunLog log(path, {.append = false});
  CHECK(read_file(path).empty());
  log.write({{"step", 2}});
  CHECK(read_file(path) == "{\"step\":2}\n");
  CHECK_THROWS_AS(RunLog(folder.path(), {.append = false}), Error);
}

TEST_CASE("values of other types are rejected") {
  const test::ScratchFolder folder;
  RunLog log(folder / "m.jsonl");
  CHECK_THROWS_WITH_AS(log.write({{"step", 1}, {"step", 2}}), "LogLine: 'step' appears twice in one line",
                       Error);
  CHECK_THROWS_WITH_AS(
      LogValue(std::uint64_t{1} << 63),
      "RunLog: 9223372036854775808 is above 2^63 - 1, the largest whole number in a log; write it as a text",
      Error);
  const LogLine line = {{"x", 2.5}, {"name", "n"}};
  CHECK_THROWS_WITH_AS(line["y"], "LogLine: the line has no 'y'; it has 'x', 'name'", Error);
  CHECK_THROWS_WITH_AS(LogLine()["y"], "LogLine: the line has no 'y'; it has none", Error);
  CHECK_THROWS_WITH_AS(line["x"].integer(), "LogValue: expects a whole number, got '2.5'", Error);
  CHECK(LogValue(2.0).integer() == 2);
  CHECK(LogValue(-0x1p53).integer() == -(std::int64_t{1} << 53));
  for (const LogValue& wrong : {LogValue(1e300), LogValue(0x1p54), LogValue("2"), LogValue(), LogValue(true)})
    CHECK_THROWS_AS(wrong.integer(), Error);
  CHECK_THROWS_WITH_AS(line["x"].text(), "LogValue: expects a text, got '2.5'", Error);
  CHECK(read_file(folder / "m.jsonl").empty());
}

TEST_CASE("a last line cut off anywhere is tolerated, and appending continues after it") {
  const test::ScratchFolder folder;
  const std::string first = "{\"step\":1}\n";
  const std::string second = "{\"step\":2,\"loss\":1.25}\n";
  for (const std::size_t zeros : {0, 1, 5000})  // at the end, after a power loss
    for (std::size_t cut = 0; cut <= second.size(); ++cut) {
      CAPTURE(zeros);
      CAPTURE(cut);
      replace_file(folder / "m.jsonl", first + second.substr(0, cut) + std::string(zeros, '\0'));
      const std::size_t whole = cut + 1 >= second.size() ? 2 : 1;  // only the newline may be missing
      CHECK(read_run_log(folder / "m.jsonl").size() == whole);
      RunLog(folder / "m.jsonl").write({{"step", 3}});
      const LogLines lines = read_run_log(folder / "m.jsonl");
      REQUIRE(lines.size() == whole + 1);
      CHECK(lines[whole]["step"].integer() == 3);
    }
}

TEST_CASE("a file that is not a run log is rejected and not changed") {
  const test::ScratchFolder folder;
  const std::string path = (folder / "w.safetensors").string();
  const auto refused = [&](const std::string& bytes, const std::string& reason) {
    CAPTURE(bytes);
    replace_file(path, bytes);
    CHECK_THROWS_WITH_AS(RunLog{path}, ("RunLog: " + path + " is not a run log: line " + reason).c_str(),
                         Error);
    CHECK_THROWS_WITH_AS(read_run_log(path), ("read_run_log: " + path + " line " + reason).c_str(), Error);
    CHECK(read_file(path) == bytes);
  };
  const std::string object = "expects a JSON object, got ";
  const std::string weights = "{\"w\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}";
  refused(std::string("@\0\0\0\0\0\0\0", 8) + weights, "1: " + object + "'@???????" + weights + "'");
  // Of 8827 bytes of names; the length of this one looks like the beginning of a line.
  refused(std::string("{\"\0\0\0\0\0\0", 8) + weights, "1: " + object + "'{\"??????" + weights + "'");
  refused("a note without a newline", "1: " + object + "'a note without a newline'");
  refused("first\nthe only copy", "1: " + object + "'first'");
  refused("first\n", "1: " + object + "'first'");
  refused("{\n  \"lr\": 0.1,\n  \"steps\": 5\n}", "1: " + object + "'{'");
  refused("{\"step\":1}\nwords", "2: " + object + "'words'");
  refused("{\"step\":1}\n\n{nonsense", "3: " + object + "'{nonsense'");
  refused("{\"step\":1}\n{\"a\":}", "2: " + object + "'{\"a\":}'");
  refused("{\"vocab\":{\"a\":1,",
          "1: 'vocab' is an object; expects a number, a text, true, false, null or a list of numbers");
  refused("{\"a\":1}{\"a\"", "1: " + object + "'{\"a\":1}{\"a\"'");

  for (const char* cut : {"", "{", "{\"", "{\"loss", "{\"loss\":2.", "{\"a\":[", "{\"a\":[1,2.",
                          "{\"a\":\"\\u00", "{\"a\":\"\xC3"}) {
    CAPTURE(cut);
    replace_file(path, cut);
    CHECK(read_run_log(path).empty());
    RunLog(path).write({{"step", 1}});
    CHECK(read_file(path) == "{\"step\":1}\n");
  }
}

TEST_CASE("names that are not UTF-8 are rejected: JSON could not distinguish them") {
  LogLine line;
  for (const char* name : {"\xFF", "a\xC3", "\xC3\x28", "\xED\xA0\x80"})
    CHECK_THROWS_AS(line.add(name, 1), Error);
  CHECK_THROWS_WITH_AS(line.add("a\xFF", 1), "LogLine: the name 'a?' is not UTF-8, which JSON requires",
                       Error);
  line.add("gr\u00F6\u00DFe \U0001F600", 1);
  CHECK(line.json() == "{\"gr\u00F6\u00DFe \U0001F600\":1}");
}

TEST_CASE("if the disk is full no half line remains") {
  const test::ScratchFolder folder;
  RunLog log(folder / "m.jsonl");
  log.write({{"step", 1}});
  std::string message;
  {
    const FileLimit limit(20);
    try {
      log.write({{"step", 2}, {"note", "longer than what is left"}});
    } catch (const Error& error) {
      message = error.what();
    }
  }
  CHECK(message == "RunLog: cannot write " + (folder / "m.jsonl").string() + ": File too large");
  log.write({{"step", 3}});
  CHECK(read_file(folder / "m.jsonl") == "{\"step\":1}\n{\"step\":3}\n");
}

TEST_CASE("a half line that cannot be removed is not continued") {
  const test::ScratchFolder folder;
  const std::string path = (folder / "m.jsonl").string(), first = "{\"step\":1}\n";
  RunLog log(path);
  log.write({{"step", 1}});
  {
    const FileLimit limit(20);
    failing_truncations = 2;
    CHECK_THROWS_WITH_AS(log.write({{"step", 2}, {"note", "longer than what is left"}}),
                         ("RunLog: cannot write " + path + ": File too large").c_str(), Error);
  }
  CHECK(read_file(path).size() == 20);
  CHECK_THROWS_WITH_AS(log.write({{"step", 3}}),
                       ("RunLog: cannot remove a half line from " + path + ": Input/output error").c_str(),
                       Error);
  CHECK(read_file(path).size() == 20);
  CHECK(failing_truncations == 0);
  CHECK(read_run_log(path).size() == 1);
  log.write({{"step", 3}});
  CHECK(read_file(path) == first + "{\"step\":3}\n");
}

TEST_CASE("a log whose cut-off last line cannot be removed, or whose end cannot be found, is not changed") {
  const test::ScratchFolder folder;
  const std::string path = (folder / "m.jsonl").string(), first = "{\"step\":1}\n";
  replace_file(path, first + "{\"step\":2,\"lo");
  failing_truncations = 1;
  CHECK_THROWS_WITH_AS(
      RunLog{path},
      ("RunLog: cannot remove the cut-off last line of " + path + ": Input/output error").c_str(), Error);
  CHECK(failing_truncations == 0);
  CHECK(read_file(path) == first + "{\"step\":2,\"lo");
  RunLog log(path);
  CHECK(read_file(path) == first);
  failing_seeks = 1;
  CHECK_THROWS_WITH_AS(log.write({{"step", 3}}),
                       ("RunLog: cannot find the end of " + path + ": Input/output error").c_str(), Error);
  CHECK(failing_seeks == 0);
  CHECK(read_file(path) == first);
  log.write({{"step", 3}});
  CHECK(read_file(path) == first + "{\"step\":3}\n");
}

TEST_CASE("a million names in a line are read, found and compared quickly") {  // one by one it would be hours
  const test::ScratchFolder folder;
  constexpr int kNames = 1'000'000;
  LogLine line;
  for (int i = 0; i < kNames; ++i) line.add("name" + std::to_string(i), i);
  {
    RunLog log(folder / "m.jsonl");
    log.write(line);
    log.write({{"step", 1}});
  }
  const LogLines lines = read_run_log(folder / "m.jsonl");
  CHECK(lines[0] == line);
  double sum = 0;
  for (const auto& [name, value] : line) sum += lines[0][name].number() - value.number();
  CHECK(sum == 0);
  CHECK_THROWS_WITH_AS(line.add("name77", 1), "LogLine: 'name77' appears twice in one line", Error);
  CHECK_THROWS_WITH_AS(lines.column("x"), doctest::Contains(", 'name29' and 999971 more"), Error);
}

TEST_CASE("other broken lines are errors with file and line") {
  const test::ScratchFolder folder;
  const std::string path = (folder / "m.jsonl").string();
  const auto refused = [&](const std::string& bytes, const std::string& reason) {
    replace_file(path, bytes);
    CHECK_THROWS_WITH_AS(read_run_log(path), ("read_run_log: " + path + " line " + reason).c_str(), Error);
  };
  refused("{\"step\":1}\nnonsense\n{\"step\":2}\n", "2: expects a JSON object, got 'nonsense'");
  for (const char* end : {"", "\n", "\n{}\n"}) {  // a number that no double holds, also in a last line
    refused(std::string("{\"step\":1}\n{\"step\":2,\"loss\":1e400}") + end,
            "2: the number '1e400' is out of range");
    refused(std::string("{\"step\":1}\n{\"step\":2,\"loss\":-1e400,\"") + end,
            "2: the number '-1e400' is out of range");
  }
  refused("{\"a\":1,\"b\":2,\"a\":3}", "1: LogLine: 'a' appears twice in one line");
  refused(std::string("{\"a\":1}\0{", 9), "1: expects a JSON object, got '{\"a\":1}?{'");
  CHECK_THROWS_WITH_AS(read_run_log(std::string(300, 'x')),
                       doctest::Contains("read_run_log: cannot look at xxx"), Error);
  CHECK_THROWS_AS(RunLog(std::string(300, 'x')), Error);
  refused("\n[1]\n{}\n", "2: expects a JSON object, got '[1]'");
  for (const std::string value : {"3", "-3", "2.5", "18446744073709551615", "true", "null", "\"a\""})
    refused(value + "\n{}\n", "1: expects a JSON object, got '" + value + "'");
  const std::string expected = "; expects a number, a text, true, false, null or a list of numbers";
  refused("{\"a\":[[1]]}\n", "1: 'a' is a list of lists" + expected);
  refused("{\"a\":[1,{\"b\":2}]}\n", "1: 'a' is an object" + expected);
  refused("{\"a\":[1,\"b\"]}\n", "1: 'a' is a list with more than numbers" + expected);
  refused("{\"a\":[true]}\n", "1: 'a' is a list with more than numbers" + expected);
  refused("\x1b[31mred\xff\n{}\n", "1: expects a JSON object, got '?[31mred?'");  // nothing for the terminal
  const std::string deep = std::string(1'000'000, '[') + "1" + std::string(1'000'000, ']');
  replace_file(path, "{\"a\":" + deep + "}\n{}\n");
  CHECK_THROWS_AS(read_run_log(path), Error);
  CHECK_THROWS_AS(RunLog{folder.path()}, Error);
}
