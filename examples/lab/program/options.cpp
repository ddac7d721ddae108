#include "lab/program/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include "gradus/core/check.h"
#include "gradus/core/io/printable.h"
#include "gradus/kit/program/command_line.h"
#include "gradus/kit/program/language_model.h"
#include "gradus/kit/program/program.h"
#include "lab/studies/compare/compare.h"
#include "lab/study/limits.h"

namespace gradus::lab {

namespace {

/// "3/8"
Shard shard_from(const std::string& words) {
  Shard shard;
  char slash = 0;
  int read = 0;
  const int values =
      std::sscanf(words.c_str(), "%" SCNd64 "%c%" SCNd64 "%n", &shard.index, &slash, &shard.count, &read);
  check_input(values == 3 && slash == '/' && static_cast<std::size_t>(read) == words.size() &&
                  shard.index >= 1 && shard.index <= shard.count && shard.count <= kMaxShards,
              "--shard: expects I/N, part I of N such as 1/8, got {}", io::quote(words));
  return shard;
}

/// "peri": Pre-LN and Peri-LN; "peri,deep": these two.
compare::Placements placements_from(const std::string& words) {
  const std::size_t comma = words.find(',');
  const std::string first = comma == std::string::npos ? "pre" : words.substr(0, comma);
  const std::string last = words.substr(comma == std::string::npos ? 0 : comma + 1);
  check_input(last.find(',') == std::string::npos,
              "--placement: expects one name, or two separated by a comma, got {}", words);
  for (const std::string& name : {first, last})
    if (const std::string why = kit::wrong_block_names(name, "layer"); !why.empty()) fail(why);
  const compare::Placements two = {nn::placement_named(first), nn::placement_named(last)};
  check_input(two[0] != two[1], "--placement: {} cannot be compared with itself", two[1].name);
  return two;
}

/// Each setting once, in order; without any, those of the budget.
template <class T>
void settle(std::vector<T>& given, const std::vector<T>& usual) {
  if (given.empty()) given = usual;
  std::sort(given.begin(), given.end());
  given.erase(std::unique(given.begin(), given.end()), given.end());
}

/// The options that all studies have.
struct Common {
  std::string shard;
  bool full = false;
  std::int64_t seed = 0;

