#pragma once
// Optimizer: the base of all optimizers, with parameter groups, the step over all parameters and the state.

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "gradus/core/io/state_dict.h"
#include "gradus/core/tensor.h"
#include "gradus/optim/schedule.h"

namespace gradus::optim {

/// Parameters with their own settings; those not given are the optimizer's:
/// `AdamW opt({{.parameters = matrices}, {.parameters = rest, .weight_decay = 0}}, {.lr = 3e-4});`
struct ParameterGroup {
  std::vector<Tensor> parameters;           // the group's
  std::optional<Schedule> lr = {};          // not given: the optimizer's
  std::optional<double> weight_decay = {};  // not given: the optimizer's
};

/// Updates parameters from their gradients, step by step.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// Updates every parameter that has a gradient and is not frozen. Throws when there is none, and when a
  /// module's parameter got a gradient together with the others but is in no optimizer (and parameters() did
  /// not return it before the optimizer was made): its module was not added, or added too late.
  void step();
  /// Drops the gradients, so that the next backward does not add to them.
  void zero_grad();

  /// Updates done so far.
  std::int64_t steps() const { return steps_; }
  /// The learning rate of the next update.
  double lr(std::size_t group = 0) const;
  /// Sets the rate from the next update on, of one group, or of all groups, including those added later
  /// without their own rate: a number, or a function of the step, which still counts from the first update.
  /// `opt.set_lr(1e-4); opt.set_lr(optim::warmup_cosine(1e-3, 100, 5000), 1);`
  void set_lr(const Schedule& lr, std::optional<std::size_t> group = {});
  const Schedule& schedule(std::size_t group = 0) const;
  std::size_t groups() const { return groups_.size(); }
  /// Adds parameters, such as those of a layer that was frozen so far; throws, changing nothing, like the
  /// constructor. `opt.add_group({encoder.parameters(), 1e-5});` Adam's bias correction starts at step 1 for
  /// them, but a schedule gets the optimizer's step: after 100 steps a warm-up of 50 is over. To start it at
  /// step 100, shift it: `.lr = [warmup](auto step) { return warmup(step - 100); }`
  void add_group(ParameterGroup group);

  /// The state as tensors: "steps", and for parameter number i "i.step" and "i.<name>" such as "i.exp_avg".
  /// It does not contain learning rates.
  StateDict state_dict() const;
  /// Restores the state; throws, changing nothing, when a key, shape or count does not fit. First add the
  /// same groups as in the optimizer that saved it.
  void load_state_dict(const StateDict& dict);

 protected:
  /// A parameter and its optimizer state.
  struct Slot {
    Tensor parameter;
    std::size_t group;
    std::int64_t steps = 0;         // updates of this parameter, which may have had no gradient in some steps
    std::vector<Array> state = {};  // one per state name; empty before its first update
  };
  /// The settings of one update of one parameter.
  struct Update {
    double lr, weight_decay;
    std::int64_t step;  // of this parameter, from 1
  };

  Optimizer(const char* name, std::vector<ParameterGroup> groups, const Schedule& lr, double weight_decay,
            std::vector<const char*> state_names);

  /// Updates elements [begin, end) of one parameter; called from several threads for different elements.
  virtual void update(const Slot& slot, const Array& gradient, const Update& by, std::int64_t begin,
                      std::int64_t end) const = 0;

 private:
  struct Settings {
    Schedule lr;
    double weight_decay;
  };
  struct Job;
  void append(const ParameterGroup& group);
  void check_parameter(const Tensor& parameter, std::size_t number) const;
  std::vector<double> rates() const;
  Job prepare(Slot& slot, double rate);

  const char* name_;
  const char* step_name_;  // of its row in a profile
  std::vector<const char*> state_names_;
  Settings defaults_;  // for groups without their own
  std::vector<Settings> groups_;
  std::vector<Slot> slots_;
  std::int64_t steps_ = 0;
};

namespace detail {
/// One group holding all the parameters.
std::vector<ParameterGroup> one_group(std::vector<Tensor> parameters);
/// Checks of the options of Adam and similar optimizers.
void check_betas(const char* name, const std::pair<double, double>& betas);
void check_eps(const char* name, double eps);
}  // namespace detail

}  // namespace gradus::optim
