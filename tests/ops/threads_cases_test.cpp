// The cases of threads_test.cpp. (The name ends as the build wants it; there is no test here.)

#include "threads_cases.h"

namespace gradus::test {

std::vector<ThreadCase> elementwise_cases() {
  using T = const Tensors&;
  std::vector<ThreadCase> cases = {
      {"add", {kFlat, kFlat}, [](T x) { return x[0] + x[1]; }},
      {"sub broadcast", {kFlat, {607}}, [](T x) { return x[0] - x[1]; }},
      {"mul broadcast", {kFlat, {311, 1}}, [](T x) { return x[0] * x[1]; }},
      {"mul short rows", {kShortRows, {5}}, [](T x) { return x[0] * x[1]; }},
      {"mul short rows, outer", {{9001, 1}, {1, 5}}, [](T x) { return x[0] * x[1]; }},
      {"where short rows", {kShortRows, {9001, 1}}, [](T x) { return where(x[0] > 0.5, x[0], x[1]); }},
      {"div scalar", {kFlat, {}}, [](T x) { return x[0] / x[1]; }},
      {"sub transposed", {kFlat, {607, 311}}, [](T x) { return x[0] - x[1].t(); }},
      {"compare", {kFlat, kFlat}, [](T x) { return x[0] < x[1]; }},
      {"pow", {kFlat, kFlat}, [](T x) { return pow(x[0], x[1]); }},
      {"pow number", {kFlat}, [](T x) { return pow(x[0], 1.7); }},
      {"maximum", {kFlat, {607}}, [](T x) { return maximum(x[0], x[1]); }},
      {"minimum", {kFlat, {311, 1}}, [](T x) { return minimum(x[0], x[1]); }},
      {"where", {kFlat, {607}}, [](T x) { return where(x[0] > 0.5, x[0], x[1]); }},
      {"masked_fill", {kFlat}, [](T x) { return masked_fill(x[0], x[0] > 0.5, -1); }},
      {"clamp", {kFlat}, [](T x) { return clamp(x[0], 0.3, 0.8); }},
      {"floor_divide", {kFlat, {607}}, [](T x) { return floor_divide(x[0] * 9, x[1]); }},
      {"remainder", {kFlat, {607}}, [](T x) { return remainder(x[0] * 9, x[1]); }},
      {"leaky_relu", {kFlat}, [](T x) { return leaky_relu(x[0] - 0.5); }},
      {"softplus", {kFlat}, [](T x) { return softplus(x[0] - 0.5, 2); }},
      {"add in place",
       {kFlat, kFlat},
       [](T x) {
         Tensor y = x[0].detach().clone();
         y += x[1].detach();
         y *= 3;
         return y;
       }},
      {"dropout",
       {kFlat},
       [](T x) {
         Generator g(3);
         return dropout(x[0], 0.3, true, g);
       }},
      {"equal", {kFlat}, [](T x) { return full({1}, equal(x[0], x[0].clone())); }},
      {"allclose", {kFlat}, [](T x) { return full({1}, allclose(x[0], x[0] * (1 + 1e-12))); }},
  };
  const std::pair<const char*, Tensor (*)(const Tensor&)> functions[] = {
      {"neg", neg},
      {"abs", abs},
      {"square", square},
      {"sqrt", sqrt},
      {"rsqrt", rsqrt},
      {"exp", exp},
      {"log", log},
      {"log1p", log1p},
      {"log2", log2},
      {"expm1", expm1},
      {"reciprocal", reciprocal},
      {"sign", sign},
      {"floor", [](const Tensor& x) { return floor(x * 4); }},
      {"ceil", [](const Tensor& x) { return ceil(x * 4); }},
      {"round", [](const Tensor& x) { return round(x * 4); }},
      {"isnan", isnan},
      {"isinf", isinf},
      {"isfinite", isfinite},
      {"sin", sin},
      {"cos", cos},
      {"tanh", tanh},
      {"sigmoid", sigmoid},
      {"relu", relu},
      {"silu", silu},
      {"activate", [](const Tensor& x) { return activate(Activation::gelu_tanh, x); }},
      {"erf", erf},
      {"clone", clone},
      {"contiguous", contiguous},
  };
  for (const auto& [name, f] : functions)
    cases.push_back({name, {kFlat}, [f = f](T x) { return f(x[0].t()); }});
  for (GeluForm form : {GeluForm::erf, GeluForm::tanh})
    cases.push_back({"gelu", {kFlat}, [form](T x) { return gelu(x[0] - 0.5, form); }});
  return cases;
}

std::vector<ThreadCase> product_cases() {
  using T = const Tensors&;
  std::vector<ThreadCase> cases = {
      {"matmul", {{301, 250}, {250, 190}}, [](T x) { return matmul(x[0], x[1]); }},
      {"matmul transposed", {{250, 301}, {190, 250}}, [](T x) { return matmul(x[0].t(), x[1].t()); }},
      {"matmul batches", {{24, 60, 70}, {24, 70, 50}}, [](T x) { return matmul(x[0], x[1]); }},
      {"matmul shared", {{24, 60, 70}, {70, 50}}, [](T x) { return matmul(x[0], x[1]); }},
      {"matmul vector", {kFlat, {607}}, [](T x) { return matmul(x[0], x[1]); }},
      {"matmul row", {{311}, kFlat}, [](T x) { return matmul(x[0], x[1]); }},
      {"matmul deep", {{10, 9000}, {9000, 12}}, [](T x) { return matmul(x[0], x[1]); }},
      {"linear", {{3, 100, 250}, {190, 250}, {190}}, [](T x) { return linear(x[0], x[1], x[2]); }},
      {"linear",
       {{3, 100, 250}, {190, 250}, {190}},
       [](T x) { return linear(x[0], x[1], x[2], Activation::relu); }},
      {"outer", {{311}, {607}}, [](T x) { return outer(x[0], x[1]); }},
      {"einsum",
       {{24, 60, 70}, {24, 50, 70}},
       [](T x) {
         return einsum("bqd,bkd->qk", {x[0], x[1]});
       }},
      {"embedding",
       {{50, 96}},
       [](T x) {
         return embedding(indices({40, 60}, 50), x[0]);
       }},
      {"softmax", {kFlat}, [](T x) { return softmax(x[0], -1); }},
      {"softmax inner", {kCube}, [](T x) { return softmax(x[0], 1); }},
      {"log_softmax", {kFlat}, [](T x) { return log_softmax(x[0], -1); }},
      {"layer_norm", {kFlat, {607}, {607}}, [](T x) { return layer_norm(x[0], x[1], x[2]); }},
      {"rms_norm", {kFlat, {607}}, [](T x) { return rms_norm(x[0], x[1]); }},
      {"rope", {{3, 5, 150, 16}}, [](T x) { return rope(x[0], {.offset = 3}); }},
      {"normalize", {kFlat}, [](T x) { return normalize(x[0], 2, -1); }},
      {"cosine_similarity", {kFlat, kFlat}, [](T x) { return cosine_similarity(x[0], x[1], 0); }},
      {"mse_loss", {kFlat, kFlat}, [](T x) { return mse_loss(x[0], x[1]); }},
      {"l1_loss", {kFlat, kFlat}, [](T x) { return l1_loss(x[0], x[1]); }},
      {"huber_loss", {kFlat, kFlat}, [](T x) { return huber_loss(x[0], x[1], Reduction::mean, 0.2); }},
      {"kl_div", {kFlat, kFlat}, [](T x) { return kl_div(x[0], x[1]); }},
      {"cross_entropy soft", {kFlat, kFlat}, [](T x) { return cross_entropy(x[0], x[1]); }},
      {"cross_entropy weighted",
       {kFlat, {607}},
       [](T x) {
         return cross_entropy(x[0], indices({311}, 607), {.weight = x[1].detach(), .label_smoothing = 0.1});
       }},
      {"binary_cross_entropy_with_logits",
       {kFlat},
       [](T x) { return binary_cross_entropy_with_logits(x[0], rand_like(x[0].detach()) * 0 + 0.3); }},
      {"cross_entropy", {kFlat}, [](T x) { return cross_entropy(x[0], indices({311}, 607)); }},
      {"cross_entropy smooth",
       {kFlat},
       [](T x) { return cross_entropy(x[0], indices({311}, 607), {.label_smoothing = 0.1}); }},
      {"linear_cross_entropy",
       {{1000, 8}, {9000, 8}, {9000}},  // more than one chunk of logits
       [](T x) { return linear_cross_entropy(x[0], x[1], indices({1000}, 9000), {}, x[2]); }},
      {"nll_loss", {kFlat}, [](T x) { return nll_loss(log_softmax(x[0], -1), indices({311}, 607)); }},
      {"self_attention_packed",
       {kPacked},
       [](T x) { return self_attention_packed(x[0], 4, {.causal = true}); }},
      {"attention_weights",
       {kHeads, kHeads},
       [](T x) { return attention_weights(x[0], x[1], {.causal = true}); }},
  };
  const auto attention = [&](const char* name, AttentionOptions options) {
    cases.push_back(
        {std::string("scaled_dot_product_attention ") + name, {kHeads, kHeads, kHeads}, [options](T x) {
           manual_seed(9);  // dropout draws from the default generator
           return scaled_dot_product_attention(x[0], x[1], x[2], options);
         }});
  };
  attention("whole", {});
  attention("causal", {.causal = true});
  attention("masked", {.mask = indices({150, 150}, 3) > 0});
  attention("with dropout", {.causal = true, .dropout = 0.2});
  attention("in a band", {.causal = true, .window = 40});
  attention("in a band to both sides, with ALiBi", {.window = 17, .alibi = true});
  return cases;
}

std::vector<ThreadCase> shape_cases() {
  using T = const Tensors&;
  std::vector<ThreadCase> cases;
  // Reductions over all axes, the first, one in the middle, the last and two of them.
  const auto reduction = [&](const char* name, auto f) {
    for (const Axes& axes : {Axes{}, Axes{0}, Axes{1}, Axes{-1}, Axes{0, 2}})
      cases.push_back({name, {kCube}, [=](T x) { return f(x[0], axes); }});
    for (const Axes& axes : {Axes{0}, Axes{1}})
      cases.push_back({name, {kShortRows}, [=](T x) { return f(x[0], axes); }});
  };
  reduction("sum", [](const Tensor& x, const Axes& axes) { return sum(x, axes); });
  reduction("mean", [](const Tensor& x, const Axes& axes) { return mean(x, axes); });
  reduction("var", [](const Tensor& x, const Axes& axes) { return var(x, axes); });
  reduction("std", [](const Tensor& x, const Axes& axes) { return std(x, axes); });
  reduction("prod", [](const Tensor& x, const Axes& axes) { return prod(x + 0.4, axes); });
  reduction("all", [](const Tensor& x, const Axes& axes) { return all(x > 0.1001, axes); });
  reduction("any", [](const Tensor& x, const Axes& axes) { return any(x > 1.0999, axes); });
  reduction("max", [](const Tensor& x, const Axes& axes) { return max(x, axes); });
  reduction("min", [](const Tensor& x, const Axes& axes) { return min(x, axes); });
  reduction("norm", [](const Tensor& x, const Axes& axes) { return norm(x, 2, axes); });
  reduction("logsumexp", [](const Tensor& x, const Axes& axes) { return logsumexp(x, axes); });
  const auto along = [&](const char* name, auto f) {
    for (std::int64_t axis : {0, 1, 2}) cases.push_back({name, {kCube}, [=](T x) { return f(x[0], axis); }});
  };
  along("max_with_indices",
        [](const Tensor& x, std::int64_t axis) { return max_with_indices(x, axis).first; });
  along("min_with_indices",
        [](const Tensor& x, std::int64_t axis) { return min_with_indices(x, axis).first; });
  along("argmax", [](const Tensor& x, std::int64_t axis) { return argmax(x, axis); });
  along("argmin", [](const Tensor& x, std::int64_t axis) { return argmin(x, axis); });
  along("cumsum", [](const Tensor& x, std::int64_t axis) { return cumsum(x, axis); });
  along("sort", [](const Tensor& x, std::int64_t axis) { return sort(x, axis).first; });
  along("topk", [](const Tensor& x, std::int64_t axis) { return topk(x, 5, axis).first; });
  along("cat", [](const Tensor& x, std::int64_t axis) { return cat({x, x * 2}, axis); });
  along("stack", [](const Tensor& x, std::int64_t axis) { return stack({x, x * 2}, axis); });
  along("split", [](const Tensor& x, std::int64_t axis) { return joined(split(x, 3, axis)); });
  along("chunk", [](const Tensor& x, std::int64_t axis) { return joined(chunk(x, 4, axis)); });
  along("flip", [](const Tensor& x, std::int64_t axis) { return flip(x, {axis}); });
  along("roll", [](const Tensor& x, std::int64_t axis) { return roll(x, 2, axis); });
  along("select", [](const Tensor& x, std::int64_t axis) { return select(x, axis, 3) * 2; });
  along("slice", [](const Tensor& x, std::int64_t axis) { return slice(x, axis, 1, {}, 2) * 2; });
  along("index_select",
        [](const Tensor& x, std::int64_t axis) { return index_select(x, axis, indices({90}, 7)); });
  along("gather", [](const Tensor& x, std::int64_t axis) { return gather(x, axis, indices(kCube, 7)); });
  along("scatter_add", [](const Tensor& x, std::int64_t axis) {
    return scatter_add(x, axis, indices(kCube, 7), square(x));
  });
  along("unfold", [](const Tensor& x, std::int64_t axis) { return unfold(x, axis, 3, 2) * 2; });
  along("scatter",
        [](const Tensor& x, std::int64_t axis) { return scatter(x, axis, indices(kCube, 7), square(x)); });
  along("index_add", [](const Tensor& x, std::int64_t axis) {
    return index_add(x, axis, indices({90}, 7), index_select(square(x), axis, indices({90}, 5)));
  });
  along("unbind", [](const Tensor& x, std::int64_t axis) { return joined(unbind(x, axis)); });
  along("repeat_interleave",
        [](const Tensor& x, std::int64_t axis) { return repeat_interleave(x, 3, axis); });
  along("transpose", [](const Tensor& x, std::int64_t axis) { return contiguous(transpose(x, 0, axis)); });
  along("unsqueeze", [](const Tensor& x, std::int64_t axis) { return unsqueeze(x, axis) * 2; });
  const ThreadCase others[] = {
      {"reshape",
       {kCube},
       [](T x) {
         return reshape(transpose(x[0], 0, 2), {-1, 7});
       }},
      {"view",
       {kCube},
       [](T x) {
         return view(x[0], {-1, 211}) * 2;
       }},
      {"permute",
       {kCube},
       [](T x) {
         return contiguous(permute(x[0], {2, 0, 1}));
       }},
      {"squeeze", {{1, 311, 607}}, [](T x) { return squeeze(x[0]) * 2; }},
      {"expand",
       {{130, 1}},
       [](T x) {
         return expand(x[0], {7, 130, 211}) * 2;
       }},
      {"flatten", {kCube}, [](T x) { return flatten(x[0]) * 2; }},
      {"to", {kFlat}, [](T x) { return to(x[0], x[0].dtype() == f32 ? f64 : f32) * 2; }},
      {"pad",
       {kFlat},
       [](T x) {
         return pad(x[0], {3, 1, 0, 2}, 0.5);
       }},
      {"pad reflect",
       {kFlat},
       [](T x) {
         return pad(x[0], {3, 1, 0, 2}, PadMode::reflect);
       }},
      {"repeat",
       {kFlat},
       [](T x) {
         return repeat(x[0], {2, 3});
       }},
      {"masked_select", {kFlat}, [](T x) { return masked_select(x[0], x[0].detach() > 0.4); }},
      {"masks and indices",
       {kFlat},
       [](T x) {
         const Tensor y = x[0].detach().clone();
         y[y > 0.5] = 2;
         y[indices({500}, 311)] = square(y[indices({500}, 300)]);
         return x[0][indices({50, 20}, 311)] + y[0];
       }},
      {"nonzero", {kFlat}, [](T x) { return nonzero(x[0] > 0.5); }},
      {"tril", {kFlat}, [](T x) { return tril(x[0]); }},
      {"triu", {kFlat}, [](T x) { return triu(x[0], 1); }},
      {"one_hot", {}, [](T) { return one_hot(indices({900}, 200), 200); }},
      {"multinomial",
       {kFlat},
       [](T x) {
         Generator g(3);
         return multinomial(x[0].detach(), 40, true, g);
       }},
  };
  cases.insert(cases.end(), std::begin(others), std::end(others));
  return cases;
}

}  // namespace gradus::test
