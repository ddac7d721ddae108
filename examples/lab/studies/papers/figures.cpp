// One number per judging seed for each finding, and the referee's objections.

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <optional>
#include <utility>

#include "lab/claims/referee.h"
#include "lab/statistics/outcomes.h"
#include "lab/statistics/statistics.h"
#include "lab/studies/best/best.h"
#include "lab/studies/charts.h"
#include "lab/studies/papers/keys.h"
#include "lab/studies/papers/papers.h"
#include "lab/studies/search.h"

namespace gradus::lab::papers {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// The loss of arm a minus that of arm b.
struct Difference {
  const char *id, *a, *b;
};
constexpr Difference kDifferences[] = {{"b2t-minus-post.L6", "b2t-L6", "post-L6"},
                                       {"residual-minus-post.L6", "residual-L6", "post-L6"},
                                       {"residual-minus-pre.L6", "residual-L6", "pre-L6"},
                                       {"residual-minus-pre.L18", "residual-L18", "pre-L18"},
                                       {"mix-minus-pre.L18", "mix-L18", "pre-L18"},
                                       {"fixup-minus-pre.L18", "fixup-L18", "pre-L18"},
                                       {"tfixup-minus-pre.L18", "tfixup-cold-L18", "pre-L18"},
                                       {"tfixup-gain.L18", "tfixup-cold-L18", "tfixup-warm-L18"},
                                       {"scalenorm-minus-layernorm.L6", "scalenorm-L6", "pre-L6"}};

/// Whether an arm trains; if it does so on no seed, the control must.
struct Training {
  const char *id, *arm, *control;
};
constexpr Training kTrainings[] = {{"trains.admin.L18", "admin-L18", "pre-L18"},
                                   {"trains.post.L18", "post-L18", "pre-L18"},
                                   {"trains.b2t.L18", "b2t-L18", "pre-L18"},
                                   {"trains.residual.L18", "residual-L18", "pre-L18"},
                                   {"trains.fixup.L18", "fixup-L18", "pre-L18"},
                                   {"trains.tfixup.L18", "tfixup-cold-L18", "pre-L18"},
                                   {"trains.deepnorm.L100", "deepnorm-L100", "post-L100"},
                                   {"trains.post.L100", "post-L100", "deepnorm-L100"}};

/// Whether arm a ends below arm b by more than a margin: also where b fails.
constexpr Difference kBelow[] = {{"fixup-below-none.L18", "fixup-L18", "none-L18"}};
constexpr double kMargin = 0.01;

/// A number of trained models: arm a, or a minus b.
struct Look {
  const char *id, *number, *a, *b;
};
constexpr Look kLooks[] = {{"growth.pre-minus-peri.L18", "growth", "pre-L18", "peri-L18"},
                           {"bend.pre.L18", "bend", "pre-L18", ""},
                           {"slope.peri.L18", "slope", "peri-L18", ""},
                           {"share.mix-minus-pre.L18", "drop-share", "mix-L18", "pre-L18"}};

bool trains(double loss) { return loss < best::learned_loss(); }

class AllFigures {
 public:
  explicit AllFigures(const StudyResults& results) : results_(results), grid_(grid_of(results.options)) {}

  Figures result() && {
    for (const Training& one : kTrainings) add_training(one);
    for (const Difference& one : kDifferences) add_difference(one);
    for (const Difference& one : kBelow) add_below(one);
    for (const Look& one : kLooks) add_look(one);
    for (const KeyKind& kind : key_kinds())
      all_["unselectable." + kind.name] =
          finite(keys_runs(results_, grid_.judging, kind).by_seed("unselectable"));
    return std::move(all_);
  }

 private:
  /// Nothing if this form of the study does not have one of the arms, or a search has not ended.
  std::vector<ArmResults> arms(std::initializer_list<const char*> names) const {
    std::vector<ArmResults> found;
    for (const char* name : names) {
      const std::optional<ArmResults> arm = results_of(results_, grid_, name);
      if (!arm || !arm->chosen()) return {};
      found.push_back(*arm);
    }
    return found;
  }

