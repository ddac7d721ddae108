#include "gradus/nn/detail/expect.h"

#include <cmath>
#include <span>

#include "gradus/core/array/detail/element.h"
#include "gradus/ops/ops.h"

namespace gradus::nn {

namespace {
void expect_defined(const char* layer, const char* what, const Tensor& x) {
  check(x.defined(), "{}: {} is an undefined tensor", layer, what);
}

/// That of what a weight of this dtype is multiplied with.
DType dtype_next_to(DType weight) { return is_half(weight) ? f32 : weight; }

void expect_dtype(const char* layer, const char* what, const Tensor& x, DType dtype) {
  dtype = dtype_next_to(dtype);
  if (!is_floating(dtype)) check_floating(layer, x.array(), what);  // a layer without parameters takes x's
  check(x.dtype() == dtype, "{}: expects {} of {}, as are its parameters, got {} {}: convert with .to({})",
        layer, what, dtype, x.dtype(), x.shape(), dtype);
}
}  // namespace

void expect_last_axis(const char* layer, const char* what, const Tensor& x, std::int64_t size, DType dtype) {
  expect_defined(layer, what, x);
  check(x.dim() >= 1 && x.size(-1) == size, "{}: expects {} [..., {}], got {}", layer, what, size, x.shape());
  expect_dtype(layer, what, x, dtype);
}

void expect_sequence(const char* layer, const char* what, const Tensor& x, std::int64_t size, DType dtype) {
  expect_defined(layer, what, x);
  const bool one = x.dim() == 2 && x.size(-1) == size;
  check(x.dtype() != i64 || x.dim() == 3, "{}: expects {} [B, T, {}] of {}, got i64 {}: embed ids first",
        layer, what, size, dtype_next_to(dtype), x.shape());
  check(x.dim() == 3 && x.size(-1) == size, "{}: expects {} [B, T, {}], got {}{}", layer, what, size,
        x.shape(), one ? ": add a batch axis with .unsqueeze(0)" : "");
  expect_dtype(layer, what, x, dtype);
}

void expect_memory(const char* layer, const Tensor& memory, std::int64_t size, DType dtype,
                   const char* call) {
  expect_defined(layer, "memory", memory);
  const bool one = memory.dim() == 2 && memory.size(-1) == size && is_floating(memory.dtype());
  const bool mask = !one && (memory.dtype() == boolean || memory.dim() != 3);
  check(!mask, "{}: expects memory [B, T, {}] of {}, got {} {}: pass a mask by its name: {}", layer, size,
        dtype_next_to(dtype), memory.dtype(), memory.shape(), call);
  expect_sequence(layer, "memory", memory, size, dtype);
}

void expect_decoder_inputs(const char* layer, const Tensor& x, const Tensor& memory, std::int64_t size,
                           DType dtype) {
  expect_sequence(layer, "x", x, size, dtype);
  expect_memory(layer, memory, size, dtype, "decoder(x, memory, {.memory = {.key_padding_mask = padding}})");
}

void expect_channels(const char* layer, const Tensor& x, std::int64_t axis, std::int64_t size, DType dtype) {
  expect_defined(layer, "x", x);
  check(x.dim() >= 2 && x.size(axis) == size,
        "{}: expects x [B, C, ...] of {} channels along axis {}, got {}", layer, size, axis, x.shape());
  expect_dtype(layer, "x", x, dtype);
}

void expect_image(const char* layer, const Tensor& x, int dimensions, std::int64_t channels, DType dtype) {
  expect_defined(layer, "x", x);
  const char* const rest = dimensions == 1 ? "T" : "H, W";
  const bool one = x.dim() == dimensions + 1;
  check(x.dim() == dimensions + 2, "{}: expects x [B, C, {}], got {}{}", layer, rest, x.shape(),
        one ? ": add a batch axis with .unsqueeze(0)" : "");
  check(channels == 0 || x.size(1) == channels, "{}: expects x [B, {}, {}], got {}", layer, channels, rest,
        x.shape());
  expect_dtype(layer, "x", x, dtype);
}

Shape channel_shape(const Tensor& x, std::int64_t axis, std::int64_t size) {
  Shape shape;
  for (std::int64_t i = 0; i < x.dim(); ++i)
    shape.push_back(i == (axis < 0 ? x.dim() + axis : axis) ? size : 1);
  return shape;
}

void expect_table(const char* layer, const char* axes, const Tensor& weight) {
  expect_defined(layer, "weight", weight);
  check(weight.dim() == 2 && weight.numel() > 0, "{}: expects a weight {}, got {}", layer, axes,
        weight.shape());
}

void expect_ids(const char* layer, const char* what, const Tensor& ids) {
  expect_defined(layer, what, ids);
  check(ids.dtype() == i64, "{}: expects {} of i64, got {} {}: convert with .to(i64)", layer, what,
        ids.dtype(), ids.shape());
}

void expect_tokens(const char* layer, const char* what, const Tensor& ids, std::int64_t vocab,
                   const std::string& remedy) {
  expect_ids(layer, what, ids);
  const Tensor all = ids.contiguous();
  const std::span<const std::int64_t> tokens = all.span<std::int64_t>();
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] >= 0 && tokens[i] < vocab) continue;
    const auto number = static_cast<std::int64_t>(i), width = ids.size(-1);
    const Shape at = ids.dim() == 2 ? Shape{number / width, number % width} : Shape{number};
    fail_with("{}: token {} of {}, at {}, is outside its vocab of {}: expects 0 to {}{}", layer, tokens[i],
              what, at, vocab, vocab - 1, remedy);
  }
}

