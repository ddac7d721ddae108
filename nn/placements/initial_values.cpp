// The initial values that placements set: DeepNorm's weights, and Admin's shortcuts, which need a batch.

#include <cmath>
#include <map>
#include <set>

#include "gradus/core/detail/format.h"
#include "gradus/nn/module/init.h"
#include "gradus/nn/placements/scaled.h"

namespace gradus::nn {

namespace detail {

void set_deep_norm_weights_(const Module& stack, double beta) {
  stack.apply([&](const Module& m) {
    if (m.kind() == "MultiheadAttention") {  // in_proj_weight has the rows of queries, keys and values
      const Tensor weight = m.parameter("in_proj_weight");
      const std::int64_t keys = m.parameter("out_proj.weight").size(1), values = (keys + weight.size(0)) / 2;
      init::xavier_normal_(weight.slice(0, 0, keys));
      init::xavier_normal_(weight.slice(0, keys, values));
      init::xavier_normal_(weight.slice(0, values), beta);
    } else if (m.kind() == "Linear") {  // of the FFN, or an attention's output projection
      init::xavier_normal_(m.parameter("weight"), beta);
    }
  });
}

}  // namespace detail

namespace {

struct Profiling {
  std::map<std::string, double> variance;  // of a stack's input and all its branches so far
  std::set<std::string> connections;       // that have had their turn
};
thread_local Profiling* profiling = nullptr;

/// "encoder" of "encoder.layers.3.norm1"
std::string stack_of(const std::string& path) { return path.substr(0, path.rfind("layers.")); }

double variance(const Tensor& x) { return x.to(f64).var({}, {.unbiased = false}).item(); }

}  // namespace

void Admin::profile(const Tensor& x, const Tensor& y) const {
  if (!profiling) return;
  check(profiling->connections.insert(path()).second,
        "Admin: {} was run twice: expects forward() to run one model once, on one batch", path());
  const auto [place, first] = profiling->variance.try_emplace(stack_of(path()), 0.0);
  double& sum = place->second;
  init::constant_(shortcut, first ? 1.0 : std::sqrt(sum));
  sum += (first ? variance(x) : 0) + variance(y);  // x is the input of the stack
}

std::int64_t profile_admin_(const std::function<void()>& forward) {
  const NoGrad guard;
  Profiling mine;
  struct Scope {
    Profiling* before = profiling;
    ~Scope() { profiling = before; }
  } restore;
  profiling = &mine;
  forward();
  return std::ssize(mine.connections);
}

}  // namespace gradus::nn
