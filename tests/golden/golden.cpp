#include "golden/golden.h"

#include <doctest/doctest.h>

#include <cmath>

#include "gradus/core/io/safetensors.h"
#include "support.h"

namespace gradus::test {

StateDict golden(const std::string& file) {
  return load_safetensors(source_file("tests/golden/" + file).string());
}

void check_close(const std::string& what, const Tensor& actual, const Tensor& expected, double allowance) {
  CAPTURE(what);
  REQUIRE(actual.defined());
  REQUIRE(to_string(actual.shape()) == to_string(expected.shape()));
  REQUIRE(actual.dtype() == expected.dtype());
  const std::vector<double> got = actual.to_vector<double>(), want = expected.to_vector<double>();
  double largest = 0, error = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (got[i] == want[i]) continue;
    REQUIRE(std::isfinite(got[i]));
    REQUIRE(std::isfinite(want[i]));
    error = std::max(error, std::abs(got[i] - want[i]));
  }
  for (const double value : want)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  const double unit = actual.dtype() == f64 ? 1e-12 : 1e-5;
  // All below `unit`: what rounding leaves of 0, such as the gradient of a bias that attention's keys have.
  const double scale = largest < unit ? 1 : std::min(std::max(largest, 1.0), 100 * largest);
  CHECK(error <= allowance * unit * scale);
}

std::vector<Tensor> golden_inputs(const StateDict& file, const std::string& name) {
  std::vector<Tensor> inputs;
  while (const Tensor* const in = file.find(name + "/in" + std::to_string(inputs.size()))) {
    Tensor input = in->clone();
    if (is_floating(input.dtype())) input.requires_grad_();
    inputs.push_back(input);
  }
  REQUIRE_FALSE(inputs.empty());
  return inputs;
}

void check_outputs(const StateDict& file, const std::string& name, const Tensor& out,
                   const std::vector<Tensor>& inputs) {
  check_close(name, out, file.at(name + "/out"));
  const Tensor* const dy = file.find(name + "/dy");
  CHECK(out.requires_grad() == (dy != nullptr));
  if (dy == nullptr) return;
  out.backward(*dy);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string key = name + "/grad" + std::to_string(i);
    if (const Tensor* const gradient = file.find(key)) check_close(key, inputs[i].grad(), *gradient);
  }
}

}  // namespace gradus::test
