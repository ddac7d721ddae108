// Third derivatives of random graphs, against PyTorch's (make_third_derivatives.py wrote the file and says
// what is in it). GRADUS_THIRD_DERIVATIVES names another file.

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <sstream>

#include "gradus/core/tape/grad.h"
#include "gradus/ops/ops.h"
#include "support.h"

namespace gradus::test {
namespace {

using ThirdInputs = std::vector<Tensor>;
struct ThirdOp {
  std::size_t tensors;  // how many it takes
  std::function<Tensor(const ThirdInputs& x, std::int64_t axis)> f;
};

Tensor above_half(const Tensor& x) { return x * x + 0.5; }

Tensor third_targets(const Tensor& x) { return arange(x.size(0)) % x.size(1); }

Tensor matrix_attention(const Tensor& q, const Tensor& k, const Tensor& v) {
  const auto heads = [](const Tensor& x) { return x.reshape({1, 1, x.size(0), x.size(1)}); };
  return scaled_dot_product_attention(heads(q), heads(k), heads(v)).reshape({q.size(0), v.size(1)});
}

Tensor far_from_equal(const Tensor& x) { return x + arange(x.numel()).to(f64).reshape(x.shape()); }

Tensor first_and_last(const Tensor& x) {
  return index_select(x, 0, from_vector(std::vector<std::int64_t>{0, x.size(0) - 1, 0}));
}

/// By the names of third_cases.py.
const std::map<std::string, ThirdOp>& third_ops() {
  using X = const ThirdInputs&;
  using Axis = std::int64_t;
  static const std::map<std::string, ThirdOp> ops = {
      {"neg", {1, [](X x, Axis) { return -x[0]; }}},
      {"square", {1, [](X x, Axis) { return square(x[0]); }}},
      {"exp", {1, [](X x, Axis) { return exp(x[0]); }}},
      {"expm1", {1, [](X x, Axis) { return expm1(x[0]); }}},
      {"sin", {1, [](X x, Axis) { return sin(x[0]); }}},
      {"cos", {1, [](X x, Axis) { return cos(x[0]); }}},
      {"tanh", {1, [](X x, Axis) { return tanh(x[0]); }}},
      {"sigmoid", {1, [](X x, Axis) { return sigmoid(x[0]); }}},
      {"relu", {1, [](X x, Axis) { return relu(x[0]); }}},
      {"leaky_relu", {1, [](X x, Axis) { return leaky_relu(x[0], 0.2); }}},
      {"abs", {1, [](X x, Axis) { return abs(x[0]); }}},
      {"erf", {1, [](X x, Axis) { return erf(x[0]); }}},
      {"silu", {1, [](X x, Axis) { return silu(x[0]); }}},
      {"gelu", {1, [](X x, Axis) { return gelu(x[0]); }}},
      {"gelu_tanh", {1, [](X x, Axis) { return gelu(x[0], GeluForm::tanh); }}},
      {"softplus", {1, [](X x, Axis) { return softplus(x[0]); }}},
      {"clamp", {1, [](X x, Axis) { return clamp(x[0], -0.7, 1.1); }}},
      {"log", {1, [](X x, Axis) { return log(above_half(x[0])); }}},
      {"log1p", {1, [](X x, Axis) { return log1p(above_half(x[0])); }}},
      {"sqrt", {1, [](X x, Axis) { return sqrt(above_half(x[0])); }}},
      {"rsqrt", {1, [](X x, Axis) { return rsqrt(above_half(x[0])); }}},
      {"reciprocal", {1, [](X x, Axis) { return reciprocal(above_half(x[0])); }}},
      {"pow_2.5", {1, [](X x, Axis) { return pow(above_half(x[0]), 2.5); }}},
      {"pow_3", {1, [](X x, Axis) { return pow(x[0], 3); }}},
      {"sum_all", {1, [](X x, Axis) { return x[0].sum(); }}},
      {"norm_all", {1, [](X x, Axis) { return above_half(x[0]).norm(); }}},
      {"add", {2, [](X x, Axis) { return x[0] + x[1]; }}},
      {"sub", {2, [](X x, Axis) { return x[0] - x[1]; }}},
      {"mul", {2, [](X x, Axis) { return x[0] * x[1]; }}},
      {"div", {2, [](X x, Axis) { return x[0] / above_half(x[1]); }}},
      {"pow", {2, [](X x, Axis) { return pow(above_half(x[0]), x[1]); }}},
      {"maximum", {2, [](X x, Axis) { return maximum(x[0], x[1]); }}},
      {"minimum", {2, [](X x, Axis) { return minimum(x[0], x[1]); }}},
      {"where", {2, [](X x, Axis) { return where(x[0] > x[1], x[0] * x[1], x[1]); }}},
      {"sum", {1, [](X x, Axis axis) { return x[0].sum(axis); }}},
      {"mean", {1, [](X x, Axis axis) { return x[0].mean(axis, true); }}},
      {"var", {1, [](X x, Axis axis) { return x[0].var(axis); }}},
      {"std", {1, [](X x, Axis axis) { return far_from_equal(x[0]).std(axis); }}},
      {"prod", {1, [](X x, Axis axis) { return x[0].prod(axis); }}},
      {"logsumexp", {1, [](X x, Axis axis) { return logsumexp(x[0], axis); }}},
      {"norm", {1, [](X x, Axis axis) { return above_half(x[0]).norm(2, axis); }}},
      {"max", {1, [](X x, Axis axis) { return x[0].max(axis); }}},
      {"min", {1, [](X x, Axis axis) { return x[0].min(axis); }}},
      {"cumsum", {1, [](X x, Axis axis) { return cumsum(x[0], axis); }}},
      {"softmax", {1, [](X x, Axis axis) { return softmax(x[0], axis); }}},
      {"log_softmax", {1, [](X x, Axis axis) { return log_softmax(x[0], axis); }}},
      {"flip", {1, [](X x, Axis axis) { return flip(x[0], axis); }}},
      {"roll", {1, [](X x, Axis axis) { return roll(x[0], 1, axis); }}},
      {"first", {1, [](X x, Axis axis) { return x[0].select(axis, 0); }}},
      {"steps", {1, [](X x, Axis axis) { return x[0].slice(axis, 0, {}, 2); }}},
      {"unsqueeze", {1, [](X x, Axis) { return x[0].unsqueeze(0); }}},
      {"flatten", {1, [](X x, Axis) { return x[0].reshape({-1}); }}},
      {"sorted", {1, [](X x, Axis axis) { return sort(x[0], axis).first; }}},
      {"gather",
       {1,
        [](X x, Axis) {
          return gather(x[0], 1, repeat(tensor({{1, 0, 1}}), {x[0].size(0), 1}));
        }}},
      {"rows", {1, [](X x, Axis) { return first_and_last(x[0]); }}},
      {"transpose", {1, [](X x, Axis) { return x[0].t(); }}},
      {"tril", {1, [](X x, Axis) { return tril(x[0]); }}},
      {"pad", {1, [](X x, Axis) { return pad(x[0], {1, 0}, 0.5); }}},
      {"cat", {2, [](X x, Axis) { return cat(x, 0); }}},
      {"matmul", {2, [](X x, Axis) { return matmul(x[0], x[1]); }}},
      {"linear", {2, [](X x, Axis) { return linear(x[0], x[1]); }}},
      {"attention", {3, [](X x, Axis) { return matrix_attention(x[0], x[1], x[2]); }}},
      {"layer_norm", {1, [](X x, Axis) { return layer_norm(x[0]); }}},
      {"layer_norm_affine", {3, [](X x, Axis) { return layer_norm(x[0], x[1], x[2]); }}},
      {"rms_norm", {1, [](X x, Axis) { return rms_norm(x[0]); }}},
      {"rms_norm_affine", {3, [](X x, Axis) { return rms_norm(x[0], x[1]) + x[2]; }}},
      {"cross_entropy", {1, [](X x, Axis) { return cross_entropy(x[0], third_targets(x[0])); }}},
      {"smoothed",
       {1, [](X x, Axis) { return cross_entropy(x[0], third_targets(x[0]), {.label_smoothing = 0.1}); }}},
      {"mse_loss", {2, [](X x, Axis) { return mse_loss(x[0], x[1]); }}},
      {"huber_loss", {2, [](X x, Axis) { return huber_loss(x[0], x[1]); }}},
      {"bce", {2, [](X x, Axis) { return binary_cross_entropy_with_logits(x[0], sigmoid(x[1])); }}},
  };
  return ops;
}

/// <xs, u_n>, with u_n as in make_third_derivatives.py.
Tensor along_direction(const ThirdInputs& xs, int n) {
  Tensor total = zeros({}, f64);
  std::int64_t k = 0;
  for (const Tensor& x : xs) {
    std::vector<double> u;
    for (std::int64_t i = 0; i < x.numel(); ++i, ++k)
      u.push_back((static_cast<double>((7 * k + 3 * n) % 11) - 4.5) / 4);
    total = total + (x * from_vector(u, {-1}).reshape(x.shape())).sum();
  }
  return total;
}

/// All elements of d<d<dL, u_1>, u_2>.
std::vector<double> third_derivatives(const ThirdInputs& inputs, const Tensor& y) {
  ThirdInputs gradients = {y};
  for (int n = 0; n < 3; ++n) {
    gradients = grad(along_direction(gradients, n), inputs, {.create_graph = true, .allow_unused = true});
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (!gradients[i].defined()) gradients[i] = zeros_like(inputs[i]);
  }
  std::vector<double> all;
  for (const Tensor& g : gradients)
    for (const double value : g.detach().to_vector<double>()) all.push_back(value);
  return all;
}

/// A graph of the file, while its lines are read.
struct ThirdGraph {
  std::string text;
  ThirdInputs tensors;
  std::size_t inputs = 0;

