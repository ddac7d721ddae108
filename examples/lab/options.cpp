#include "lab/options.h"

#include <fmt/format.h>
#include <algorithm>

#include "gradus/core/threads/parallel.h"
#include "gradus/kit/program/command_line.h"
#include "gradus/kit/program/detail/check.h"
#include "gradus/kit/program/language_model.h"
#include "gradus/kit/program/program.h"
#include "lab/limits.h"
#include "lab/names.h"

namespace gradus::lab {

namespace {

/// What is not given on the command line: about a minute with --quick, ten without, on two fast cores. Fewer
/// seeds than 6 could tell nothing from chance (seeds_needed).
void fill_defaults(LabOptions& options) {
  using Numbers = std::vector<std::int64_t>;
  using Rates = std::vector<double>;
  const bool quick = options.quick;
  if (options.depths.empty()) options.depths = quick ? Numbers{2, 8} : Numbers{2, 6, 12};
  if (options.lrs.empty()) options.lrs = quick ? Rates{3e-3, 1e-2} : Rates{1e-3, 3e-3, 1e-2, 3e-2};
  if (options.warmups.empty()) options.warmups = {0, 100};
  if (options.seeds == 0) options.seeds = quick ? 3 : 6;
  if (options.model.steps == 0) options.model.steps = quick ? 220 : 400;
  if (options.threads == 0) options.threads = num_threads();
  // Each setting once, in order.
  const auto tidy = [](auto& values) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
  };
  tidy(options.depths), tidy(options.lrs), tidy(options.warmups);
}

/// "peri": Pre-LN and Peri-LN; "peri,deep": these two.
Placements placements_from(const std::string& words) {
  const std::size_t comma = words.find(',');
  const std::string first = comma == std::string::npos ? "pre" : words.substr(0, comma);
  const std::string last = words.substr(comma == std::string::npos ? 0 : comma + 1);
  kit::check_input(last.find(',') == std::string::npos,
                   "--placement: expects one, or two with a comma between, got {}", words);
  for (const std::string& name : {first, last})
    if (const std::string why = kit::wrong_block_names(name, "layer"); !why.empty()) fail_input(why);
  const Placements two = {placement_named(first), placement_named(last)};
  kit::check_input(two[0] != two[1], "--placement: {} cannot be compared with itself", title_of(two[1]));
  return two;
}

}  // namespace

std::optional<int> parse(int argc, const char* const* argv, LabOptions& options) {
  kit::CommandLine line(
      "lab", "Compares Pre-LN and Post-LN Transformers: at initialisation, in training, in ablations.");
  options.model.steps = options.seeds = 0;  // until one is given or filled in
  std::string placement = "post";
  auto seed = static_cast<std::int64_t>(options.seed);
  line.flag("--quick", options.quick, "Fewer runs: about a minute on two fast cores");
  line.path("--text", options.text, "Train on the characters of this file instead of the built-in language");
  line.text("--placement", placement,
            "What is compared with Pre-LN; A,B: one with another; list: all there are");
  line.path("--out", options.out, "Folder for the report and the files; lab-results/<date> when not given");
  line.path("--resume", options.resume, "Go on with a lab that was stopped, in its folder");
  line.integer("--seed", seed, "First seed; the others follow it", kit::at_least(0));
  line.integer("--threads", options.threads, "Runs trained side by side; all cores when not given", kThreads);
  line.integer("--seeds", options.seeds, "Runs of each setting; 6, or 3 with --quick", kSeeds);
  line.list("--depths", options.depths, "Numbers of layers", kDepths);
  line.list("--lrs", options.lrs, "Learning rates (after warm-up)", kit::above(0));
  line.list("--warmups", options.warmups, "Warm-up steps", kWarmups);
  line.integer("--steps", options.model.steps, "Training steps of each run; 400, or 220 with --quick",
               kSteps);
  line.footer(
      "The studies behind the ledger of claims are words in the place of options:\n  lab studies             "
      " lists them\n"
      "  lab STUDY                runs one; --quick, --full, --shard I/N, --data PATH; lab STUDY --help\n"
      "  lab claims, lab claim N  the quick form of all, of one claim's; --standard, --full\n"
      "  lab merge DIR... --out DIR  joins the parts of several machines\n"
      "lab report DIR draws the report in DIR again from the files beside it.\n\nExamples:\n  lab --quick\n  "
      "lab --text book.txt --depths 2,8,16 --lrs 0.001,0.003,0.01 --warmups 0,200\n  lab --quick --placement "
      "peri\n  lab --resume "
      "lab-results/2024-05-01-120000\n\nExit status: 0 done; 1 an error; 2 a wrong command line; 128 + N "
      "stopped by signal N (130: Ctrl-C)");
  if (const auto status = line.parse(argc, argv)) return status;
  if (!options.resume.empty())
    for (const char* name : {"--quick", "--text", "--placement", "--out", "--seed", "--seeds", "--depths",
                             "--lrs", "--warmups", "--steps"})
      if (line.given(name)) {
        kit::print_error(
            fmt::format("lab: {} cannot change a lab under way; only --threads goes with --resume\n", name));
        return 2;
      }
  if (placement == "list") {
    kit::print(nn::list_placements());
    return 0;
  }
  options.threads_given = line.given("--threads");
  options.seed = static_cast<std::uint64_t>(seed);
  options.initialisation.seed = options.seed;
  fill_defaults(options);
  try {
    options.placements = options.initialisation.placements = placements_from(placement);
    check_number_of_runs(options);
  } catch (const Error& error) {
    kit::print_error(fmt::format("lab: {}\n", error.what()));
    return 2;
  }
  return std::nullopt;
}

void check_number_of_runs(const LabOptions& options) {
  const auto count = [](const auto& values) { return static_cast<double>(values.size()); };
  const double runs = (count(options.depths) * count(options.lrs) * count(options.warmups) + 2) * 2 *
                      static_cast<double>(options.seeds);
  kit::check_input(runs <= static_cast<double>(kMostRuns),
                   "depths x rates x warm-ups x seeds make {:.0f} runs, expects at most {}", runs, kMostRuns);
}

RunOptions ablation_setting(const LabOptions& options) {
  const std::vector<std::int64_t>& depths = options.depths;
  const std::vector<double>& lrs = options.lrs;
  return {.layers = depths[depths.size() / 2],
          .lr = lrs[(lrs.size() - 1) / 2],
          .warmup = options.warmups.front()};
}

std::vector<RunOptions> plan_runs(const LabOptions& options) {
  std::vector<RunOptions> runs;
  const auto add_seeds = [&](RunOptions run) {
    for (std::int64_t i = 0; i < options.seeds; ++i) {
      run.seed = options.seed + static_cast<std::uint64_t>(i);
      runs.push_back(run);
    }
  };
  for (const std::int64_t layers : options.depths)
    for (const double lr : options.lrs)
      for (const std::int64_t warmup : options.warmups)
        for (const Placement& placement : options.placements)
          add_seeds({.placement = placement, .layers = layers, .lr = lr, .warmup = warmup});
  for (const Placement& placement : options.placements) {
    const nn::Placement library = in_library(placement);
    RunOptions run = ablation_setting(options);
    run.placement = placement;
    if (!library.leave) {                    // which is the end of its streams, and no choice
      run.final_norm = !library.final_norm;  // the other way round than the placement has it
      add_seeds(run);
    }
    run.final_norm.reset();
    run.residual_scaling = true;
    add_seeds(run);
  }
  return runs;
}

}  // namespace gradus::lab