  void add_to(kit::CommandLine& line, Given& given) {
    seed = static_cast<std::int64_t>(given.options.seed);
    line.flag("--full", full, "All settings and seeds; seeds from 3000 on");
    line.path("--out", given.out, "Folder for the studies' folders; lab-results/<date> when not given");
    line.path("--resume", given.resume, "Continue in such a folder");
    line.flag("--extend", given.extend,
              "With --resume: add runs on another kind of machine or with new bands; the page names both");
    line.text("--shard", shard, "I/N: only part I of N, for several machines; then: lab merge");
    line.integer("--seed", seed, "First seed; the others follow it; 3000 with --full", kSeed);
    line.integer("--threads", given.threads, "Runs side by side; all cores when not given", kThreads);
  }
  /// Throws if they contradict each other; `form` is the other option that chooses a form.
  void read(const kit::CommandLine& line, Given& given, bool quick, const char* form) const {
    check_input(!full || !line.given(form), "{} and --full are different forms: give one of them", form);
    check_input(!given.extend || !given.resume.empty(), "--extend goes with --resume");
    if (line.given("--shard")) given.shard = shard_from(shard);
    given.options.seed = full && !line.given("--seed") ? kFullSeed : static_cast<std::uint64_t>(seed);
    given.options.budget = full ? Budget::full : quick ? Budget::quick : Budget::standard;
  }
};

}  // namespace

int refuse(const std::string& program, const std::string& why) {
  kit::print_error(fmt::format("{}: {}\n", program, why));
  return 2;
}

std::optional<int> parse(const std::string& program, const std::string& about, int argc,
                         const char* const* argv, Given& given, bool quick) {
  kit::CommandLine line(program, about);
  Common common;
  bool standard = false;
  const char* const form = quick ? "--standard" : "--quick";
  if (!quick)
    line.flag("--quick", quick, "Half a minute on two cores: fewer settings and seeds");
  else
    line.flag("--standard", standard, "Half an hour per study on two cores instead of half a minute");
  common.add_to(line, given);
  line.path("--data", given.options.data, "File or folder for the studies that need one");
  if (const auto status = line.parse(argc, argv)) return status;
  if (const std::string name = line.first_given({form, "--full", "--out", "--shard", "--seed"});
      !given.resume.empty() && !name.empty())
    return refuse(
        program,
        name + " cannot change a study under way; only --threads, --data and --extend go with --resume");
  try {
    common.read(line, given, quick && !standard, form);
  } catch (const Error& error) {
    return refuse(program, error.what());
  }
  return std::nullopt;
}

std::optional<int> parse_comparison(int argc, const char* const* argv, Given& given) {
  kit::CommandLine line(
      "lab", "Compares Pre-LN and Post-LN Transformers: at initialisation, in training, in ablations.");
  Common common;
  compare::Settings settings;
  settings.depths.clear(), settings.lrs.clear(), settings.warmups.clear();
  std::int64_t seeds = 0, steps = 0;  // 0 until given
  std::string placement = "post";
  bool quick = false;
  line.flag("--quick", quick, "Fewer runs: about a minute on two fast cores");
  line.path(
      "--text", given.options.data,
      "Train on the characters of this file instead of the built-in language; with --resume: its new place");
  line.text("--placement", placement,
            "Placement to compare with Pre-LN; A,B: two placements; list: show all");
  common.add_to(line, given);
  line.integer("--seeds", seeds, "Runs of each setting; 6, 3 with --quick, 9 with --full", kSeeds);
  line.list("--depths", settings.depths, "Numbers of layers", kDepths);
  line.list("--lrs", settings.lrs, "Learning rates (after warm-up)", kit::above(0));
  line.list("--warmups", settings.warmups, "Warm-up steps", kWarmups);
  line.integer("--steps", steps, "Training steps of each run; 400, or 220 with --quick", kSteps);
  line.footer(
      "The studies behind the ledger of claims are words in the place of options:\n  lab studies             "
      " lists them\n"
      "  lab STUDY                runs one; --quick, --full, --shard I/N, --data PATH; lab STUDY --help\n"
      "  lab claims, lab claim N  the quick form of all, of one claim's; --standard, --full\n"
      "  lab merge DIR... --out DIR  joins the parts of several machines\n"
      "lab report DIR draws the report in DIR again from the files next to it.\n\nExamples:\n  lab --quick\n "
      " "
      "lab --text book.txt --depths 2,8,16 --lrs 0.001,0.003,0.01 --warmups 0,200\n  lab --quick --placement "
      "peri\n  lab --resume "
      "lab-results/2024-05-01-120000\n\nExit status: 0 done; 1 an error; 2 a wrong command line; 128 + N "
      "stopped by signal N (130: Ctrl-C)");
  if (const auto status = line.parse(argc, argv)) return status;
  if (const std::string name =
          line.first_given({"--quick", "--full", "--placement", "--out", "--shard", "--seed", "--seeds",
                            "--depths", "--lrs", "--warmups", "--steps"});
      !given.resume.empty() && !name.empty())
    return refuse(
        "lab", name + " cannot change a lab under way; only --threads, --text and --extend go with --resume");
  if (placement == "list") {
    kit::print(nn::list_placements());
    return 0;
  }
  try {
    common.read(line, given, quick, "--quick");
    const compare::Settings usual = compare::default_settings(given.options);
    settle(settings.depths, usual.depths), settle(settings.lrs, usual.lrs);
    settle(settings.warmups, usual.warmups);
    settings.seeds = seeds > 0 ? seeds : usual.seeds;
    settings.steps = steps > 0 ? steps : usual.steps;
    settings.placements = placements_from(placement);
    compare::check_number_of_runs(settings);
  } catch (const Error& error) {
    return refuse("lab", error.what());
  }
  given.options.settings = compare::json_of(settings);
  return std::nullopt;
}

}  // namespace gradus::lab