  void input(std::istream& words) {
    Shape shape;
    std::string word;
    while (words >> word && word != ":") shape.push_back(std::stoll(word));
    std::vector<double> numbers;
    for (double number; words >> number;) numbers.push_back(number);
    tensors.push_back(from_vector(numbers, shape).requires_grad_());
    ++inputs;
  }

  void op(const std::string& name, std::istream& words) {
    const auto found = third_ops().find(name);
    REQUIRE_MESSAGE(found != third_ops().end(), name);
    ThirdInputs x;
    std::int64_t number = 0;
    while (words >> number && x.size() < found->second.tensors)
      x.push_back(tensors.at(static_cast<std::size_t>(number)));
    REQUIRE(x.size() == found->second.tensors);
    tensors.push_back(found->second.f(x, number));
  }

  void check_third(std::istream& words) const {
    CAPTURE(text);
    const std::vector<double> got = third_derivatives(
        ThirdInputs(tensors.begin(), tensors.begin() + static_cast<std::ptrdiff_t>(inputs)), tensors.back());
    std::vector<double> wanted;
    for (double number; words >> number;) wanted.push_back(number);
    REQUIRE(got.size() == wanted.size());
    double largest = 1, off = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      largest = std::max(largest, std::abs(wanted[i]));
      off = std::isfinite(got[i]) ? std::max(off, std::abs(got[i] - wanted[i])) : HUGE_VAL;
    }
    CHECK(off <= 1e-9 * largest);
  }
};

}  // namespace

TEST_CASE("PyTorch parity: third derivatives of random graphs") {
  const char* const given = std::getenv("GRADUS_THIRD_DERIVATIVES");
  std::ifstream file(given ? std::string(given) : source_file("tests/golden/third_derivatives.txt").string());
  REQUIRE(file.good());
  std::set<std::string> used;
  ThirdGraph graph;
  int graphs = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    if (name == "graph")
      graph = {};
    else
      graph.text += line + "\n";
    if (name == "in") {
      graph.input(words);
    } else if (name == "third") {
      graph.check_third(words);
      ++graphs;
    } else if (name != "graph") {
      graph.op(name, words);
      used.insert(name);
    }
  }
  CHECK(graphs >= 300);
  CHECK(used.size() == third_ops().size());
}

}  // namespace gradus::test
