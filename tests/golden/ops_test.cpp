// Values and gradients of every op against PyTorch's. A case here and one in op_cases.py share a name.

#include <doctest/doctest.h>

#include <functional>
#include <set>

#include "golden/golden.h"
#include "gradus/ops/ops.h"

namespace gradus::test {
namespace {

using Inputs = std::vector<Tensor>;
struct Case {
  const char* name;
  std::function<Tensor(const Inputs&)> f;
};

const std::vector<Case> kElementwise = {
    {"add", [](const Inputs& x) { return x[0] + x[1]; }},
    {"sub", [](const Inputs& x) { return x[0] - x[1]; }},
    {"mul", [](const Inputs& x) { return x[0] * x[1]; }},
    {"div", [](const Inputs& x) { return x[0] / x[1]; }},
    {"add_scalar", [](const Inputs& x) { return x[0] + 2.5; }},
    {"rsub_scalar", [](const Inputs& x) { return 1.5 - x[0]; }},
    {"rdiv_scalar", [](const Inputs& x) { return 2.0 / x[0]; }},
    {"pow_scalar", [](const Inputs& x) { return pow(x[0], 2.5); }},
    {"pow", [](const Inputs& x) { return pow(x[0], x[1]); }},
    {"maximum", [](const Inputs& x) { return maximum(x[0], x[1]); }},
    {"minimum", [](const Inputs& x) { return minimum(x[0], x[1]); }},
    {"where", [](const Inputs& x) { return where(x[0], x[1], x[2]); }},
    {"masked_fill", [](const Inputs& x) { return masked_fill(x[0], x[1], -3.0); }},
    {"clamp", [](const Inputs& x) { return clamp(x[0], -0.5, 0.8); }},
    {"neg", [](const Inputs& x) { return -x[0]; }},
    {"abs", [](const Inputs& x) { return abs(x[0]); }},
    {"square", [](const Inputs& x) { return square(x[0]); }},
    {"exp", [](const Inputs& x) { return exp(x[0]); }},
    {"sin", [](const Inputs& x) { return sin(x[0]); }},
    {"cos", [](const Inputs& x) { return cos(x[0]); }},
    {"tanh", [](const Inputs& x) { return tanh(x[0]); }},
    {"sigmoid", [](const Inputs& x) { return sigmoid(x[0]); }},
    {"relu", [](const Inputs& x) { return relu(x[0]); }},
    {"erf", [](const Inputs& x) { return erf(x[0]); }},
    {"sqrt", [](const Inputs& x) { return sqrt(x[0]); }},
    {"rsqrt", [](const Inputs& x) { return rsqrt(x[0]); }},
    {"log", [](const Inputs& x) { return log(x[0]); }},
    {"log1p", [](const Inputs& x) { return log1p(x[0]); }},
    {"silu", [](const Inputs& x) { return silu(x[0]); }},
    {"gelu", [](const Inputs& x) { return gelu(x[0]); }},
    {"gelu_tanh", [](const Inputs& x) { return gelu(x[0], GeluForm::tanh); }},
};

const std::vector<Case> kReductions = {
    {"sum", [](const Inputs& x) { return sum(x[0]); }},
    {"sum_axes",
     [](const Inputs& x) {
       return sum(x[0], {0, 2});
     }},
    {"sum_keepdim", [](const Inputs& x) { return sum(x[0], -1, true); }},
    {"mean", [](const Inputs& x) { return mean(x[0], 1); }},
    {"var", [](const Inputs& x) { return var(x[0], -1); }},
    {"var_biased",
     [](const Inputs& x) {
       return var(x[0], {0, 2}, {.keepdim = true, .unbiased = false});
     }},
    {"max", [](const Inputs& x) { return max(x[0], 1); }},
    {"min",
     [](const Inputs& x) {
       return min(x[0], {0, 1});
     }},
    {"argmax", [](const Inputs& x) { return argmax(x[0], 1); }},
    {"argmin", [](const Inputs& x) { return argmin(x[0]); }},
    {"norm", [](const Inputs& x) { return norm(x[0], 2, -1); }},
    {"logsumexp",
     [](const Inputs& x) {
       return logsumexp(x[0], {0, 2});
     }},
    {"cumsum", [](const Inputs& x) { return cumsum(x[0], 1); }},
};

const std::vector<Case> kProducts = {
    {"matmul_2d", [](const Inputs& x) { return matmul(x[0], x[1]); }},
    {"matmul_transposed", [](const Inputs& x) { return matmul(x[0].t(), x[1].t()); }},
    {"matmul_vector", [](const Inputs& x) { return matmul(x[0], x[1]); }},
    {"matmul_dot", [](const Inputs& x) { return matmul(x[0], x[1]); }},
    {"matmul_batched", [](const Inputs& x) { return matmul(x[0], x[1]); }},
    {"linear", [](const Inputs& x) { return linear(x[0], x[1], x[2]); }},
    {"outer", [](const Inputs& x) { return outer(x[0], x[1]); }},
};

const std::vector<Case> kShapes = {
    {"reshape",
     [](const Inputs& x) {
       return reshape(transpose(x[0], 0, 1), {2, 6});
     }},
    {"permute",
     [](const Inputs& x) {
       return permute(x[0], {2, 0, 1});
     }},
    {"transpose", [](const Inputs& x) { return transpose(x[0], 0, -1); }},
    {"squeeze", [](const Inputs& x) { return squeeze(x[0], 1); }},
    {"unsqueeze", [](const Inputs& x) { return unsqueeze(x[0], 1); }},
    {"expand",
     [](const Inputs& x) {
       return expand(x[0], {3, 2, 4});
     }},
    {"flatten", [](const Inputs& x) { return flatten(x[0], 1); }},
    {"select", [](const Inputs& x) { return select(x[0], 1, -1); }},
    {"slice", [](const Inputs& x) { return slice(x[0], 1, 1, 7, 2); }},
    {"cat",
     [](const Inputs& x) {
       return cat({x[0], x[1]}, 1);
     }},
    {"stack",
     [](const Inputs& x) {
       return stack({x[0], x[1]}, -1);
     }},
    {"split",
     [](const Inputs& x) {
       return split(x[0], std::vector<std::int64_t>{2, 5}, 1)[1];
     }},
    {"chunk", [](const Inputs& x) { return chunk(x[0], 3, 1)[2]; }},
    {"flip",
     [](const Inputs& x) {
       return flip(x[0], {0, 2});
     }},
    {"roll", [](const Inputs& x) { return roll(x[0], 2, 1); }},
    {"gather", [](const Inputs& x) { return gather(x[0], 1, x[1]); }},
    {"scatter_add", [](const Inputs& x) { return scatter_add(x[0], 1, x[1], x[2]); }},
    {"index_select", [](const Inputs& x) { return index_select(x[0], 1, x[1]); }},
    {"embedding", [](const Inputs& x) { return embedding(x[0], x[1]); }},
    {"tril", [](const Inputs& x) { return tril(x[0], -1); }},
    {"triu", [](const Inputs& x) { return triu(x[0], 1); }},
    {"one_hot", [](const Inputs& x) { return one_hot(x[0], 6); }},
    {"topk", [](const Inputs& x) { return topk(x[0], 3).first; }},
    {"sort", [](const Inputs& x) { return sort(x[0], 1, true).first; }},
};

const CrossEntropyOptions kSmooth{.label_smoothing = 0.1};
const CrossEntropyOptions kSum{.reduction = Reduction::sum};
const CrossEntropyOptions kNone{.reduction = Reduction::none};

const std::vector<Case> kLayers = {
    {"softmax", [](const Inputs& x) { return softmax(x[0], -1); }},
    {"softmax_axis0", [](const Inputs& x) { return softmax(x[0], 0); }},
    {"log_softmax", [](const Inputs& x) { return log_softmax(x[0], -1); }},
    {"layer_norm", [](const Inputs& x) { return layer_norm(x[0], x[1], x[2]); }},
    {"layer_norm_plain", [](const Inputs& x) { return layer_norm(x[0]); }},
    {"rms_norm", [](const Inputs& x) { return rms_norm(x[0], x[1]); }},
    {"attention", [](const Inputs& x) { return scaled_dot_product_attention(x[0], x[1], x[2]); }},
    {"attention_causal",
     [](const Inputs& x) { return scaled_dot_product_attention(x[0], x[1], x[2], {.causal = true}); }},
    {"attention_mask",
     [](const Inputs& x) { return scaled_dot_product_attention(x[0], x[1], x[2], {.mask = x[3]}); }},
    {"attention_bias",
     [](const Inputs& x) { return scaled_dot_product_attention(x[0], x[1], x[2], {.mask = x[3]}); }},
    {"cross_entropy", [](const Inputs& x) { return cross_entropy(x[0], x[1]); }},
    {"cross_entropy_smooth", [](const Inputs& x) { return cross_entropy(x[0], x[1], kSmooth); }},
    {"cross_entropy_sum", [](const Inputs& x) { return cross_entropy(x[0], x[1], kSum); }},
    {"cross_entropy_none", [](const Inputs& x) { return cross_entropy(x[0], x[1], kNone); }},
    {"nll_loss", [](const Inputs& x) { return nll_loss(x[0], x[1]); }},
    {"mse_loss", [](const Inputs& x) { return mse_loss(x[0], x[1]); }},
    {"bce_logits", [](const Inputs& x) { return binary_cross_entropy_with_logits(x[0], x[1].detach()); }},
};

void check_cases(const std::vector<Case>& cases) {
  const StateDict file = golden("ops.safetensors");
  for (const Case& c : cases) {
    CAPTURE(c.name);
    const Inputs inputs = golden_inputs(file, c.name);
    check_outputs(file, c.name, c.f(inputs), inputs);
  }
}

}  // namespace

TEST_CASE("PyTorch parity: elementwise ops") { check_cases(kElementwise); }
TEST_CASE("PyTorch parity: reductions") { check_cases(kReductions); }
TEST_CASE("PyTorch parity: products") { check_cases(kProducts); }
TEST_CASE("PyTorch parity: shapes, joins, indices") { check_cases(kShapes); }
TEST_CASE("PyTorch parity: softmax, norms, attention, losses") { check_cases(kLayers); }

TEST_CASE("PyTorch parity: no case of the file is left out") {
  std::set<std::string> tested, written;
  for (const auto* cases : {&kElementwise, &kReductions, &kProducts, &kShapes, &kLayers})
    for (const Case& c : *cases) tested.insert(c.name);
  for (const auto& [key, tensor] : golden("ops.safetensors")) written.insert(key.substr(0, key.find('/')));
  CHECK(tested == written);
}

}  // namespace gradus::test
