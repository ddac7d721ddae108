#include "gradus/optim/plateau.h"

#include <algorithm>
#include <cmath>
#include <limits>

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
  look_for_groups();
}

void ReduceLROnPlateau::look_for_groups() {
  while (rates_.size() < optimizer_.groups()) {
    rates_.push_back(optimizer_.schedule(rates_.size()));
    scales_.push_back(1);
  }
}

bool ReduceLROnPlateau::step(double metric) {
  look_for_groups();
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
  for (std::size_t group = 0; group < rates_.size(); ++group) {
    const double rate = optimizer_.lr(group);
    if (rate - std::max(rate * options_.factor, options_.min_lr) <= options_.eps) continue;
    scales_[group] *= options_.factor;
    set(group);
    reduced = true;
  }
  return reduced;
}

void ReduceLROnPlateau::set(std::size_t group) {
  const auto scaled = [scale = scales_[group], least = options_.min_lr](double rate) {
    return std::max(rate * scale, std::min(rate, least));
  };
  if (const std::optional<double> rate = rates_[group].fixed())
    optimizer_.set_lr(scaled(*rate), group);
  else
    optimizer_.set_lr([scaled, rate = rates_[group]](std::int64_t step) { return scaled(rate(step)); },
                      group);
}

StateDict ReduceLROnPlateau::state_dict() const {
  StateDict dict;
  dict.set("best", tensor(best_, f64));
  dict.set("bad", tensor(bad_));
  dict.set("cooldown", tensor(cooldown_));
  for (std::size_t i = 0; i < scales_.size(); ++i)
    dict.set(fmt::format("{}.scale", i), tensor(scales_[i], f64));
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
  look_for_groups();
  const double best = number("best");
  const std::int64_t bad = detail::count_of(name, dict, "bad", "bad"),
                     cooldown = detail::count_of(name, dict, "cooldown", "cooldown");
  std::vector<double> scales;
  for (std::size_t i = 0; i < scales_.size(); ++i) scales.push_back(number(fmt::format("{}.scale", i)));
  for (const double scale : scales)
    check(scale >= 0 && scale <= 1, "{}: expects scales from 0 to 1 in the state, got {}", name, scale);
  check(dict.size() == scales.size() + 3,
        "{}: the state has {} entries, expects {}: the optimizer has {} groups", name, dict.size(),
        scales.size() + 3, scales.size());
  best_ = best, bad_ = bad, cooldown_ = cooldown;
  scales_ = std::move(scales);
  for (std::size_t i = 0; i < scales_.size(); ++i)
    if (scales_[i] != 1) set(i);
}

}  // namespace gradus::optim
