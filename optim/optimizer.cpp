#include "gradus/optim/optimizer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gradus/core/detail/format.h"
#include "gradus/core/profile/watch.h"
#include "gradus/core/tape/scope.h"
#include "gradus/core/threads/parallel.h"
#include "gradus/nn/detail/claims.h"
#include "gradus/optim/detail/describe.h"

namespace gradus::optim {

namespace {
// The number of elements a thread updates at a time: Adam's four arrays then fit into the second-level cache.
constexpr std::int64_t kPiece = 16384;
}  // namespace

std::string detail::describe(const Tensor& parameter, std::size_t number) {
  const std::string name =
      nn::is_parameter(parameter) ? parameter.node()->label : fmt::format("parameter {}", number);
  return fmt::format("{} {}", name, parameter.shape());
}

std::vector<ParameterGroup> detail::one_group(std::vector<Tensor> parameters) {
  std::vector<ParameterGroup> groups(1);
  groups[0].parameters = std::move(parameters);
  return groups;
}

void detail::check_betas(const char* name, const std::pair<double, double>& betas) {
  for (const double beta : {betas.first, betas.second})
    check(beta >= 0 && beta < 1, "{}: expects betas in [0, 1), got {} and {}", name, betas.first,
          betas.second);
}

void detail::check_eps(const char* name, double eps) {
  // If an element's gradient has always been 0, its update is divided by eps.
  check(eps >= std::numeric_limits<float>::min() && std::isfinite(eps),
        "{}: expects an eps of 1.2e-38 or more, else an element that never had a gradient is divided by 0, "
        "got {}",
        name, eps);
}

static void check_rate(const char* name, const Schedule& lr) {
  if (const auto rate = lr.fixed())
    check(*rate >= 0 && std::isfinite(*rate), "{}: expects a learning rate of 0 or more, got {}", name,
          *rate);
}

/// Throws if there are no parameters to train.
static void expect_parameters(const char* name, bool any) {
  check(any,
        "{}: got no parameters: pass model.parameters(), of a model whose parts are declared as "
        "`nn::Linear fc = add(\"fc\", nn::Linear(...));`",
        name);
}

Optimizer::Optimizer(const char* name, std::vector<ParameterGroup> groups, const Schedule& lr,
                     double weight_decay, std::vector<const char*> state_names)
    : name_(name),
      step_name_(intern(fmt::format("{} step", name))),
      state_names_(std::move(state_names)),
      defaults_{lr, weight_decay} {
  for (const ParameterGroup& group : groups) append(group);
  expect_parameters(name_, !slots_.empty());
}

void Optimizer::add_group(ParameterGroup group) {
  expect_parameters(name_, !group.parameters.empty());
  append(group);
}

/// When it throws, nothing changes.
void Optimizer::append(const ParameterGroup& group) {
  const Settings settings{group.lr.value_or(defaults_.lr),
                          group.weight_decay.value_or(defaults_.weight_decay)};
  check(settings.weight_decay >= 0 && std::isfinite(settings.weight_decay),
        "{}: expects a weight_decay of 0 or more, got {}", name_, settings.weight_decay);
  check_rate(name_, settings.lr);
  const std::size_t before = slots_.size();
  try {
    for (const Tensor& parameter : group.parameters) {
      check_parameter(parameter, slots_.size());
      slots_.push_back({parameter, groups_.size()});
    }
    groups_.push_back(settings);
  } catch (...) {
    slots_.erase(slots_.begin() + static_cast<std::ptrdiff_t>(before), slots_.end());
    throw;
  }
  for (const Tensor& parameter : group.parameters) {
    nn::mark_claimed(parameter);
    nn::mark_trained(parameter);
  }
}

void Optimizer::check_parameter(const Tensor& parameter, std::size_t number) const {
  const std::string name = detail::describe(parameter, number);
  check(parameter.defined(), "{}: parameter {} is an undefined tensor", name_, number);
  check(parameter.is_leaf(), "{}: {} is the output of {}, not a leaf: pass the leaf it was computed from",
        name_, name, parameter.is_leaf() ? "" : parameter.node()->op);
  check(static_cast<bool>(parameter.node()),
        "{}: {} does not require grad: call requires_grad_() on it before it is used", name_, name);
  check(!is_half(parameter.dtype()),
        "{}: {} is {}, which is for inference: make the model without Bf16Weights, and use Autocast", name_,
        name, parameter.dtype());
  check(parameter.is_contiguous(), "{}: {} is not contiguous: create it with contiguous()", name_, name);
  for (const Slot& slot : slots_)
    check(!(slot.parameter.node() == parameter.node()), "{}: {} is given twice", name_, name);
}

const Schedule& Optimizer::schedule(std::size_t group) const {
  check(group < groups_.size(), "{}: group {} does not exist: there are {}", name_, group, groups_.size());
  return groups_[group].lr;
}

double Optimizer::lr(std::size_t group) const { return schedule(group)(steps_ + 1); }

void Optimizer::set_lr(const Schedule& lr, std::optional<std::size_t> group) {
  check_rate(name_, lr);
  if (group) {
    schedule(*group);  // throws unless the group exists
    groups_[*group].lr = lr;
    return;
  }
  defaults_.lr = lr;
  for (Settings& settings : groups_) settings.lr = lr;
}

/// A parameter to update and its gradient; its elements are begin .. end - 1 of all elements to update.
struct Optimizer::Job {
  Slot* slot;
  Array gradient;
  Update by;
  std::int64_t begin = 0, end = 0;
};

std::vector<double> Optimizer::rates() const {
  std::vector<double> rates;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const double rate = rates.emplace_back(lr(g));
    check(std::isfinite(rate) && rate >= 0, "{}: the schedule returned a rate of {} at step {}", name_, rate,
          steps_ + 1);
  }
  return rates;
}

