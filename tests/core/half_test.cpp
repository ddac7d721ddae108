// bf16 and f16: rounding, tensors of them, files, and what they refuse.

#include "gradus/core/half.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "check_op.h"
#include "gradus/core/detail/bits.h"
#include "gradus/core/io/npy.h"
#include "gradus/core/io/safetensors.h"
#include "gradus/core/tensor.h"
#include "gradus/nn/nn.h"
#include "gradus/ops/ops.h"
#include "support.h"

using namespace gradus;
using gradus::test::check_error;
using gradus::test::ScratchFolder;

namespace {

/// The nearest number with so many bits of fraction, ties to even, by arithmetic alone.
float nearest(float x, int fraction, int least_exponent, float largest) {
  if (x == 0 || !std::isfinite(x)) return x;
  const int exponent = std::max(std::ilogb(x), least_exponent);
  const double unit = std::ldexp(1.0, exponent - fraction);
  const double y = std::nearbyint(double{x} / unit) * unit;
  return std::abs(y) > double{largest} ? std::copysign(HUGE_VALF, x) : static_cast<float>(y);
}

float nearest_bf16(float x) { return nearest(x, 7, -126, 0x1.fep127f); }
float nearest_f16(float x) { return nearest(x, 10, -14, 65504); }

template <class Half>
float rounded(float x) {
  return static_cast<float>(Half(x));
}

bool same_bits(float a, float b) { return bit_cast<std::uint32_t>(a) == bit_cast<std::uint32_t>(b); }

/// Of all floats, every 4096th pattern times an odd number, NaNs left out.
std::vector<float> scattered_floats() {
  std::vector<float> values;
  for (std::uint64_t i = 0; i < 1 << 20; ++i) {
    const auto value = bit_cast<float>(static_cast<std::uint32_t>(i * 2654435761u));
    if (!std::isnan(value)) values.push_back(value);
  }
  return values;
}

template <class Half>
std::uint64_t fingerprint(const std::vector<float>& values) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const float value : values) hash = (hash ^ Half(value).bits) * 0x100000001b3u;
  return hash;
}

template <class Half>
void check_all_patterns() {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    Half half;
    half.bits = static_cast<std::uint16_t>(bits);
    const float value = static_cast<float>(half);
    const Half back(value);
    CAPTURE(bits);
    if (std::isnan(value)) {
      CHECK(std::isnan(static_cast<float>(back)));
      CHECK((back.bits & 0x8000u) == (bits & 0x8000u));
    } else {
      CHECK(back.bits == bits);
    }
  }
}

}  // namespace

TEST_CASE("halves: every pattern survives f32") {
  check_all_patterns<BFloat16>();
  check_all_patterns<Float16>();
}

TEST_CASE("halves: round to the nearest, ties to even, subnormal numbers too") {
  for (const float x : scattered_floats()) {
    if (!same_bits(rounded<BFloat16>(x), nearest_bf16(x))) FAIL_CHECK("bf16 of " << x);
    if (!same_bits(rounded<Float16>(x), nearest_f16(x))) FAIL_CHECK("f16 of " << x);
  }
  CHECK(rounded<BFloat16>(1 + 0x1p-8f) == 1);               // half of the last place: to even
  CHECK(rounded<BFloat16>(1 + 0x3p-8f) == 1 + 0x1p-6f);     // the same, upwards
  CHECK(rounded<BFloat16>(1 + 0x1.01p-8f) == 1 + 0x1p-7f);  // a little more
  CHECK(rounded<BFloat16>(0x1.ffp127f) == HUGE_VALF);       // nearer to 2^128
  CHECK(rounded<BFloat16>(0x1.fefffep127f) == 0x1.fep127f);
  CHECK(rounded<BFloat16>(0x1p-133f) == 0x1p-133f);  // its smallest
  CHECK(rounded<BFloat16>(0x1p-134f) == 0);
  CHECK(rounded<Float16>(65519.996f) == 65504);
  CHECK(rounded<Float16>(65520) == HUGE_VALF);
  CHECK(rounded<Float16>(-65520) == -HUGE_VALF);
  CHECK(rounded<Float16>(0x1p-24f) == 0x1p-24f);  // its smallest
  CHECK(rounded<Float16>(0x1p-25f) == 0);
  CHECK(rounded<Float16>(0x1.8p-25f) == 0x1p-24f);
  CHECK(std::signbit(rounded<BFloat16>(-0.0f)));
  CHECK(std::signbit(rounded<Float16>(-1e-30f)));
}

