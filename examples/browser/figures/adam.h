#pragma once
// The steps of optim::Adam and optim::SGD on one weight, for a chosen stream of gradients.
//
//   const FirstSteps steps = first_steps({.stream = "noise", .warmup = 20});
//   steps.adam.taken[0];  // the first update, in units of the rate

#include <cstdint>
#include <string>
#include <vector>

namespace gradus::browser {

struct AdamSettings {
  std::string stream = "noise";  // a name of gradient_streams()
  double size = 1;               // all gradients are multiplied by it: above 0, at most 1e6
  double rate = 1e-3;            // above 0, at most 1
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8;
  std::int64_t warmup = 0;  // steps, 0 to 1000
  std::int64_t seed = 0;    // of the noise, 0 to 999
};

struct GradientStream {
  std::string name, title;
};
std::vector<GradientStream> gradient_streams();

/// One optimizer's trajectory. The gradients do not depend on the weight, which starts at 0.
struct Path {
  std::vector<double> taken;   // each step's update, in units of the full rate
  std::vector<double> weight;  // after each step
};

struct FirstSteps {
  std::vector<double> gradients, rates;  // of each step
  Path adam, sgd;
  std::vector<double> mean, root;  // Adam's mhat and sqrt(vhat) at each step
};

/// 40 steps. Throws on a setting out of range, and what optim::Adam throws.
FirstSteps first_steps(const AdamSettings& settings);

}  // namespace gradus::browser
