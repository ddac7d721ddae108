// The stacks and the settings of the study `text-variants`.

#include <fmt/format.h>

#include "gradus/core/check.h"
#include "gradus/core/io/printable.h"
#include "lab/studies/blocks/mutants.h"
#include "lab/studies/text_variants/variants.h"

namespace gradus::lab::text_variants {

namespace {

// From the first seed on: no seed both searches and judges.
constexpr std::uint64_t kSearching = 300, kJudging = 400;

std::vector<Stack> make_stacks() {
  std::vector<Stack> all;
  for (const blocks::Variant& variant : blocks::variants())
    all.push_back({.name = variant.name,
                   .title = variant.title,
                   .placement = variant.placement,
                   .final_norm = variant.final_norm,
                   .each_scheme = variant.meant.empty()});
  const nn::MakeNorm rms = nn::make_norm<nn::RMSNorm>, none = nn::make_norm<nn::Identity>;
  all.push_back({.name = "rms-pre", .title = "Pre-LN with RMSNorm", .placement = nn::pre_ln(), .norm = rms});
  all.push_back(
      {.name = "rms-post", .title = "Post-LN with RMSNorm", .placement = nn::post_ln(), .norm = rms});
  all.push_back(
      {.name = "none", .title = "no norms", .placement = nn::pre_ln(), .norm = none, .each_scheme = true});
  return all;
}

}  // namespace

const std::vector<Stack>& stacks() {
  static const std::vector<Stack> all = make_stacks();
  return all;
}

const Stack& stack_named(const std::string& name) {
  for (const Stack& stack : stacks())
    if (stack.name == name) return stack;
  fail_with("text-variants: there is no stack {}", io::quote(name));
}

Grid grid_of(const StudyOptions& options) {
  const auto seeds = [&](std::uint64_t from, std::int64_t count) {
    return seeds_from(options.seed + from, count);
  };
  Grid grid{.layers = 6,
            .steps = 500,
            .warmup = 100,
            .schemes = {"fan_in", "xavier", "small", "tfixup"},
            .ladder = {2.5e-4, 5e-4, 1e-3, 2e-3, 4e-3, 8e-3, 1.6e-2, 3.2e-2, 6.4e-2},
            .first = 3,
            .last = 5,
            .searching = seeds(kSearching, 3),
            .judging = seeds(kJudging, 8),
            .kept = {2},
            .floor = seeds(kJudging, 2)};
  if (options.budget == Budget::full) return grid;
  grid.searching = seeds(kSearching, 2), grid.judging = seeds(kJudging, 5);
  if (options.budget == Budget::standard) {
    grid.steps = 300, grid.warmup = 60;
  } else {
    grid.layers = 1, grid.steps = 10, grid.warmup = 2;
    grid.schemes = {"fan_in", "small"};
    grid.ladder = {2e-3, 4e-3, 8e-3, 1.6e-2}, grid.first = 0, grid.last = 2;
    grid.searching = seeds(kSearching, 1), grid.judging = seeds(kJudging, 3);
  }
  return grid;
}

std::string run_name(const std::string& stack, const std::string& scheme, double rate, std::uint64_t seed) {
  return fmt::format("{}-{}-lr{}-s{}", stack, scheme, rate, seed);
}

}  // namespace gradus::lab::text_variants