TEST_CASE("halves: the bits of PyTorch") {
  // torch.from_numpy(values).to(torch.bfloat16).view(torch.int16), PyTorch 1.13, hashed like this.
  const std::vector<float> values = scattered_floats();
  CHECK(values.size() == 1044480);
  CHECK(fingerprint<BFloat16>(values) == 2243591462129989097u);
  CHECK(fingerprint<Float16>(values) == 13787685542858462607u);
}

TEST_CASE("halves: conversions of tensors") {
  const Tensor x = tensor({1.1, -2.5, 65520.0, 0.0});
  CHECK(x.to(bf16).dtype() == bf16);
  CHECK(x.to(bf16).to_vector<float>() == std::vector<float>{1.1015625f, -2.5f, 65536, 0});
  CHECK(x.to(f16).to_vector<float>() == std::vector<float>{1.099609375f, -2.5f, HUGE_VALF, 0});
  CHECK(x.to(f64).to(bf16).to(f64).to_vector<double>() == std::vector<double>{1.1015625, -2.5, 65536, 0});
  CHECK(x.to(bf16).to(f16).to_vector<float>() == std::vector<float>{1.1015625f, -2.5f, HUGE_VALF, 0});
  CHECK(tensor({3, 257, -1}).to(bf16).to(i64).to_vector<int>() == std::vector<int>{3, 256, -1});
  CHECK(tensor({true, false}).to(f16).to_vector<float>() == std::vector<float>{1, 0});
  CHECK(x.to(bf16).to(boolean).to_vector<bool>() == std::vector<bool>{true, true, true, false});
  check_error(
      [] { tensor({0x1p100}).to(bf16).to(i64); },
      "to: 1.2676506e+30 at index 0 of [1] (row-major) is not an i64: take it out with where or clamp first");
}

TEST_CASE("halves: made, viewed, moved and written") {
  const Tensor x = arange(6, f32).reshape({2, 3}).to(bf16);
  CHECK(x.t().contiguous().to_vector<float>() == std::vector<float>{0, 3, 1, 4, 2, 5});
  CHECK(x[1][2].item() == 5);
  CHECK(x.slice(1, 1, 3).to(f32).to_vector<float>() == std::vector<float>{1, 2, 4, 5});
  CHECK(index_select(x, 0, tensor({1, 1})).to_vector<float>() == std::vector<float>{3, 4, 5, 3, 4, 5});
  CHECK(cat({x, x}, 0).shape() == Shape{4, 3});
  CHECK(zeros({2}, bf16).dtype() == bf16);
  CHECK(tensor({1.1}, bf16).item() == 1.1015625);
  CHECK(full({1}, 70000, f16).item() == HUGE_VAL);
  const Tensor y = zeros({2, 3}, f16);
  y.copy_(x);
  y[0].fill_(0.1);
  CHECK(y.to_vector<float>() ==
        std::vector<float>{0.0999755859375f, 0.0999755859375f, 0.0999755859375f, 3, 4, 5});
  CHECK(x.array().storage().bytes() == 12);
  CHECK(x.array().data<BFloat16>()[1].bits == 0x3f80);
}

TEST_CASE("halves: printed as in PyTorch") {
  CHECK(to_string(tensor({1.1, 2.5, -3.0}, bf16)) == "tensor([ 1.1016,  2.5000, -3.0000], dtype=bf16)");
  CHECK(to_string(tensor({1.0, 2.0}, f16)) == "tensor([1., 2.], dtype=f16)");
  CHECK(to_string(tensor({0.1, 1000.0}, bf16)) == "tensor([1.0010e-01, 1.0000e+03], dtype=bf16)");
  CHECK(to_string(zeros({0}, f16)) == "tensor([], dtype=f16)");
}

