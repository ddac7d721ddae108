// Calls that do not compile: they would dangle, or C++ would silently interpret them differently. Each has
// the intended call next to it. The remedy is on the line of the deleted function, which compilers quote.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "gradus/core/io/state_dict.h"
#include "gradus/core/random/random.h"
#include "gradus/ops/ops.h"

using namespace gradus;

namespace {

// A requires-expression works only if types are parameters. T is Tensor; `make` is f(x), a temporary.
#define COMPILES(...)                                                                                     \
  []<class T, class Bool = bool, class Real = double, class Size = std::size_t, class Text = std::string, \
     class Char = char, class Wide = long double, class Narrow = int>(T*) {                               \
    return requires(T & l, const T& y, T (*make)(), Bool flag, Real d, Size size, Narrow i) {             \
      __VA_ARGS__;                                                                                        \
    };                                                                                                    \
  }                                                                                                       \
  (static_cast<Tensor*>(nullptr))

// --- references and spans into a temporary
static_assert(COMPILES(y.template span<float>()));
static_assert(!COMPILES(make().template span<float>()));
static_assert(!COMPILES(y[0].template span<float>()));
static_assert(COMPILES(y.template mutable_span<float>()));
static_assert(!COMPILES(make().template mutable_span<float>()));
static_assert(COMPILES(y.array().template data<float>()));
static_assert(!COMPILES(make().array().template data<float>()));
static_assert(!COMPILES(y.array().contiguous().template data<float>()));
static_assert(!COMPILES(make().array().template mutable_data<float>()));
static_assert(COMPILES(y.array().raw()));
static_assert(!COMPILES(make().array().raw()));
static_assert(!COMPILES(make().shape().begin()));
static_assert(!COMPILES(std::string(make().shape().end())));
static_assert(COMPILES(T(make().requires_grad_())));
static_assert(!COMPILES(static_cast<T&>(make().requires_grad_())));
static_assert(!std::is_reference_v<decltype(Tensor().shape())>);
static_assert(!std::is_reference_v<decltype(Tensor().strides())>);
static_assert(!std::is_reference_v<decltype(Tensor().array())>);
static_assert(!std::is_reference_v<decltype(Tensor().node())>);
static_assert(!std::is_reference_v<decltype(Tensor().shape()[0])>);
static_assert(!std::is_reference_v<decltype(Tensor().fill_(1))>);
static_assert(!std::is_reference_v<decltype(Tensor().copy_(Tensor()))>);
static_assert(!std::is_reference_v<decltype(Tensor().zero_())>);
static_assert(!std::is_reference_v<decltype(Tensor().retain_grad())>);
static_assert(!std::is_reference_v<decltype(Tensor().on_grad([](const Array&) {}))>);
static_assert(!std::is_reference_v<decltype(StateDict().at(""))>);
static_assert(!std::is_reference_v<decltype(Generator().state())>);
static_assert(!std::is_reference_v<decltype(Array().storage())>);

// --- numbers in and out
static_assert(COMPILES(from_vector(std::vector<Narrow>{1}, {1})));
static_assert(!COMPILES(from_vector(std::vector<Text>{}, {0})));
static_assert(!COMPILES(from_vector(std::vector<Char>{}, {0})));
static_assert(!COMPILES(from_vector(std::vector<Wide>{}, {0})));
static_assert(COMPILES(y.template to_vector<int>()));
static_assert(!COMPILES(y.template to_vector<std::string>()));
static_assert(!COMPILES(y.template span<int>()));
static_assert(!COMPILES(y.template mutable_span<int>()));
static_assert(!COMPILES(y.array().template data<int>()));
static_assert(!COMPILES(y.template item<char>()));

// --- axes, indices and sizes are integers
static_assert(COMPILES(y.sum(-1), y.sum(size), y.sum({0, 1}), y.sum({}, true), y.sum(-1, flag)));
static_assert(!COMPILES(y.sum(true)));
static_assert(!COMPILES(y.sum(1.5)));
static_assert(!COMPILES(y.sum({true})));
static_assert(!COMPILES(y.sum({d})));
static_assert(!COMPILES(y.sum(0, 1)));  // two axes, or keepdim?
static_assert(!COMPILES(sum(y, 0, 1)));
static_assert(!COMPILES(y.mean(true)));
static_assert(!COMPILES(y.max(0, 1)));
static_assert(COMPILES(y.argmax(), y.argmax(-1, true), y.argmax({}, true)));
static_assert(!COMPILES(y.argmax(true)));
static_assert(!COMPILES(y.argmax(1.5)));
static_assert(!COMPILES(argmin(y, true)));
static_assert(!COMPILES(y.argmax(0, 1)));
static_assert(COMPILES(y[i], y[size]));
static_assert(!COMPILES(y[1.5]));
static_assert(!COMPILES(y[true]));
static_assert(!COMPILES(y.select(0, d)));
static_assert(!COMPILES(y.slice(0, 0, 1.5)));
static_assert(!COMPILES(y.squeeze(true)));
static_assert(!COMPILES(y.unsqueeze(1.0)));
static_assert(!COMPILES(y.transpose(0, true)));
static_assert(!COMPILES(y.flatten(true)));
static_assert(!COMPILES(y.softmax(1.0)));
static_assert(!COMPILES(y.size(flag)));
static_assert(COMPILES(y.reshape({i, -1}), y.reshape({size, 3})));
static_assert(!COMPILES(y.reshape({d, 2})));
static_assert(!COMPILES(y.permute({1, flag})));
static_assert(!COMPILES(zeros({d, 3})));
static_assert(!COMPILES(cumsum(y, true)));
static_assert(!COMPILES(sort(y, true)));  // descending comes third
static_assert(!COMPILES(sort(y, -1, 1)));
static_assert(!COMPILES(topk(y, 1.5)));
static_assert(!COMPILES(multinomial(y, 2, 1)));
static_assert(!COMPILES(dropout(y, 0.5, 1)));
static_assert(!COMPILES(linspace(0, 1, d)));  // a step, where a count is expected
static_assert(!COMPILES(randint(0, d, {2})));
static_assert(!COMPILES(eye(3, d)));
static_assert(!COMPILES(l.requires_grad_(1)));
static_assert(!COMPILES(y.backward(1.0)));  // a gradient is a tensor, retain_graph a bool
static_assert(COMPILES(y.backward(), y.backward(true), y.backward(y), y.backward(y, true)));
static_assert(!COMPILES(y.backward({.create_graph = true})));  // grad(y, {x}, {.create_graph = true})
static_assert(!COMPILES(y.backward(true, true)));
static_assert(!COMPILES(y.backward(y, true, true)));

// --- which is which
static_assert(COMPILES(y.var(-1, {.keepdim = true, .unbiased = false})));
static_assert(!COMPILES(y.var(-1, false)));
static_assert(!COMPILES(y.var(-1, true, false)));
static_assert(!COMPILES(var(y, -1, false)));
static_assert(!COMPILES(y.var(false)));
static_assert(!COMPILES(y.std(-1, false)));
static_assert(!COMPILES(y.max_with_indices(true)));
static_assert(!COMPILES(y.max_with_indices({0, 1})));
static_assert(COMPILES(y.all(), y.all(-1), y.all({0, 1}, true), y.all({}, flag)));
static_assert(!COMPILES(y.all(true)));
static_assert(!COMPILES(y.any(0, 1)));
static_assert(COMPILES(y.clamp(0), y.clamp({}, 1), y.clamp(0.5, i)));
static_assert(COMPILES(l += y, l -= 1, l *= d, l /= l, y += l, y[0] += 1, make() *= y));
static_assert(!COMPILES(l += Text()));
static_assert(COMPILES(y.norm(), y.norm(2), y.norm(2, -1, true)));
static_assert(!COMPILES(y.norm({0})));
static_assert(!COMPILES(y.norm({0, 1})));
static_assert(!COMPILES(norm(y, {1})));

}  // namespace

TEST_CASE("a temporary returns its shape, strides and array by value") {
  const auto f = [] { return zeros({2, 3}); };
  std::vector<std::int64_t> sizes;
  for (const std::int64_t n : f().shape()) sizes.push_back(n);
  CHECK(sizes == std::vector<std::int64_t>{2, 3});
  const Shape& shape = f().shape();
  const Array& array = f().array();
  const Tensor& filled = f().fill_(4);
  const Tensor& entry = StateDict{{"w", f()}}.at("w");
  for (int i = 0; i < 8; ++i) zeros({2, 3}).fill_(-1);  // would reuse the memory, were it free
  CHECK(shape == Shape{2, 3});
  CHECK(array.at({1, 2}) == 0);
  CHECK(filled.sum().item() == 24);
  CHECK(entry.sum().item() == 0);
  CHECK(f().requires_grad_().requires_grad());
}
