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
  if (better) best_ = metric;
  bad_ = better ? 0 : bad_ + 1;
  if (cooldown_ > 0) {
    --cooldown_;
    bad_ = 0;
  }
  if (bad_ <= options_.patience) return false;
  cooldown_ = options_.cooldown;
  bad_ = 0;
  return reduce();
}

bool ReduceLROnPlateau::reduce() {
  bool reduced = false;
  for (std::size_t group = 0; group < optimizer_.groups(); ++group) {
    const double rate = optimizer_.lr(group), lower = std::max(rate * options_.factor, options_.min_lr);
    if (rate - lower <= options_.eps) continue;
    if (optimizer_.schedule(group).fixed())
      optimizer_.set_lr(lower, group);
    else
      scale(group, scaled(group).scale * options_.factor);
    reduced = true;
  }
  return reduced;
}

/// What this made of the group's rate; nothing, if it is another one since.
ReduceLROnPlateau::Scaled ReduceLROnPlateau::scaled(std::size_t group) const {
  const Schedule& rate = optimizer_.schedule(group);
  const auto known = scaled_.find(group);
  return known != scaled_.end() && known->second.set == rate ? known->second : Scaled{rate, rate};
}

/// Sets the group's rate to its function times `by`.
void ReduceLROnPlateau::scale(std::size_t group, double by) {
  const Schedule base = scaled(group).base;
  const Schedule set = [base, by, least = options_.min_lr](std::int64_t step) {
    const double rate = base(step);
    return std::max(rate * by, std::min(rate, least));
  };
  optimizer_.set_lr(by == 1 ? base : set, group);
  scaled_.insert_or_assign(group, Scaled{base, by == 1 ? base : set, by});
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
          "{}: expects {} in the state, one f64: it belongs to something else", name, key);
    return value->item();
  };
  const double best = number("best");
  const std::int64_t bad = detail::count_of(name, dict, "bad", "bad"),
                     cooldown = detail::count_of(name, dict, "cooldown", "cooldown");
  std::vector<double> rates, scales;
  for (std::size_t i = 0; i < optimizer_.groups(); ++i) {
    const double rate = rates.emplace_back(number(fmt::format("{}.lr", i)));
    const double scale = scales.emplace_back(number(fmt::format("{}.scale", i)));
    check(std::isnan(rate) || (rate >= 0 && std::isfinite(rate)),
          "{}: expects rates of 0 or more in the state, got {}", name, rate);
    check(scale >= 0 && scale <= 1, "{}: expects scales from 0 to 1 in the state, got {}", name, scale);
  }
  check(dict.size() == 2 * scales.size() + 3,
        "{}: the state has {} entries, expects {}: the optimizer has {} groups", name, dict.size(),
        2 * scales.size() + 3, scales.size());
  best_ = best, bad_ = bad, cooldown_ = cooldown;
  for (std::size_t i = 0; i < scales.size(); ++i)
    if (std::isnan(rates[i]))
      scale(i, scales[i]);
    else
      optimizer_.set_lr(rates[i], i);
}

}  // namespace gradus::optim
