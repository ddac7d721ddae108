#include "gradus/kit/program/command_line.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>

#include "gradus/core/error.h"
#include "gradus/kit/data/files.h"
#include "support.h"

using namespace gradus;
using namespace gradus::kit;

namespace {

// The values a program might have, with their defaults.
struct Options {
  bool quick = false;
  std::int64_t seed = 0;
  double rate = 1e-3, share = 1;
  std::string placement = "pre";
  std::string name;
  std::filesystem::path out = "results";
  std::vector<std::int64_t> depths{2, 6};
  std::vector<double> rates{0.001};
};

struct Parsed {
  Options options;
  std::optional<int> status;
  std::string said;  // stdout and stderr
  bool seed_given = false;
  std::string first;  // of --seed and --name
};

// Redirects one of the process's own streams to a file while it lives.
class Redirect {
 public:
  Redirect(std::FILE* stream, const std::filesystem::path& path) : stream_(stream) {
    std::fflush(stream_);
    saved_ = dup(fileno(stream_));
    std::FILE* file = std::fopen(path.c_str(), "a");
    dup2(fileno(file), fileno(stream_));
    std::fclose(file);
  }
  ~Redirect() {
    std::fflush(stream_);
    dup2(saved_, fileno(stream_));
    close(saved_);
  }

 private:
  std::FILE* stream_;
  int saved_;
};

Parsed parse(std::vector<const char*> words) {
  words.insert(words.begin(), "lab");
  Parsed parsed;
  Options& options = parsed.options;
  CommandLine line("lab", "Compares placements.");
  line.flag("--quick", options.quick, "A short run");
  line.integer("--seed", options.seed, "Seed", at_least(0));
  line.real("--lr", options.rate, "Learning rate", above(0));
  line.real("--share", options.share, "Share", {0, 1, /*low_excluded=*/true});
  line.choice("--placement", options.placement, {"pre", "post"}, "Where the norm stands");
  line.text("--name", options.name, "Name");
  line.path("--out", options.out, "Folder");
  line.list("--depths", options.depths, "Layers", at_least(1));
  line.list("--lrs", options.rates, "Rates", between(0, 1));
  line.footer("Example: lab --quick");
  const test::ScratchFolder folder;
  {
    const Redirect out(stdout, folder / "said");
    const Redirect err(stderr, folder / "said");
    parsed.status = line.parse(static_cast<int>(words.size()), words.data());
  }
  parsed.said = read_file(folder / "said");
  parsed.seed_given = line.given("--seed");
  parsed.first = line.first_given({"--seed", "--name"});
  return parsed;
}

std::string complaint(std::vector<const char*> words) {
  const Parsed parsed = parse(std::move(words));
  CHECK(parsed.status == 2);
  return parsed.said.substr(0, parsed.said.find('\n'));
}

}  // namespace

TEST_CASE("options keep their defaults or take the given values") {
  const Parsed defaults = parse({});
  CHECK_FALSE(defaults.status.has_value());
  CHECK(defaults.options.depths == std::vector<std::int64_t>{2, 6});
  CHECK_FALSE(defaults.seed_given);
  const Parsed all = parse({"--quick", "--seed", "7", "--lr=3e-4", "--placement", "post", "--out", "a b",
                            "--depths", "2,6,12", "--lrs", "0.001,1e-2", "--name", "-"});
  CHECK_FALSE(all.status.has_value());
  CHECK(all.options.quick);
  CHECK(all.options.seed == 7);
  CHECK(all.seed_given);
  CHECK(all.first == "--seed");
  CHECK(parse({"--name", "x"}).first == "--name");
  CHECK(parse({"--quick"}).first == "");
  CHECK(all.options.rate == 3e-4);
  CHECK(all.options.placement == "post");
  CHECK(all.options.out == "a b");
  CHECK(all.options.depths == std::vector<std::int64_t>{2, 6, 12});
  CHECK(all.options.rates == std::vector<double>{0.001, 0.01});
}

TEST_CASE("messages for bad values say what was expected") {
  CHECK(complaint({"--seed", "-1"}) == "lab: --seed: expects a whole number of at least 0; got \"-1\"");
  CHECK(complaint({"--seed", "3x"}) == "lab: --seed: expects a whole number of at least 0; got \"3x\"");
  for (const char* bad : {"12x", "1e3", "0x10", "1.0", "", " 1", "1 ", "+-1", "++1", "--1",
                          "9223372036854775808", "18446744073709551617", "1_000", "\n1"}) {
    CAPTURE(bad);
    CHECK(complaint({"--seed", bad}).starts_with("lab: --seed: expects a whole number of at least 0; got "));
  }
  CHECK(parse({"--seed", "010"}).options.seed == 10);  // not octal
  CHECK(parse({"--seed", "+3"}).options.seed == 3);
  CHECK(complaint({"--name=x", "--se\x1b[31med"}) == "lab: does not know --se?[31med");
  CHECK(complaint({"--seed", "99999999999999999999"}) ==
        "lab: --seed: expects a whole number of at least 0; got \"99999999999999999999\"");
  CHECK(complaint({"--lr", "0"}) == "lab: --lr: expects a number above 0; got \"0\"");
  CHECK(complaint({"--lr", "nan"}) == "lab: --lr: expects a number above 0; got \"nan\"");
  for (const char* bad : {"0", "1.5", "inf"})
    CHECK(complaint({"--share", bad}) ==
          std::string("lab: --share: expects a number above 0 and at most 1; got \"") + bad + "\"");
  CHECK(complaint({"--placement", "mid"}) == "lab: --placement: expects one of pre, post; got \"mid\"");
  CHECK(complaint({"--depths", "2,,6"}) ==
        "lab: --depths: expects whole numbers of at least 1 such as 2,6,12; got \"2,,6\"");
  CHECK(complaint({"--depths", "2,0"}) ==
        "lab: --depths: expects whole numbers of at least 1 such as 2,6,12; got \"2,0\"");
  CHECK(complaint({"--lrs", "1,2"}) ==
        "lab: --lrs: expects numbers from 0 to 1 such as 0.0003,0.001,0.003; got \"1,2\"");
  CHECK(complaint({"--dephts", "2"}) == "lab: does not know --dephts 2");
  CHECK(complaint({"--seed"}).find("--seed") != std::string::npos);
}

