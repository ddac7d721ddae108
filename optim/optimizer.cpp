#include "gradus/optim/optimizer.h"

#include <algorithm>
#include <cmath>

#include "gradus/core/format.h"
#include "gradus/core/parallel.h"
#include "gradus/core/profile.h"
#include "gradus/core/scope.h"

namespace gradus::optim {

namespace {
// Elements one thread updates at a time: Adam's four arrays then fit into its second-level cache.
constexpr std::int64_t kPiece = 16384;
}  // namespace

std::vector<ParameterGroup> detail::one_group(std::vector<Tensor> parameters) {
  std::vector<ParameterGroup> groups(1);
  groups[0].parameters = std::move(parameters);
  return groups;
}

Optimizer::Optimizer(const char* name, std::vector<ParameterGroup> groups, const Schedule& lr,
                     double weight_decay, std::vector<const char*> state_names)
    : name_(name), step_name_(intern(fmt::format("{} step", name))), state_names_(std::move(state_names)) {
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const double decay = groups[g].weight_decay.value_or(weight_decay);
    check(decay >= 0, "{}: expects a weight_decay of 0 or more, got {}", name_, decay);
    groups_.push_back({groups[g].lr.value_or(lr), decay});
    for (const Tensor& parameter : groups[g].parameters) add_slot(parameter, g);
  }
  check(!slots_.empty(), "{}: got no parameters: pass model.parameters()", name_);
}

void Optimizer::add_slot(const Tensor& parameter, std::size_t group) {
  check(parameter.node() && parameter.is_leaf(), "{}: parameter {} {} is not a leaf that requires grad",
        name_, slots_.size(), parameter.shape());
  check(parameter.is_contiguous(), "{}: parameter {} {} is not contiguous", name_, slots_.size(),
        parameter.shape());
  for (const Slot& slot : slots_)
    check(!(slot.parameter.node() == parameter.node()), "{}: parameter {} {} is given twice", name_,
          slots_.size(), parameter.shape());
  slots_.push_back({parameter, group});
}

double Optimizer::lr(std::size_t group) const {
  check(group < groups_.size(), "{}: group {} does not exist: there are {}", name_, group, groups_.size());
  return groups_[group].lr(steps_ + 1);
}

/// A parameter to update, with its gradient; its elements are begin .. end - 1 of all those to update.
struct Optimizer::Job {
  const Slot* slot;
  Array gradient;
  Update by;
  std::int64_t begin = 0, end = 0;
};

Optimizer::Job Optimizer::prepare(Slot& slot) {
  const Tensor& parameter = slot.parameter;
  const double rate = lr(slot.group);
  check(std::isfinite(rate) && rate >= 0, "{}: the schedule gave a rate of {} at step {}", name_, rate,
        steps_ + 1);
  if (slot.state.empty())
    for (std::size_t i = 0; i < state_names_.size(); ++i)
      slot.state.push_back(Array::zeros(parameter.shape(), parameter.dtype()));
  return {&slot, parameter.node()->grad.contiguous(), {rate, groups_[slot.group].weight_decay, ++slot.steps}};
}

void Optimizer::step() {
  const ProfileRange range(step_name_);
  check_unclaimed_parameters(name_);
  // All parameters in a row are one loop: a piece of it may hold many small ones, or a part of a large one.
  std::vector<Job> jobs;
  jobs.reserve(slots_.size());
  std::int64_t total = 0;
  for (Slot& slot : slots_) {
    if (!slot.parameter.requires_grad() || !slot.parameter.node()->grad.defined()) continue;
    const std::int64_t n = slot.parameter.numel();
    jobs.push_back(prepare(slot));
    jobs.back().begin = total;
    jobs.back().end = total += n;
    // The weight and each state are read and written, the gradient is read.
    count_bytes(static_cast<double>(3 + 2 * state_names_.size()) * static_cast<double>(n) *
                static_cast<double>(size_of(slot.parameter.dtype())));
  }
  parallel_for(total, kPiece, [&](std::int64_t begin, std::int64_t end) {
    const auto before = [](std::int64_t element, const Job& job) { return element < job.end; };
    for (auto job = std::upper_bound(jobs.begin(), jobs.end(), begin, before); begin < end; ++job) {
      const std::int64_t stop = std::min(end, job->end);
      update(*job->slot, job->gradient, job->by, begin - job->begin, stop - job->begin);
      begin = stop;
    }
  });
  for (const Job& job : jobs) job.slot->parameter.array().storage().bump_version();
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
    for (std::size_t k = 0; k < slot.state.size(); ++k)
      dict.set(fmt::format("{}.{}", i, state_names_[k]), Tensor(slot.state[k].clone()));
  }
  return dict;
}

void Optimizer::load_state_dict(const StateDict& dict) {
  const auto count = [&](const std::string& key) { return static_cast<std::int64_t>(dict.at(key).item()); };
  const std::int64_t steps = count("steps");
  std::vector<Slot> loaded = slots_;
  std::size_t used = 1;
  for (std::size_t i = 0; i < loaded.size(); ++i) {
    Slot& slot = loaded[i];
    slot.steps = count(fmt::format("{}.step", i));
    slot.state.clear();
    ++used;
    if (slot.steps == 0) continue;
    for (const char* name : state_names_) {
      const std::string key = fmt::format("{}.{}", i, name);
      const Tensor& value = dict.at(key);
      check(value.shape() == slot.parameter.shape() && value.dtype() == slot.parameter.dtype(),
            "{}: state {} is {} {}, expects {} {}", name_, key, value.dtype(), value.shape(),
            slot.parameter.dtype(), slot.parameter.shape());
      slot.state.push_back(value.array().clone());
      ++used;
    }
  }
  check(used == dict.size(), "{}: the state has {} entries, expects {}: it belongs to another optimizer",
        name_, dict.size(), used);
  slots_ = std::move(loaded);
  steps_ = steps;
}

}  // namespace gradus::optim
