// Ops on one tensor, an element at a time.

#include <cmath>
#include <numbers>

#include "gradus/core/random/random.h"
#include "gradus/ops/ops.h"
#include "reliability/graphs/cases.h"

namespace gradus::test::graphs {

Scalar exp(Scalar x) { return apply(Formula::exp, x); }
Scalar log(Scalar x) { return apply(Formula::log, x); }
Scalar sqrt(Scalar x) { return power(x, 0.5); }
Scalar sigmoid(Scalar x) { return apply(Formula::sigmoid, x); }
Scalar absolute(Scalar x) {
  const int side = compare(x, 0);
  return side > 0 ? x : side < 0 ? -x : constant(0);
}
Scalar relu(Scalar x) { return compare(x, 0) > 0 ? x : constant(0); }
Scalar gelu(Scalar x) { return 0.5 * x * (1 + apply(Formula::erf, x * (1 / std::numbers::sqrt2))); }
Scalar gelu_tanh(Scalar x) {
  const Scalar u = (x + 0.044715 * (x * x * x)) * std::sqrt(2 / std::numbers::pi);
  return 0.5 * x * (1 + apply(Formula::tanh, u));
}

Scalar floored(Scalar x, Scalar z) {
  const ScalarTape::Entry a = tape()[x], b = tape()[z];
  if (a.error > 0 || b.error > 0) throw Unstable{"a step hangs on rounding"};
  const double quotient = a.value / b.value;
  if (quotient == std::round(quotient) && std::fmod(a.value, b.value) != 0)
    throw Unstable{"the quotient is rounded to an integer"};
  return constant(std::floor(quotient));
}

Drawing one(const Wanted& wanted) {
  return [wanted](Draw& draw, Step& p) {
    draw.add(p, wanted);
    return true;
  };
}

namespace {

template <class F>
Naive each_of(F f) {
  return [f](const Step& p, const Blocks& x) -> Blocks {
    return {each(x[0], [&](Scalar number) {
      if constexpr (std::is_invocable_v<F, Scalar>)
        return f(number);
      else
        return f(p, number);
    })};
  };
}

/// A function that is flat between its steps; its number is decided on, not computed.
template <class F>
Naive steps(F f) {
  return each_of([f](Scalar x) {
    if (tape()[x].error > 0) throw Unstable{"a step hangs on rounding"};
    return constant(f(value_of(x)));
  });
}

/// The same with bools as a result.
template <class F>
Naive tests(F f) {
  return [f](const Step&, const Blocks& x) -> Blocks {
    Block y = each(x[0], [&](Scalar number) { return constant(f(value_of(number))); });
    y.dtype = boolean;
    return {y};
  };
}

Scalar softplus(const Step& p, Scalar x) { return log(1 + exp(x * p.a)) / p.a; }

Block converted(const Block& x, DType dtype) {
  Block y{x.shape, dtype};
  for (const Scalar number : x.numbers) {
    const ScalarTape::Entry& from = tape()[number];
    y.numbers.push_back(tape().add({.value = from.value,
                                    .error = from.error + rounding_of(dtype) * std::abs(from.value),
                                    .a = number.id,
                                    .formula = Formula::copy}));
  }
  return y;
}

/// x rounded to so many significant bits; a tie, which f64 may reach in two roundings, is left out.
double with_bits(double x, int bits) {
  int exponent = 0;
  const double scaled = std::ldexp(std::frexp(x, &exponent), bits);
  if (x != 0 && exponent < -10) throw Unstable{"f16 has fewer bits"};
  if (std::abs(std::abs(scaled - std::trunc(scaled)) - 0.5) < 1e-4 &&
      scaled != std::nearbyint(scaled * 2) / 2)
    throw Unstable{"nearly a tie"};
  return std::ldexp(std::nearbyint(scaled), exponent - bits);
}

Tensor dropped(const Tensor& x, std::int64_t seed) {
  Generator generator(static_cast<std::uint64_t>(seed));
  return dropout(x, 0.5, true, generator);
}

constexpr Wanted kSmall{.low = -8, .high = 8}, kPositive{.low = 0.1, .high = 50};

bool with_number(Draw& draw, Step& p) {
  draw.add(p, kSmall);
  p.a = draw.number(0.25, 2);
  return true;
}

}  // namespace

std::vector<OpCase> elementwise_cases() {
  const Wanted any_number{.floating = false};
  return {
      {"neg", one(), GRADUS_CALL(neg(x[0])), each_of([](Scalar x) { return -x; })},
      {"operator-", one(), GRADUS_CALL(-x[0]), each_of([](Scalar x) { return -x; })},
      {"abs", one(), GRADUS_CALL(abs(x[0])), each_of(absolute), "x0"},
      {"square", one(), GRADUS_CALL(square(x[0])), each_of([](Scalar x) { return x * x; }), "x0"},
      {"sqrt", one(kPositive), GRADUS_CALL(sqrt(x[0])), each_of([](Scalar x) { return sqrt(x); }), "y"},
      {"rsqrt", one(kPositive), GRADUS_CALL(rsqrt(x[0])), each_of([](Scalar x) { return power(x, -0.5); }),
       "y"},
      {"reciprocal", one(kPositive), GRADUS_CALL(reciprocal(x[0])),
       each_of([](Scalar x) { return power(x, -1); }), "y"},
      {"exp", one({.low = -8, .high = 4}), GRADUS_CALL(exp(x[0])), each_of([](Scalar x) { return exp(x); }),
       "y"},
      {"expm1", one({.low = -8, .high = 4}), GRADUS_CALL(expm1(x[0])),
       each_of([](Scalar x) { return apply(Formula::expm1, x); }), "y"},
      {"log", one(kPositive), GRADUS_CALL(log(x[0])), each_of([](Scalar x) { return log(x); }), "x0"},
      {"log2", one(kPositive), GRADUS_CALL(log2(x[0])),
       each_of([](Scalar x) { return log(x) / std::numbers::ln2; }), "x0"},
      {"log1p", one({.low = -0.75, .high = 50}), GRADUS_CALL(log1p(x[0])),
       each_of([](Scalar x) { return log(1 + x); }), "x0"},
      {"sign", one(), GRADUS_CALL(sign(x[0])), steps([](double x) {
         return x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0;
       })},
      {"floor", one(), GRADUS_CALL(floor(x[0])), steps([](double x) { return std::floor(x); })},
      {"ceil", one(), GRADUS_CALL(ceil(x[0])), steps([](double x) { return std::ceil(x); })},
      {"round", one(), GRADUS_CALL(round(x[0])), steps([](double x) { return std::nearbyint(x); })},
      {"sin", one(kSmall), GRADUS_CALL(sin(x[0])), each_of([](Scalar x) { return apply(Formula::sin, x); }),
       "x0"},
      {"cos", one(kSmall), GRADUS_CALL(cos(x[0])), each_of([](Scalar x) { return apply(Formula::cos, x); }),
       "x0"},
      {"tanh", one(kSmall), GRADUS_CALL(tanh(x[0])),
       each_of([](Scalar x) { return apply(Formula::tanh, x); }), "y"},
      {"sigmoid", one(kSmall), GRADUS_CALL(sigmoid(x[0])), each_of(sigmoid), "y"},
      {"erf", one(kSmall), GRADUS_CALL(erf(x[0])), each_of([](Scalar x) { return apply(Formula::erf, x); }),
       "x0"},
      {"relu", one(), GRADUS_CALL(relu(x[0])), each_of(relu), "y"},
      {"silu", one(kSmall), GRADUS_CALL(silu(x[0])), each_of([](Scalar x) { return x * sigmoid(x); }), "x0"},
      {"leaky_relu", with_number, GRADUS_CALL(leaky_relu(x[0], p.a)),
       each_of([](const Step& p, Scalar x) { return compare(x, 0) > 0 ? x : x * p.a; }), "x0"},
      {"softplus", with_number, GRADUS_CALL(softplus(x[0], p.a)), each_of(softplus), "x0?"},
      {"gelu", one(kSmall), GRADUS_CALL(gelu(x[0])), each_of(gelu), "x0"},
      {"gelu", one(kSmall), GRADUS_CALL(gelu(x[0], GeluForm::tanh)), each_of(gelu_tanh), "x0"},
      {"activate", one(kSmall), GRADUS_CALL(activate(Activation::silu, x[0])),
       each_of([](Scalar x) { return x * sigmoid(x); }), "x0"},
      {"activate", one(kSmall), GRADUS_CALL(activate(Activation::gelu_tanh, x[0])), each_of(gelu_tanh), "x0"},
      {"isnan", one(any_number), GRADUS_CALL(isnan(x[0])), tests([](double) { return 0.0; })},
      {"isinf", one(any_number), GRADUS_CALL(isinf(x[0])), tests([](double) { return 0.0; })},
      {"isfinite", one(any_number), GRADUS_CALL(isfinite(x[0])), tests([](double) { return 1.0; })},
      {"clone", one(any_number), GRADUS_CALL(clone(x[0])), each_of([](Scalar x) { return x; })},
      {"to",
       [](Draw& draw, Step& p) {
         draw.add(p, {.floating = false});
         p.flag = draw.chance(0.5);
         return true;
       },
       GRADUS_CALL(to(x[0], p.flag ? f32 : f64)),
       [](const Step& p, const Blocks& x) -> Blocks {
         return {converted(x[0], p.flag ? DType::f32 : DType::f64)};
       },
       "", OpCase::Memory::either},
      {"to", one(), GRADUS_CALL(x[0].detach().to(bf16).to(x[0].dtype())),
       each_of([](Scalar x) { return constant(with_bits(value_of(x), 8)); }), "c0"},
      {"to", one(), GRADUS_CALL(x[0].detach().to(f16).to(x[0].dtype())),
       each_of([](Scalar x) { return constant(with_bits(value_of(x), 11)); }), "c0"},
      {"dropout", one(), GRADUS_CALL(dropout(x[0], 0.5, false)), each_of([](Scalar x) { return x; }), "",
       OpCase::Memory::either},
      {"dropout", one(), GRADUS_CALL(dropout(x[0], 1)), each_of([](Scalar) { return constant(0); })},
      {"dropout",
       [](Draw& draw, Step& p) {
         draw.add(p);
         p.n = draw.below(1000);
         return true;
       },
       GRADUS_CALL(dropped(x[0], p.n)),
       [](const Step& p, const Blocks& x) -> Blocks {  // which elements is the generator's choice
         const std::vector<double> factors = dropped(ones(x[0].shape, f64), p.n).to_vector<double>();
         Block y{x[0].shape, x[0].dtype};
         for (std::size_t i = 0; i < factors.size(); ++i) y.numbers.push_back(x[0][i] * factors[i]);
         return {y};
       }},
      {"operator+", [](Draw& draw, Step& p) { return with_number(draw, p); }, GRADUS_CALL(p.a + x[0] + p.b),
       each_of([](const Step& p, Scalar x) { return x + (p.a + p.b); })},
      {"operator*", with_number, GRADUS_CALL(p.a * x[0]),
       each_of([](const Step& p, Scalar x) { return x * p.a; })},
      {"operator-", with_number, GRADUS_CALL(p.a - x[0]),
       each_of([](const Step& p, Scalar x) { return p.a - x; })},
      {"operator-", with_number, GRADUS_CALL(x[0] - p.a),
       each_of([](const Step& p, Scalar x) { return x - p.a; })},
      {"operator/", with_number, GRADUS_CALL(x[0] / p.a),
       each_of([](const Step& p, Scalar x) { return x / p.a; })},
      {"operator/",
       [](Draw& draw, Step& p) {
         draw.add(p, kPositive);
         p.a = draw.number(-2, 2);
         return true;
       },
       GRADUS_CALL(p.a / x[0]), each_of([](const Step& p, Scalar x) { return constant(p.a) / x; }), "x0 y"},
      {"pow",
       [](Draw& draw, Step& p) {
         draw.add(p, kPositive);
         p.a = draw.number(-3, 3);
         return true;
       },
       GRADUS_CALL(pow(x[0], p.a)), each_of([](const Step& p, Scalar x) { return power(x, p.a); }), "x0?"},
      {"pow",
       [](Draw& draw, Step& p) {
         draw.add(p, {.low = -10, .high = 10});
         p.n = draw.between(1, 3);
         p.a = static_cast<double>(p.n);
         return true;
       },
       GRADUS_CALL(pow(x[0], p.a)),
       each_of([](const Step& p, Scalar x) { return p.n == 1   ? x
                                                    : p.n == 2 ? x * x
                                                               : x * x * x; }), "x0"},
      {"clamp",
       [](Draw& draw, Step& p) {
         draw.add(p);
         p.a = draw.number(-1, 0);
         p.b = draw.number(0, 1);
         return true;
       },
       GRADUS_CALL(clamp(x[0], p.a, p.b)), each_of([](const Step& p, Scalar x) {
         return compare(x, p.a) < 0 ? constant(p.a) : compare(x, p.b) > 0 ? constant(p.b) : x;
       }),
       "x0"},
      {"remainder", with_number, GRADUS_CALL(remainder(x[0], p.a)),
       each_of([](const Step& p, Scalar x) { return x - p.a * floored(x, constant(p.a)); })},
      {"floor_divide", with_number, GRADUS_CALL(floor_divide(x[0], p.a)),
       each_of([](const Step& p, Scalar x) { return floored(x, constant(p.a)); })},
  };
}

}  // namespace gradus::test::graphs
