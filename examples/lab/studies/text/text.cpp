#include "lab/studies/text/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>

#include "gradus/core/check.h"
#include "gradus/core/io/printable.h"
#include "gradus/gradus.h"
#include "gradus/kit/data/text_data.h"
#include "gradus/kit/program/language_model.h"
#include "lab/studies/studies.h"
#include "lab/studies/text/comparison.h"
#include "lab/study/outcome.h"

namespace gradus::lab::real_text {

namespace {

using Path = std::filesystem::path;

constexpr std::int64_t kContext = 32, kBatch = 16;

Measured measure(const Task& task, const TrialOptions& options) {
  nn::GPT model = new_gpt(task, options);
  const TrialResult result = train(task, model, options);
  return {.numbers = {{"loss", result.final_loss},
                      {"diverged", result.diverged},
                      {"context-free", task.context_free_loss()},
                      {"bigram", task.ngram().losses.at(1)}},
          .series = {{"losses", slice_means(result.losses, kParts)}}};
}

/// For each seed, the share of steps after which Pre-LN without warm-up reaches the final loss of Post-LN
/// with it, each at its best rate.
std::vector<double> shares(const StudyResults& results, const Found& pre, const Found& post) {
  std::vector<double> found;
  for (std::size_t seed = 0; seed < pre.runs.size(); ++seed) {
    const std::vector<double> losses = results.series(pre.runs[seed], "losses"),
                              target = results.series(post.runs[seed], "losses");
    if (!losses.empty() && !target.empty()) found.push_back(share_to(losses, target.back()));
  }
  return found;
}

}  // namespace

std::vector<Path> files_of(const Path& data) {
  const Path file = std::filesystem::is_directory(data) ? data / "tinyshakespeare.txt" : data;
  check_input(std::filesystem::is_regular_file(file),
              "--data: expects a text file, or a folder with tinyshakespeare.txt, got {}",
              io::printable(data.string()));
  kit::read_text(file, "--data");  // throws if it is not a text, before anything is written
  return {file};
}

Grid grid_of(const StudyOptions& options) {
  const bool quick = options.budget == Budget::quick, full = options.budget == Budget::full;
  Grid grid{.placements = {"Pre-LN", "Post-LN"},
            .depths = {4, 12},
            .warmups = {0, quick ? 15 : 100},
            .rates = {2e-3},
            .seeds = seeds_from(options.seed, full ? 5 : 3),
            .steps = quick ? 60 : 600};
  if (quick) return grid;
  grid.rates = {5e-4, 2e-3, 8e-3};
  return grid;
}

std::string run_name(const Setting& setting, std::uint64_t seed) {
  const std::string placement = setting.placement.substr(0, setting.placement.find('-'));
  std::string name =
      fmt::format("{}-L{}-w{}-lr{}-s{}", placement, setting.layers, setting.warmup, setting.rate, seed);
  name[0] = static_cast<char>(name[0] - 'A' + 'a');
  return name;
}

TrialOptions trial_options(const Setting& setting, std::int64_t steps, std::uint64_t seed) {
  return {.placement = nn::placement_named(setting.placement),
          .layers = setting.layers,
          .block = {.d_model = 64, .heads = 4},
          .lr = setting.rate,
          .warmup = setting.warmup,
          .schedule = [warmup = setting.warmup,
                       steps](double lr) { return optim::warmup_cosine(lr, warmup, steps, lr / 10); },
          .optimizer =
              [](const nn::GPT& model, const optim::Schedule& lr) {
                return std::make_unique<optim::AdamW>(
                    kit::decay_matrices(model),
                    optim::AdamWOptions{.lr = lr, .betas = {0.9, 0.99}, .weight_decay = 0.1});
              },
          .clip = 1,
          .steps = steps,
          .batch = kBatch,
          .seed = seed};
}

nn::GPT new_gpt(const Task& task, const TrialOptions& options) {
  return new_model(task, options, [](const nn::GPT& model, std::uint64_t seed) {
    Generator generator(seed);
    nn::init::gpt2_(model, {.residual_layers = model.options().layers}, generator);
  });
}

std::vector<Search> Grid::searches(const std::string& placement, std::int64_t layers,
                                   const std::vector<std::int64_t>& of_warmups) const {
  std::vector<Search> all;
  for (const std::int64_t warmup : of_warmups)
    all.push_back({.rates = rates, .seeds = seeds, .run = [=](double rate, std::uint64_t seed) {
                     return run_name({placement, layers, warmup, rate}, seed);
                   }});
  return all;
}

double seconds_of(std::int64_t layers, std::int64_t steps) {
  return 0.3 + 2.6e-3 * static_cast<double>(layers) * static_cast<double>(steps + 10);
}

std::shared_ptr<Shared<Task>> shared_text(const Path& data) {
  static std::mutex mutex;
  static std::map<Path, std::weak_ptr<Shared<Task>>> texts;
  const std::lock_guard lock(mutex);
  std::weak_ptr<Shared<Task>>& known = texts[data];
  std::shared_ptr<Shared<Task>> text = known.lock();
  if (!text) {
    text =
        std::make_shared<Shared<Task>>([data] { return Task(files_of(data).front(), kContext, "--data"); });
    known = text;
  }
  return text;
}

std::optional<double> of_any_run(const StudyResults& results, const std::string& name) {
  if (results.records.empty()) return std::nullopt;
  return results.number(results.records.begin()->first, name);
}

double share_to(const std::vector<double>& losses, double target) {
  if (losses.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto there = std::find_if(losses.begin(), losses.end(), [&](double loss) { return loss <= target; });
  if (there == losses.end()) return 1;
  double parts = static_cast<double>(there - losses.begin());
  parts += there == losses.begin() ? 1 : (*(there - 1) - target) / (*(there - 1) - *there);
  return parts / static_cast<double>(losses.size());
}

namespace {

std::vector<StudyRun> plan(const StudyOptions& options) {
  const Grid grid = grid_of(options);
  const auto text = shared_text(options.data);
  std::vector<StudyRun> runs;
  for (const std::uint64_t seed : grid.seeds)
    for (const std::int64_t layers : grid.depths)
      for (const std::string& placement : grid.placements)
        for (const std::int64_t warmup : grid.warmups)
          for (const double rate : grid.rates) {
            const Setting setting{placement, layers, warmup, rate};
            runs.push_back({.name = run_name(setting, seed),
                            .seconds = seconds_of(layers, grid.steps),
                            .measure = [text, trial = trial_options(setting, grid.steps, seed)] {
                              return measure(text->get(), trial);
                            }});
          }
  for (StudyRun& run : searches_plan(options)) runs.push_back(std::move(run));
  return runs;
}

}  // namespace

Figures first_figures(const StudyResults& results) {
  const Grid grid = grid_of(results.options);
  Figures all;
  for (const std::int64_t layers : grid.depths) {
    const std::string at = fmt::format(".L{}", layers);
    const auto best = [&](const char* placement, const std::vector<std::int64_t>& warmups) {
      return best_of(results, grid.searches(placement, layers, warmups));
    };
    all["end" + at] =
        paired_difference(best("Post-LN", grid.warmups).values, best("Pre-LN", grid.warmups).values);
    const Found pre = best("Pre-LN", {0}), post = best("Post-LN", {grid.warmups.back()});
    all["without" + at] = paired_difference(pre.values, post.values);
    all["time" + at] = shares(results, pre, post);
  }
  return all;
}

}  // namespace gradus::lab::real_text

namespace gradus::lab {

Study text_study() {
  return {.name = "text",
          .title = "Real text",
          .question = "What do placement and warm-up do to a small GPT on real text?",
          .setting =
              "GPTs of width 64 on characters of tiny Shakespeare: steps of 16 windows of 32, AdamW with "
              "decay 0.1, gradients clipped to 1, half a cosine down to a tenth. Pre-LN and Post-LN with 4 "
              "and 12 blocks, 3000 steps, from the first step on or after 500 steps of linear warm-up, "
              "GPT-2's initial weights or N(0, 1/fan_in), rates 0.00025 to 0.016; Pre-LN and layer-norm "
              "scaling with 24 blocks, 800 steps, warm-up over 100, GPT-2's initial weights, the same "
              "without smaller matrices into the stream, or N(0, 1/fan_in), rates 0.001 to 0.008. Rates are "
              "a factor of 2 apart, and beyond where the best is the first or last (0.000125 to 0.032). For "
              "each placement, depth and warm-up all settings on one seed, the best 3 on a second, 2 on a "
              "third; twelve other seeds judge the best, ten with 24 blocks. Readout: the loss on the last "
              "tenth of the text (nats per character), and what dropping one layer adds to it, paired within "
              "a seed. A first measurement of 600 steps with three rates, on 5 seeds, is on the page and "
              "decides no claim.",
          .scope = "tiny Shakespeare, width 64, 3000 steps, the better of two initial weights",
          .plan = real_text::plan,
          .figures = real_text::figures,
          .report = real_text::report,
          .data = "a text file such as tiny Shakespeare, or a folder with tinyshakespeare.txt",
          .files = real_text::files_of,
          .next = real_text::next};
}

}  // namespace gradus::lab
