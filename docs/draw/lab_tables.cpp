// The figures in the text of docs/lab.md and README.md, from the same data as the charts:
//
//   lab_tables                     prints the tables that docs/lab.md quotes
//   lab_tables --check README.md   fails unless the page contains the sentence that follows from
//   docs/data/studies/compare

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <span>
#include <sstream>
#include <string>
#include <string_view>

#include "docs/draw/lab_figures.h"
#include "gradus/gradus.h"
#include "gradus/kit/data/files.h"
#include "lab/statistics/format.h"
#include "lab/studies/compare/analysis/verdict.h"
#include "lab/studies/compare/start.h"
#include "lab/studies/stack.h"

namespace {

using namespace gradus;
namespace compare = lab::compare;

void print_trap() {
  fmt::print("layers   one position   mean over 8   mean, one target     (two standard errors of {} seeds)\n",
             docs::kTrapSeeds);
  const auto value = [](const docs::TrapRow::Value& v) {
    return fmt::format("{:.2f} +- {:.2f}", v.mean, 2 * v.error);
  };
  for (const docs::TrapRow& row : docs::measure_trap())
    fmt::print("{:>6}   {}   {}  {}\n", row.layers, value(row.one_position), value(row.all_positions),
               value(row.one_target));
  fmt::print("\n");
}

void print_schemes() {
  const compare::Settings settings;
  std::vector<compare::InitialState> states;
  for (const compare::StartOptions& start : compare::plan_starts(settings.placements, settings.seed))
    if (start.layers == 32) states.push_back(compare::measure_start(start));
  fmt::print("|dL/dW2| of block 1 over block {}: median of 10 seeds (least to largest)\n",
             states.front().layers);
  fmt::print("{:<16} {:<23} {}\n", "initial weights", "Post-LN", "Pre-LN");
  const auto value = [](const compare::InitialState& s) {
    return fmt::format("{:.2f} ({:.2f} to {:.2f})", s.median.front(), s.low.front(), s.high.front());
  };
  const char* const names[] = {"Xiong et al.", "N(0, 1/fan_in)", "Xavier", "N(0, 0.02^2)", "GPT-2, scaled"};
  for (std::size_t i = 0; i + 1 < states.size(); i += 2)
    fmt::print("{:<16} {:<23} {}\n", names[i / 2], value(states[i + 1]), value(states[i]));
  fmt::print("{:<16} {:.4f}\n\n", "norms alone", lab::norms_alone(states.front().layers));
}

void print_shares() {
  compare::StartOptions options{.placement = nn::post_ln(), .seeds = 60};
  fmt::print("|dL/dW2| of block 1 over the last block, Post-LN: median of {} seeds (least to largest)\n",
             options.seeds);
  for (const std::int64_t layers : {32, 48}) {
    options.layers = layers;
    const compare::InitialState state = compare::measure_start(options);
    const lab::Spread share = lab::spread_of(state.weight_share);
    fmt::print("{} blocks  {:.2f} ({:.2f} to {:.2f})   norms alone {:.5f}\n", layers,
               lab::median(state.weight_share), share.low, share.high, lab::norms_alone(layers));
  }
}

void print_lab() {
  const compare::Analysis analysis = docs::analyse_lab();
  const compare::Comparisons all = compare::comparisons_of(analysis);
  fmt::print("{} runs of {} steps", analysis.finished, analysis.settings.steps);
  for (const auto& [name, value] : docs::read_lab().config.machine) fmt::print("; {} {}", name, value);
  fmt::print("\nMean over {} seeds of the loss at each seed's best rate and warm-up\n",
             analysis.settings.seeds);
  fmt::print("{:<8} {:>8} {:>8}   {:<20} {}\n", "layers", "Pre-LN", "Post-LN", "Pre-LN lower on",
             "Post-LN lower on");
  for (const compare::BestOfDepth& best : all.best)
    fmt::print("{:<8} {:>8.4f} {:>8.4f}   {:<20} {}\n", best.layers, best.loss[0], best.loss[1],
               lab::counted(best.comparison.difference.up, "seed"),
               lab::counted(best.comparison.difference.down, "seed"));
  for (const std::string& edge : compare::best_rates_at_the_edge(analysis.settings, all))
    fmt::print("Best rate at the edge of those tried: {}\n", edge);
  fmt::print("\n");
}

/// With line breaks replaced by single blanks.
std::string in_one_line(const std::string& text) {
  std::istringstream words(text);
  std::string line;
  for (std::string word; words >> word;) line += (line.empty() ? "" : " ") + word;
  return line;
}

int check_page(const char* path) {
  const std::string page = in_one_line(kit::read_file(path));
  const compare::Analysis analysis = docs::analyse_lab();
  int missing = 0;
  for (const std::string& words : {docs::lab_sentence(analysis), docs::lab_alternative(analysis)}) {
    if (page.find(words) != std::string::npos) continue;
    fmt::print("{} does not say what docs/data/studies/compare has:\n{}\n", path, words);
    ++missing;
  }
  return missing == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
  const std::span arguments(argv, static_cast<std::size_t>(argc));
  const std::string_view command = argc > 1 ? arguments[1] : "";
  if (command == "--check" && argc == 3) return check_page(arguments[2]);
  if (argc != 1) {
    std::fprintf(stderr, "usage: lab_tables [--check PAGE]\n");
    return 2;
  }
  const DefaultDType guard(f64);
  print_trap();
  print_schemes();
  print_lab();
  print_shares();
} catch (const std::exception& error) {
  std::fprintf(stderr, "lab_tables: %s\n", error.what());
  return 1;
}
