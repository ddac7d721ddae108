#pragma once
// The parts of the study `rates`: rate x warm-up x depth for Pre-LN and Post-LN.

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "lab/study/page.h"
#include "lab/study/study.h"

namespace gradus::lab::rates {

/// In the order of all tables and charts; the place is the style of a line.
inline const std::array<std::string, 2> kPlacements = {"Pre-LN", "Post-LN"};

/// What is trained: every depth with every rate and every warm-up.
struct Grid {
  std::int64_t steps = 0;
  std::vector<std::int64_t> depths;
  std::vector<double> lrs;            // rising, each about three times the one before
  std::vector<std::int64_t> warmups;  // 0 first; the second, a quarter of the steps, is what measures call
                                      // "with warm-up"
  std::vector<std::uint64_t> seeds;

  std::int64_t warmup() const { return warmups[1]; }
  /// Rates x warm-ups: how often each placement may try.
  std::size_t tries() const { return lrs.size() * warmups.size(); }
};
Grid grid_of(const StudyOptions& options);

/// All rates of one model.
struct Sweep {
  std::string placement;
  std::int64_t layers = 0;
  std::int64_t warmup = 0;
};
std::string run_name(const Sweep& sweep, double lr, std::uint64_t seed);

/// What a search chose for one seed, on the other seeds.
struct Best {
  double value = 0;  // of the seed itself: its loss, or its steps to the target
  double lr = 0;
  std::int64_t warmup = 0;
};

/// The results by what was asked of them; nothing where a run that is needed has not finished.
class View {
 public:
  explicit View(const StudyResults& all) : results(all), grid(grid_of(all.options)) {}

  using Numbers = std::optional<std::vector<double>>;
  Numbers losses(const Sweep& sweep, std::uint64_t seed) const;  // by rate
  /// Steps to the target loss, by rate; all the steps there were where it was not reached.
  Numbers steps(const Sweep& sweep, std::uint64_t seed) const;
  /// The rate and the warm-up, of those given, at which the *other* seeds have the lowest loss.
  std::optional<Best> best(const std::string& placement, std::int64_t layers,
                           const std::vector<std::int64_t>& warmups, std::uint64_t seed) const;
  /// Of all warm-ups there are.
  std::optional<Best> best(const std::string& placement, std::int64_t layers, std::uint64_t seed) const;
  /// Where the other seeds reach the target loss soonest.
  std::optional<Best> soonest(const std::string& placement, std::int64_t layers, std::uint64_t seed) const;
  /// The largest rate that trains, and the steps to the target loss there.
  std::optional<std::pair<double, double>> largest(const Sweep& sweep, std::uint64_t seed) const;
  /// The best loss over rates without warm-up minus that with it.
  std::optional<double> gain(const std::string& placement, std::int64_t layers, std::uint64_t seed) const;

  const StudyResults& results;
  const Grid grid;

 private:
  std::optional<Best> chosen(const std::string& placement, std::int64_t layers,
                             const std::vector<std::int64_t>& warmups, std::uint64_t seed,
                             Numbers (View::*numbers)(const Sweep&, std::uint64_t) const) const;
};

Figures figures(const StudyResults& results);
void report(Page& page, const StudyResults& results);

// Charts. Those by depth have a panel for each.
kit::Panels loss_by_rate(const View& view, std::int64_t warmup);
kit::HeatMap learned_map(const View& view, std::int64_t warmup);
kit::Panels sensitivity_by_depth(const View& view);
kit::Panels largest_by_depth(const View& view);
kit::Panels loss_by_warmup(const View& view);
kit::Panels curves_at_best(const View& view);

/// "without warm-up", "with 95 steps of warm-up"
std::string warmup_title(std::int64_t warmup);

}  // namespace gradus::lab::rates