void expect_next_tokens(const char* layer, const Tensor& ids, const Tensor& targets) {
  const Tensor read = ids.contiguous(), wanted = targets.contiguous();
  const std::span<const std::int64_t> id = read.span<std::int64_t>(), target = wanted.span<std::int64_t>();
  if (id.empty()) return;
  const std::int64_t ignored = *CrossEntropyOptions().ignore_index;
  const auto width = static_cast<std::size_t>(ids.size(1));
  // Equal memory cannot be shifted, unless all positions of a row share an element, as in expand().
  const Array &a = ids.array(), &b = targets.array();
  bool copies = a.raw() == b.raw() && a.strides() == b.strides() && width > 1 && a.strides()[1] != 0;
  for (std::size_t i = 0; i < id.size(); ++i) {
    if (target[i] == ignored) continue;
    if (target[i] != id[i]) return;
    // Documents of one repeated token also have such targets; but in them no token occurs only once, except
    // at the ends of a row, which may cut a document.
    const bool inner = i % width != 0 && (i + 1) % width != 0;
    if (inner && target[i + 1] != ignored && id[i] != id[i - 1] && id[i] != id[i + 1]) copies = true;
  }
  check(!copies,
        "{}: targets {} are the ids, which a model learns to copy: expects the next tokens, as in "
        "loss(text.slice(1, 0, -1), text.slice(1, 1)) and from data::text_windows",
        layer, targets.shape());
}

void expect_stop(const std::string& caller, const std::vector<std::int64_t>& stop, std::int64_t vocab) {
  for (const std::int64_t token : stop)
    check(token >= 0 && token < vocab, "{} expects stop tokens in 0 .. {}, its vocabulary, got {}", caller,
          vocab - 1, token);
}

void expect_positive(const char* layer, const char* what, std::int64_t value) {
  check(value > 0, "{}: expects {} of 1 or more, got {}", layer, what, value);
  // Larger sizes do not fit into memory, and small multiples of this one cannot overflow.
  check(value <= std::int64_t{1} << 40, "{}: {} is too large: {}", layer, what, value);
}

void expect_probability(const char* layer, const char* what, double p) {
  check(p >= 0 && p <= 1, "{}: expects {} from 0 to 1, got {}", layer, what, p);
}

void expect_eps(const char* layer, double eps) {
  check(eps >= 0 && std::isfinite(eps), "{}: expects eps of 0 or more, got {}", layer, eps);
}

void expect_heads(const char* layer, std::int64_t d_model, std::int64_t heads, std::int64_t head_dim) {
  expect_positive(layer, "d_model", d_model);
  expect_positive(layer, "heads", heads);
  check(head_dim >= 0, "{}: expects a head_dim of 1 or more, or 0 for d_model / heads, got {}", layer,
        head_dim);
  check(head_dim > 0 || d_model % heads == 0, "{}: d_model {} is not divisible by heads {}", layer, d_model,
        heads);
}

void expect_norm(const char* layer, bool given) {
  check(given, "{}: norm is empty: set it to make_norm<LayerNorm>, make_norm<RMSNorm> or make_norm<YourNorm>",
        layer);
}

}  // namespace gradus::nn