TEST_CASE("halves: what computes says to convert") {
  const Tensor x = tensor({{1.0, 2.0}}, bf16);
  const std::string numbers =
      ": expects f32, f64, i64 or bool, got bf16 [1, 2], which only stores numbers: convert with .to(f32)";
  const std::string floating = ": expects f32 or f64, got bf16 [1, 2]: convert with .to(f32)";
  check_error([&] { x + x; }, "add" + numbers);
  check_error([&] { x * 2; }, "mul" + numbers);
  check_error([&] { x / 2; }, "div" + numbers);
  check_error([&] { (void)(x == x); }, "eq" + numbers);
  check_error([&] { (void)(x < 1); }, "lt" + numbers);
  check_error([&] { x.sum(); }, "sum" + numbers);
  check_error([&] { max(x); }, "max" + numbers);
  check_error([&] { equal(x, x); }, "equal" + numbers);
  check_error([&] { x.all(); }, "all" + numbers);
  check_error([&] { x.any(); }, "any" + numbers);
  check_error([&] { x.all(1); }, "all" + numbers);
  check_error([&] { outer(x[0], x[0]); }, "outer: expects f32 or f64, got bf16 [2]: convert with .to(f32)");
  check_error([&] { cumsum(x, 0); }, "cumsum" + numbers);
  check_error([&] { sort(x, 1); }, "sort" + numbers);
  check_error([&] { where(tensor({true}), x, x); }, "where" + numbers);
  check_error([&] { exp(x); }, "exp" + floating);
  check_error([&] { matmul(x, x.t()); }, "matmul" + floating);
  check_error([&] { softmax(x, -1); }, "softmax" + floating);
  check_error([&] { Tensor(x).requires_grad_(); }, "requires_grad_" + floating);
  check_error([] { set_default_dtype(bf16); }, "set_default_dtype: expects f32 or f64, got bf16");
  check_error([] { rand({2}, f16); }, "rand: expects f32 or f64, got f16: convert the result with .to(f16)");
  const Tensor w = ones({2}).requires_grad_();
  check_error(
      [&] { w.to(bf16); },
      "to: bf16 only stores numbers and has no gradient, which f32 [2] requires: convert its detach()");
  CHECK(w.detach().to(bf16).to_vector<float>() == std::vector<float>{1, 1});
}

TEST_CASE("halves: in files") {
  const ScratchFolder folder;
  const std::string path = (folder / "x.safetensors").string(), npy = (folder / "x.npy").string();
  const Tensor half = tensor({{1.1, -2.0, 1e-40}}, bf16), other = tensor({0.1, 1e6}, f16);
  save_safetensors(path, {{"a", half.t()}, {"n", tensor({true})}, {"b", other}, {"c", tensor({1.5})}});
  const StateDict kept = load_safetensors(path, nullptr, Halves::keep);
  CHECK(kept.at("a").dtype() == bf16);
  CHECK(kept.at("a").to_vector<float>() == half.t().to_vector<float>());
  CHECK(kept.at("b").dtype() == f16);
  CHECK(kept.at("b").to_vector<float>() == other.to_vector<float>());
  CHECK(kept.at("c").dtype() == f32);
  const StateDict wide = load_safetensors(path);
  CHECK(wide.at("a").dtype() == f32);
  CHECK(wide.at("a").to_vector<float>() == half.t().to_vector<float>());
  save_npy(npy, other);
  CHECK(load_npy(npy).dtype() == f16);
  CHECK(load_npy(npy).to_vector<float>() == other.to_vector<float>());
  check_error([&] { save_npy(npy, half); },
              "save_npy: " + npy +
                  ": NumPy has no type for the bf16 [1, 3]: convert it with .to(f32), or "
                  "use save_safetensors");
}

TEST_CASE("halves: a module reads weights in bf16") {
  nn::Linear layer(3, 2);
  StateDict halves;
  for (const auto& [name, values] : layer.state_dict()) halves.set(name, values.detach().to(bf16));
  layer.load_state_dict(halves);
  CHECK(layer.weight.dtype() == f32);
  CHECK((layer.weight.detach() == halves.at("weight").to(f32)).all());
}
