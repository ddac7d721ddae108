#pragma once
// ReduceLROnPlateau: a lower learning rate where a loss has stopped falling.

#include <cstdint>
#include <vector>

#include "gradus/core/io/state_dict.h"
#include "gradus/optim/optimizer.h"

namespace gradus::optim {

struct ReduceLROnPlateauOptions {
  bool maximize = false;       // the metric shall rise, as an accuracy: PyTorch's mode "max"
  double factor = 0.1;         // below 1
  std::int64_t patience = 10;  // calls without an improvement that are borne
  double threshold = 1e-4;     // an improvement is larger than this, relative to the best so far
  bool absolute = false;       // or in itself: PyTorch's threshold_mode "abs"
  std::int64_t cooldown = 0;   // calls after a reduction that do not count
  double min_lr = 0;
  double eps = 1e-8;  // smaller reductions are left out
};

/// Multiplies the rates of all groups by `factor` when a metric has not improved for more than `patience`
/// calls in a row; a metric of NaN is none. Rates that are functions of the step are multiplied as functions.
/// A rate set by set_lr() in between holds until the next reduction, which starts from the first ones.
///
///     optim::ReduceLROnPlateau plateau(opt, {.factor = 0.5, .patience = 3});
///     ...  plateau.step(validation_loss);  // once per epoch
class ReduceLROnPlateau {
 public:
  /// The optimizer must live as long as this.
  explicit ReduceLROnPlateau(Optimizer& optimizer, const ReduceLROnPlateauOptions& options = {});

  /// True when it lowered a rate.
  bool step(double metric);

  /// "best", "bad", "cooldown", and "i.scale" for group number i.
  StateDict state_dict() const;
  /// Takes the state back, and with it sets the optimizer's rates; throws, changing nothing, when it does not
  /// fit.
  void load_state_dict(const StateDict& dict);

 private:
  void look_for_groups();
  bool reduce();
  void set(std::size_t group);

  Optimizer& optimizer_;
  ReduceLROnPlateauOptions options_;
  std::vector<Schedule> rates_;  // as they were at first
  std::vector<double> scales_;   // what each is multiplied by
  double best_;
  std::int64_t bad_ = 0, cooldown_ = 0;  // calls without an improvement; calls yet to be left out
};

}  // namespace gradus::optim
