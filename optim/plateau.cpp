#include "gradus/optim/plateau.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "gradus/core/detail/format.h"
#include "gradus/optim/detail/describe.h"

namespace gradus::optim {

ReduceLROnPlateau::ReduceLROnPlateau(Optimizer& optimizer, const ReduceLROnPlateauOptions& options)
    : optimizer_(optimizer), options_(options), best_(std::numeric_limits<double>::infinity()) {
  if (options.maximize) best_ = -best_;
  const char* const name = "ReduceLROnPlateau";
  check(options.factor >= 0 && options.factor < 1, "{}: expects a factor in [0, 1), got {}", name,
        options.factor);
  check(options.patience >= 0 && options.cooldown >= 0,
        "{}: expects patience and cooldown of 0 or more, got {} and {}", name, options.patience,
        options.cooldown);
  for (const double value : {options.threshold, options.min_lr, options.eps})
    check(value >= 0 && std::isfinite(value),
          "{}: expects threshold, min_lr and eps of 0 or more, got {}, {} and {}", name, options.threshold,
          options.min_lr, options.eps);
}

bool ReduceLROnPlateau::step(double metric) {
  const double by = options_.threshold;
  const bool better = options_.maximize ? metric > (options_.absolute ? best_ + by : best_ * (1 + by))
                                        : metric < (options_.absolute ? best_ - by : best_ * (1 - by));
  const bool pause = cooldown_ > 0;
  const std::int64_t bad = better || pause ? 0 : bad_ + 1;
  const bool enough = bad > options_.patience;
  const bool reduced = enough && reduce();  // before the counters, because it may run out of memory
  if (better) best_ = metric;
  bad_ = enough ? 0 : bad;
  cooldown_ = enough ? options_.cooldown : pause ? cooldown_ - 1 : 0;
  return reduced;
}

bool ReduceLROnPlateau::reduce() {
  Rates rates;
  for (std::size_t group = 0; group < optimizer_.groups(); ++group) {
    const double rate = optimizer_.lr(group), lower = std::max(rate * options_.factor, options_.min_lr);
    if (rate - lower <= options_.eps) continue;
    rates.emplace(group, optimizer_.schedule(group).fixed()
                             ? Scaled{lower, lower}
                             : scaled_by(group, scaled(group).scale * options_.factor));
  }
  const bool reduced = !rates.empty();
  set(std::move(rates));
  return reduced;
}

/// Allocates nothing, so that all groups get their rates.
void ReduceLROnPlateau::set(Rates rates) {
  for (const auto& [group, rate] : rates) optimizer_.set_lr(rate.set, group);
  rates.merge(scaled_);
  scaled_.swap(rates);
}

/// The group's rate as this object scaled it, or unscaled if it was replaced since.
ReduceLROnPlateau::Scaled ReduceLROnPlateau::scaled(std::size_t group) const {
  const Schedule& rate = optimizer_.schedule(group);
  const auto known = scaled_.find(group);
  return known != scaled_.end() && known->second.set == rate ? known->second : Scaled{rate, rate};
}

/// The group's function times `by`.
ReduceLROnPlateau::Scaled ReduceLROnPlateau::scaled_by(std::size_t group, double by) const {
  const Schedule base = scaled(group).base;
  const Schedule set = [base, by, least = options_.min_lr](std::int64_t step) {
    const double rate = base(step);
    return std::max(rate * by, std::min(rate, least));
  };
  return {base, by == 1 ? base : set, by};
}

StateDict ReduceLROnPlateau::state_dict() const {
  StateDict dict;
  dict.set("best", tensor(best_, f64));
  dict.set("bad", tensor(bad_));
  dict.set("cooldown", tensor(cooldown_));
  for (std::size_t i = 0; i < optimizer_.groups(); ++i) {
    const double none = std::numeric_limits<double>::quiet_NaN();
    dict.set(fmt::format("{}.lr", i), tensor(optimizer_.schedule(i).fixed().value_or(none), f64));
    dict.set(fmt::format("{}.scale", i), tensor(scaled(i).scale, f64));
  }
  return dict;
}

void ReduceLROnPlateau::load_state_dict(const StateDict& dict) {
  const char* const name = "ReduceLROnPlateau";
  const auto number = [&](const std::string& key) {
    const Tensor* const value = dict.find(key);
    check(value != nullptr && value->defined() && value->dtype() == f64 && value->numel() == 1,
          "{}: expects one f64 {} in the state: it belongs to something else", name, key);
    return value->item();
  };
  const double best = number("best");
  const std::int64_t bad = detail::count_of(name, dict, "bad", "bad"),
                     cooldown = detail::count_of(name, dict, "cooldown", "cooldown");
  Rates rates;
  for (std::size_t i = 0; i < optimizer_.groups(); ++i) {
    const double rate = number(fmt::format("{}.lr", i)), scale = number(fmt::format("{}.scale", i));
    check(std::isnan(rate) || (rate >= 0 && std::isfinite(rate)),
          "{}: expects rates of 0 or more in the state, got {}", name, rate);
    check(scale >= 0 && scale <= 1, "{}: expects scales from 0 to 1 in the state, got {}", name, scale);
    rates.emplace(i, std::isnan(rate) ? scaled_by(i, scale) : Scaled{rate, rate});
  }
  check(dict.size() == 2 * rates.size() + 3,
        "{}: the state has {} entries, expects {}: the optimizer has {} groups", name, dict.size(),
        2 * rates.size() + 3, rates.size());
  set(std::move(rates));
  best_ = best, bad_ = bad, cooldown_ = cooldown;
}

}  // namespace gradus::optim
