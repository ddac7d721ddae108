#include "gradus/optim/ema.h"

#include <algorithm>

#include "gradus/core/array/detail/element.h"
#include "gradus/core/profile/watch.h"
#include "gradus/core/threads/parallel.h"
#include "gradus/optim/detail/describe.h"
#include "gradus/optim/detail/normal.h"

namespace gradus::optim {

EMA::EMA(std::vector<Tensor> parameters, double decay) : parameters_(std::move(parameters)), decay_(decay) {
  check(decay >= 0 && decay < 1, "EMA: expects a decay in [0, 1), got {}", decay);
  check(!parameters_.empty(), "EMA: got no parameters: pass model.parameters()");
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const Tensor& parameter = parameters_[i];
    check(parameter.defined(), "EMA: parameter {} is an undefined tensor", i);
    const std::string name = detail::describe(parameter, i);
    check(!is_half(parameter.dtype()),
          "EMA: {} is {}, which is for inference: make the model without Bf16Weights, and use Autocast", name,
          parameter.dtype());
    check(is_floating(parameter.dtype()), "EMA: {} is {}, expects f32 or f64", name, parameter.dtype());
    check(parameter.is_contiguous(), "EMA: {} is not contiguous: create it with contiguous()", name);
    for (std::size_t k = 0; k < i; ++k)
      check(parameter.numel() == 0 || parameters_[k].array().raw() != parameter.array().raw(),
            "EMA: {} is given twice", name);
    averages_.push_back(Array::zeros(parameter.shape(), parameter.dtype()));
  }
}

void EMA::expect_unused(const char* call) const {
  check(!used_, "EMA: {} during an EMA::Use: the parameters hold the averages, end its scope first", call);
}

void EMA::update() {
  const ProfileRange range("EMA update");
  expect_unused("update()");
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const Array &weights = parameters_[i].array(), &averages = averages_[i];
    dispatch_floating(weights.dtype(), [&]<class T>() {
      const bool first = updates_ == 0;
      const T keep = static_cast<T>(decay_), rest = static_cast<T>(1 - decay_);
      const T* const w = weights.data<T>();
      T* const average = averages.mutable_data<T>();
      count_bytes(3.0 * static_cast<double>(weights.numel()) * static_cast<double>(sizeof(T)));
      parallel_for(weights.numel(), 16384, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t k = begin; k < end; ++k) {
          const T next = first ? w[k] : keep * average[k] + rest * w[k];
          average[k] = w[k] == 0 ? detail::or_zero(next) : next;
        }
      });
    });
  }
  ++updates_;
}

void EMA::swap() noexcept {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const Array& weights = parameters_[i].array();
    dispatch_floating(weights.dtype(), [&]<class T>() {
      T* const w = weights.mutable_data<T>();
      std::swap_ranges(w, w + weights.numel(), averages_[i].mutable_data<T>());
    });
    weights.storage().bump_version();
  }
}

EMA::Use::Use(EMA& ema) : ema_(ema) {
  ema.expect_unused("another EMA::Use");
  ema.used_ = true;
  if (ema.updates_ > 0) ema.swap();
}

EMA::Use::~Use() {
  if (ema_.updates_ > 0) ema_.swap();
  ema_.used_ = false;
}

StateDict EMA::state_dict() const {
  expect_unused("state_dict()");
  StateDict dict;
  dict.set("updates", tensor(updates_));
  for (std::size_t i = 0; i < averages_.size(); ++i)
    dict.set(fmt::format("{}.average", i), Tensor(averages_[i].clone()));
  return dict;
}

void EMA::load_state_dict(const StateDict& dict) {
  expect_unused("load_state_dict()");
  const std::int64_t updates = detail::count_of("EMA", dict, "updates", "updates");
  std::vector<Array> loaded;
  for (std::size_t i = 0; i < averages_.size(); ++i) {
    const std::string name = detail::describe(parameters_[i], i);
    const Tensor* const average = dict.find(fmt::format("{}.average", i));
    check(average != nullptr && average->defined(), "EMA: the state has no average of {}", name);
    check(average->shape() == averages_[i].shape() && average->dtype() == averages_[i].dtype(),
          "EMA: the average of {} is {} {} in the state, expects {} {}", name, average->dtype(),
          average->shape(), averages_[i].dtype(), averages_[i].shape());
    loaded.push_back(average->array().clone());
  }
  check(dict.size() == loaded.size() + 1,
        "EMA: the state has {} entries, expects {}: it belongs to other parameters", dict.size(),
        loaded.size() + 1);
  averages_ = std::move(loaded);
  updates_ = updates;
}

}  // namespace gradus::optim
