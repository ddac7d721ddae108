#pragma once
// The parts of the study `size`: sensitivity to the rate and best loss of Pre-LN and Post-LN by width and by
// depth, with warm-up, and in some sizes also without it, with QK-norm and with z-loss.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lab/studies/charts.h"
#include "lab/study/halving.h"
#include "lab/study/study.h"

namespace gradus::lab::sizes {

inline const std::array<std::string, 2> kPlacements = {"Pre-LN", "Post-LN"};

/// Each of the others differs from the first in one thing.
inline const std::vector<Titled> kVariants = {
    {"warm", "warm-up"}, {"qk", "warm-up, QK-norm"}, {"z", "warm-up, z-loss"}, {"cold", "no warm-up"}};

/// A rate is near the best one if its loss is at most so much higher (nats).
inline constexpr double kNear = 0.1;
/// Rates that a search keeps after its first seed.
inline constexpr std::size_t kKept = 2;

struct Size {
  std::int64_t width = 0, layers = 0;
  bool operator==(const Size&) const = default;
  std::string title() const;  // "width 64, 6 layers"
};

struct Arm {
  std::string placement;
  Size size;
  std::string variant = "warm";
  std::string model() const;  // "post-d64-L6"
  std::string title() const;  // "Post-LN, width 64, 6 layers, warm-up, QK-norm"; without "warm-up" alone
};

/// A size, and the numbers of its seeds.
struct SizeSeeds {
  Size size;
  std::int64_t judging = 0;    // with warm-up, at all rates
  std::int64_t others = 0;     // of these, also of each other variant
  std::int64_t searching = 0;  // the rate of the best loss, with warm-up
};

/// The sizes that differ in one of their numbers.
struct Line {
  std::string name;  // "width" or "depth"
  std::vector<Size> sizes;
  std::vector<double> x;  // that number
};

struct Grid {
  std::int64_t steps = 0, warmup = 0;
  std::vector<SizeSeeds> sizes;     // the first is where the lines meet; widths and depths rise
  std::vector<double> ladder;       // of rates, rising
  std::size_t first = 0, last = 0;  // indices in the ladder: the rates of all runs but those of a search
  std::uint64_t searching_from = 0, judging_from = 0;

  std::vector<double> rates() const;
  /// Seeds at all rates; none where the variant is not run at this size.
  std::vector<std::uint64_t> judging(const Arm& arm) const;
  std::vector<std::uint64_t> searching(const Size& size) const;
  std::vector<Arm> arms() const;
  std::array<Line, 2> both_lines() const;
};
Grid grid_of(const StudyOptions& options);
std::string run_name(const Arm& arm, double lr, std::uint64_t seed);

/// One number for each judging seed: NaN if a run of the seed has failed, and where not all have finished.
struct BySeed {
  std::vector<double> values;
  std::vector<bool> finished;
};
/// a - b for the seeds that both have.
BySeed difference(const BySeed& a, const BySeed& b);
/// What a doubling of x adds, seed by seed, from the sizes that are run with the seed, of which there must be
/// three. A seed with a failed run at one of them has no slope.
BySeed slopes(const std::vector<double>& x, const std::vector<BySeed>& by_size);

/// The length of the range of rates near the best one, in steps of the grid, its ends interpolated between
/// rates: a count would often be the same on all seeds, and its interval have no width. A failed run, NaN, is
/// not near. NaN where all have failed.
double range_near_best(const std::vector<double>& losses);

/// An arm's judging seeds at all rates of the grid.
class Sweep {
 public:
  Sweep(const StudyResults& results, const Grid& grid, const Arm& arm);

  const Arm& arm() const { return arm_; }
  /// Wortsman et al. 2023 (arXiv:2309.14322), of seeds without failed runs.
  BySeed sensitivities() const;
  /// How far the rates near the best reach: see range_near_best(). NaN only where all runs have failed.
  BySeed near_best() const;
  /// [rate][seed]; NaN where a run has not finished.
  std::vector<std::vector<double>> by_rate() const;
  /// Of the finished runs.
  std::vector<double> losses() const;
  /// Whether the lowest mean loss is at the first or last rate.
  bool at_edge() const;

 private:
  template <class Number>
  BySeed of_each(const Number& number) const;

  Arm arm_;
  std::size_t rates_;
  std::vector<std::vector<double>> by_seed_;
};

/// The rate that the searching seeds choose, and the losses of the judging seeds there.
struct Chosen {
  Searched searched;
  std::optional<double> rate = {};
  std::vector<double> losses = {};  // NaN where a run has not finished
  BySeed surviving() const;
};
Chosen chosen_of(const StudyResults& results, const Grid& grid, const Arm& arm);

Figures figures(const StudyResults& results);
void report(Page& page, const StudyResults& results);

}  // namespace gradus::lab::sizes