TEST_CASE("a value too many or too few") {
  CHECK(complaint({"--seed", "3", "--seed", "4"}) == "lab: --seed: is given 2 times, expects one value");
  for (const char* without : {"--seed", "--seed=", "--name=", "--out=", "--depths="}) {
    const std::string name = std::string(without).substr(0, std::string(without).find('='));
    CHECK(complaint({without}) == "lab: " + name + ": expects a value after it");
  }
  CHECK(parse({"--name", ""}).options.name.empty());
  for (const char* flag : {"--quick=7", "--quick=false", "--quick=yes"})
    CHECK(complaint({flag}) == "lab: --quick: is on or off, and takes no value");
  CHECK(parse({"--quick", "--quick"}).options.quick);
}

TEST_CASE("words, several of them, and arguments without a name") {
  const auto parsed = [](std::vector<const char*> words) {
    words.insert(words.begin(), "bench");
    std::string name;
    std::vector<std::string> parts;
    CommandLine line("bench", "Times.");
    line.choice("CASE", name, {"mlp", "gelu"}, "One case");
    line.choices("--part", parts, {"depth", "width"}, "Parts");
    const test::ScratchFolder folder;
    const Redirect err(stderr, folder / "said");
    const auto status = line.parse(static_cast<int>(words.size()), words.data());
    for (const std::string& part : parts) name += "+" + part;
    return status ? std::to_string(*status) : name;
  };
  CHECK(parsed({}).empty());
  CHECK(parsed({"mlp", "--part", "width,depth"}) == "mlp+width+depth");
  CHECK(parsed({"--part=depth", "gelu"}) == "gelu+depth");
  for (const char* bad : {"--part=", "--part=depth,", "--part=depth,x", "--part=,depth"}) {
    CAPTURE(bad);
    CHECK(parsed({bad}) == "2");
  }
  CHECK(parsed({"relu"}) == "2");
  CHECK(parsed({"mlp", "gelu"}) == "2");
}

TEST_CASE("words as arguments: any number, each one checked") {
  const auto parsed = [](std::vector<const char*> words) {
    words.insert(words.begin(), "bench");
    std::vector<std::string> cases;
    bool json = false;
    CommandLine line("bench", "Times.");
    line.choices("CASE", cases, {"mlp", "gelu", "adam"}, "Cases");
    line.flag("--json", json, "JSON");
    const test::ScratchFolder folder;
    const Redirect err(stderr, folder / "said");
    const auto status = line.parse(static_cast<int>(words.size()), words.data());
    std::string all = json ? "json" : "";
    for (const std::string& one : cases) all += "+" + one;
    return status ? read_file(folder / "said") : all;
  };
  CHECK(parsed({}).empty());
  CHECK(parsed({"gelu"}) == "+gelu");
  CHECK(parsed({"gelu", "--json", "mlp", "adam"}) == "json+gelu+mlp+adam");
  CHECK(parsed({"mlp", "relu"}) ==
        "bench: CASE: expects one of mlp, gelu, adam; got \"relu\"\nbench --help lists all options\n");
  CHECK(parsed({"--stepz", "3", "gelu"}) == "bench: does not know --stepz\nbench --help lists all options\n");
}

TEST_CASE("help lists every option with its default") {
  const Parsed help = parse({"--help"});
  CHECK(help.status == 0);
  for (const char* part : {"Compares placements.", "--quick", "--depths", "2,6", "pre|post", "results",
                           "Example: lab --quick"}) {
    CAPTURE(part);
    CHECK(help.said.find(part) != std::string::npos);
  }
}

TEST_CASE("invalid names in the program are Errors") {
  CommandLine line("lab", "");
  std::int64_t steps = 1;
  bool quick = false;
  line.integer("--steps", steps, "");
  const std::string remedy = "expects a new name such as --steps, or CASE for an argument";
  for (const char* wrong : {"--steps", "-steps", "--"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(line.integer(wrong, steps, ""), Error);
    CHECK_THROWS_AS(line.flag(wrong, quick, ""), Error);
  }
  CHECK_THROWS_AS(line.first_given({"--step"}), Error);
  CHECK_THROWS_WITH_AS(line.given("--step"),
                       "CommandLine::given: there is no '--step'; there are --help, --steps", Error);
}