/// Does not count the step, which may still fail.
Optimizer::Job Optimizer::prepare(Slot& slot, double rate) {
  const Tensor& parameter = slot.parameter;
  if (slot.state.empty()) {
    std::vector<Array> state;
    for (std::size_t i = 0; i < state_names_.size(); ++i)
      state.push_back(Array::zeros(parameter.shape(), parameter.dtype()));
    slot.state = std::move(state);
  }
  return {
      &slot, parameter.node()->grad.contiguous(), {rate, groups_[slot.group].weight_decay, slot.steps + 1}};
}

void Optimizer::step() {
  const ProfileRange range(step_name_);
  nn::check_unclaimed_parameters(name_);
  // One loop over all elements: a piece may contain many small parameters, or a part of a large one.
  const std::vector<double> rate = rates();
  const auto trainable = [](const Slot& slot) { return slot.parameter.requires_grad(); };
  std::vector<Job> jobs;
  jobs.reserve(slots_.size());
  std::int64_t total = 0;
  for (Slot& slot : slots_) {
    if (!slot.parameter.requires_grad() || !slot.parameter.node()->grad.defined()) continue;
    const std::int64_t n = slot.parameter.numel();
    jobs.push_back(prepare(slot, rate[slot.group]));
    jobs.back().begin = total;
    jobs.back().end = total += n;
    // The weight and each state are read and written, the gradient is read.
    count_bytes(static_cast<double>(3 + 2 * state_names_.size()) * static_cast<double>(n) *
                static_cast<double>(size_of(slot.parameter.dtype())));
  }
  check(std::any_of(slots_.begin(), slots_.end(), trainable),
        "{}: every parameter is frozen: call requires_grad_() on those to be trained, or leave step() out",
        name_);
  check(!jobs.empty(),
        "{}: no parameter has a gradient: call backward() before step(), and zero_grad() before backward()",
        name_);
  parallel_for(total, kPiece, [&](std::int64_t begin, std::int64_t end) {
    const auto before = [](std::int64_t element, const Job& job) { return element < job.end; };
    for (auto job = std::upper_bound(jobs.begin(), jobs.end(), begin, before); begin < end; ++job) {
      const std::int64_t stop = std::min(end, job->end);
      update(*job->slot, job->gradient, job->by, begin - job->begin, stop - job->begin);
      begin = stop;
    }
  });
  for (const Job& job : jobs) {
    job.slot->parameter.array().storage().bump_version();
    ++job.slot->steps;
  }
  ++steps_;
}

void Optimizer::zero_grad() {
  const ProfileRange range("zero_grad");
  for (const Slot& slot : slots_) slot.parameter.zero_grad();
}

StateDict Optimizer::state_dict() const {
  const auto count = [](std::int64_t n) { return tensor(n); };
  StateDict dict;
  dict.set("steps", count(steps_));
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Slot& slot = slots_[i];
    dict.set(fmt::format("{}.step", i), count(slot.steps));
    for (std::size_t k = 0; slot.steps > 0 && k < slot.state.size(); ++k)
      dict.set(fmt::format("{}.{}", i, state_names_[k]), Tensor(slot.state[k].clone()));
  }
  return dict;
}

std::int64_t detail::count_of(const char* name, const StateDict& dict, const std::string& key,
                              const std::string& what) {
  const Tensor* const count = dict.find(key);
  check(count != nullptr, "{}: the state has no {}: it belongs to another optimizer or to a model", name,
        what);
  check(count->defined() && count->dtype() == i64 && count->numel() == 1 && count->item() >= 0,
        "{}: expects {} to be one i64 of 0 or more", name, what);
  return count->to_vector<std::int64_t>()[0];
}

void Optimizer::load_state_dict(const StateDict& dict) {
  const std::int64_t steps = detail::count_of(name_, dict, "steps", "steps");
  std::vector<Slot> loaded = slots_;
  std::size_t used = 1;
  for (std::size_t i = 0; i < loaded.size(); ++i) {
    Slot& slot = loaded[i];
    const std::string parameter = detail::describe(slot.parameter, i);
    slot.steps =
        detail::count_of(name_, dict, fmt::format("{}.step", i), fmt::format("step of {}", parameter));
    slot.state.clear();
    ++used;
    if (slot.steps == 0) continue;
    for (const char* name : state_names_) {
      const Tensor* const value = dict.find(fmt::format("{}.{}", i, name));
      check(value != nullptr && value->defined(),
            "{}: the state has no {} of {}: it belongs to another optimizer", name_, name, parameter);
      check(value->shape() == slot.parameter.shape() && value->dtype() == slot.parameter.dtype(),
            "{}: the {} of {} is {} {} in the state, expects {} {}", name_, name, parameter, value->dtype(),
            value->shape(), slot.parameter.dtype(), slot.parameter.shape());
      slot.state.push_back(value->array().clone());
      ++used;
    }
  }
  check(used == dict.size(), "{}: the state has {} entries, expects {}: it belongs to another optimizer",
        name_, dict.size(), used);
  slots_ = std::move(loaded);
  steps_ = steps;
}

}  // namespace gradus::optim