  /// Values of the seeds without a failed run, out of so many finished ones, and the objections to the arms.
  void add(const std::string& id, const std::vector<double>& values, std::size_t finished,
           const std::vector<ArmResults>& compared) {
    for (const ArmResults& arm : compared)
      all_.object(id, trains_nowhere(finite(arm.losses()), best::learned_loss(), arm.arm().title));
    const std::vector<double> kept = finite(values);
    for (const double value : kept) all_[id].push_back(value);
    all_.object(id, failed_runs(kept.size(), finished));
    for (const ArmResults& arm : compared) all_.object(id, end_of_search(arm.at_edge(), arm.arm().title));
  }

  void add_training(const Training& one) {
    const std::vector<ArmResults> found = arms({one.arm});
    if (found.empty()) return;
    std::int64_t trained = 0;
    for (const double loss : finite(found[0].losses())) {
      all_[one.id].push_back(trains(loss) ? 1 : 0);
      trained += trains(loss) ? 1 : 0;
    }
    if (!all_.contains(one.id)) return;
    // At an edge a better rate may lie outside, so a failure is none.
    if (2 * trained <= std::ssize(all_[one.id]))
      all_.object(one.id, end_of_search(found[0].at_edge(), found[0].arm().title));
    if (trained > 0) return;
    std::int64_t working = 0, seeds = 0;
    const std::optional<ArmResults> control = results_of(results_, grid_, one.control);
    for (const double loss : control ? finite(control->losses()) : std::vector<double>{})
      ++seeds, working += trains(loss) ? 1 : 0;
    all_.object(one.id, no_control(working, seeds, control ? control->arm().title : one.control));
  }

  void add_difference(const Difference& one) {
    const std::vector<ArmResults> found = arms({one.a, one.b});
    if (found.empty()) return;
    const std::vector<double> a = best::without_failed(found[0].losses()),
                              b = best::without_failed(found[1].losses());
    add(one.id, minus(a, b), finite(minus(found[0].losses(), found[1].losses())).size(), found);
    for (const std::vector<double>& losses : {finite(a), finite(b)}) {
      if (losses.empty()) continue;
      const double above = mean(losses) - best::task().entropy().value();
      const auto [known, is_new] = all_.headroom.emplace(one.id, above);
      if (!is_new) known->second = std::min(known->second, above);
    }
  }

  void add_below(const Difference& one) {
    const std::vector<ArmResults> found = arms({one.a, one.b});
    if (found.empty()) return;
    for (const double difference : finite(minus(found[0].losses(), found[1].losses())))
      all_[one.id].push_back(difference < -kMargin ? 1 : 0);
    all_.object(one.id,
                trains_nowhere(finite(found[0].losses()), best::learned_loss(), found[0].arm().title));
    for (const ArmResults& arm : found) all_.object(one.id, end_of_search(arm.at_edge(), arm.arm().title));
  }

  /// Of the models that train.
  std::vector<double> looks(const ArmResults& arm, const char* number) const {
    std::vector<double> values = arm.numbers(number);
    const std::vector<double> losses = arm.losses();
    for (std::size_t s = 0; s < values.size(); ++s)
      if (!trains(losses[s])) values[s] = kNan;
    return values;
  }

  void add_look(const Look& one) {
    const bool two = *one.b != '\0';
    const std::vector<ArmResults> found = two ? arms({one.a, one.b}) : arms({one.a});
    if (found.empty()) return;
    std::vector<double> values = looks(found[0], one.number), losses = found[0].losses();
    if (two) values = minus(values, looks(found[1], one.number)), losses = minus(losses, found[1].losses());
    add(one.id, values, finite(losses).size(), found);
  }

  const StudyResults& results_;
  Grid grid_;
  Figures all_;
};

}  // namespace

Figures figures(const StudyResults& results) { return AllFigures(results).result(); }

}  // namespace gradus::lab::papers
