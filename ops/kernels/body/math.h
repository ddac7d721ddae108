#pragma once
// Part of body.h. exp, log, tanh, erf, sin, cos and their relations: for float by polynomials of our own, for
// double by libm, lane by lane (tanh by libm's exp).
//
// Every float function follows one plan: bring the argument into a small interval by an identity that costs
// no digits, use a polynomial there, undo the identity. The coefficients minimise the largest error on the
// interval (Remez exchange); the errors given are relative, of these coefficients without further rounding.
// Constants in two or three parts (hi, lo) carry more digits than one float holds. Results are within 2 ulp,
// -0, infinities and denormals as in libm. Of all 2^32 floats (every_float_test.cpp), the worst are, in ulp,
// off by exp 1.06, expm1 1.62, tanh 1.34, erf 1.32, log 0.98, log2 1.59, log1p 1.44; the same on every
// instruction set.

namespace gradus::kernels {
namespace {

template <class V>
V polynomial_from(V, V, ScalarOf<V> a) {
  return a;
}
template <class V>
V polynomial_from(V x, V, ScalarOf<V> a, ScalarOf<V> b) {
  return fma(x, b, a);
}
template <class V, class... Rest>
V polynomial_from(V x, V z, ScalarOf<V> a, ScalarOf<V> b, Rest... rest) {
  return fma(polynomial_from(x, z, rest...), z, fma(x, b, a));
}
/// c0 + c1 x + c2 x^2 + ... as (c0 + c1 x) + z ((c2 + c3 x) + z (...)), z = x^2: half as many steps that wait
/// for each other as in Horner's rule.
template <class V, class... Scalars>
V polynomial(V x, Scalars... c) {
  return polynomial_from(x, x * x, c...);
}

constexpr float inf = __builtin_inff();
constexpr float ln2_hi = 0x1.62e430p-1f, ln2_lo = -0x1.05c610p-29f;

/// exp(x) = 2^n (1 + q), n = round(x / ln 2), q = exp(r) - 1, |r| <= ln(2) / 2, for -104 <= x <= 89 or NaN.
/// exp(r) = 1 + r + r^2 P(r), error 5e-9.
struct Power {
  Vec<float> n, q;
};
[[gnu::always_inline]] inline Power power_of_e(Vec<float> x) {
  const Vec<float> n = round(x * Vec<float>(1.44269504f));
  const Vec<float> r = fma(n, -ln2_lo, fma(n, -ln2_hi, x));
  const Vec<float> p = polynomial(r, 0.5f, 0.166665182f, 0.041666206f, 0.00836889166f, 0.0013950495f);
  return {n, fma(r * r, p, r)};
}

[[gnu::always_inline]] inline Vec<float> exp_bounded(Vec<float> x) {
  const auto [n, q] = power_of_e(x);
  return scale(q + 1, n);
}

/// exp for x <= 0 or NaN: below -104 the result is 0 anyway.
[[gnu::always_inline]] inline Vec<float> exp_negative(Vec<float> x) {
  return exp_bounded(max(Vec<float>(-104), x));
}

/// The same for a row's scores, of which many may be -inf: where it ends, or a mask hides. Their 0 is not
/// computed, because a result that leaves the normal range takes some 200 cycles on Intel's CPUs.
[[gnu::always_inline]] inline Vec<float> exp_score(Vec<float> x) {
  const auto [n, q] = power_of_e(max(Vec<float>(-104), x));
  return scale(select(x < -104, Vec<float>(0), q + 1), n);
}

inline Vec<float> exp(Vec<float> x) { return exp_negative(min(Vec<float>(89), x)); }

/// exp(x) - 1 = 2^n q + (2^n - 1), where nothing cancels; where 2^n may overflow, the 1 no longer counts.
inline Vec<float> expm1(Vec<float> x) {
  using V = Vec<float>;
  const auto [n, q] = power_of_e(max(V(-104), min(V(89), x)));
  const V power = scale(V(1), n);
  const V y = select(n > 100, scale(q + 1, n), fma(power, q, power - 1));
  return select(x == 0, x, y);  // -0
}

/// tanh(a) = a + a^3 P(a^2) up to 0.6, error 6e-9; above, 1 - 2 / (exp(2a) + 1).
inline Vec<float> tanh(Vec<float> x) {
  using V = Vec<float>;
  const V a = min(V(10), abs(x)), z = a * a;  // tanh(10) rounds to 1
  const V p = polynomial(z, -0.333332986f, 0.133319587f, -0.0537866838f, 0.020805385f, -0.00590586849f);
  const V y = select(a < 0.6f, fma(a * z, p, a), V(1) - V(2) / (exp_bounded(a + a) + 1));
  return flip_sign(y, sign_bit(x));
}

/// erf(a) = a + a P(a^2) up to 0.92, error 1e-8; above, 1 - exp(Q(a)), error 1e-8 (Q approximates log erfc).
inline Vec<float> erf(Vec<float> x) {
  const Vec<float> a = min(Vec<float>(4), abs(x));  // erf(4) rounds to 1
  const Vec<float> p = polynomial(a * a, 0.128379166f, -0.376126349f, 0.112836942f, -0.0268592704f,
                                  0.00520063424f, -0.000813743856f, 8.34522798e-05f);
  const Vec<float> q = polynomial(a, -0.000207019519f, -1.12762737f, -0.637265861f, -0.103856288f,
                                  0.0221897326f, -0.00303368084f, 0.000194945475f);
  const Vec<float> y = select(a < 0.92f, fma(a, p, a), Vec<float>(1) - exp_bounded(q));
  return flip_sign(y, sign_bit(x));
}

/// log(2^e m) = e ln 2 + log(1 + f), f = m - 1 in [-0.293, 0.414].
/// log(1 + f) = f + f^2 (-1/2 + f P(f)), error 8e-9.
struct Logarithm {
  Vec<float> e, log_m;
};
[[gnu::always_inline]] inline Logarithm logarithm(Vec<float> x) {
  using V = Vec<float>;
  const auto denormal = x < 0x1p-126f;
  const auto [m, exponent] = split(select(denormal, x * V(0x1p23f), x));
  const V e = exponent - select(denormal, V(23), V(0));
  const V f = m - 1;
  const V p = polynomial(f, -0.5f, 0.333333164f, -0.250008106f, 0.200022876f, -0.166245565f, 0.141811714f,
                         -0.131287158f, 0.128817663f, -0.078598395f);
  return {e, fma(f * f, p, f)};
}

/// y, the logarithm of a positive finite x, or what that of another x is.
[[gnu::always_inline]] inline Vec<float> or_limit(Vec<float> x, Vec<float> y) {
  using V = Vec<float>;
  const V finite_or_not = select(x < inf, y, x);
  return select(x > 0, finite_or_not, select(x == 0, V(-inf), x * V(__builtin_nanf(""))));
}

inline Vec<float> log(Vec<float> x) {
  const auto [e, log_m] = logarithm(x);
  return or_limit(x, fma(e, ln2_hi, fma(e, ln2_lo, log_m)));
}

/// log2(2^e m) = e + log(m) / ln 2
inline Vec<float> log2(Vec<float> x) {
  const auto [e, log_m] = logarithm(x);
  return or_limit(x, fma(log_m, 0x1.715476p+0f, fma(log_m, 0x1.4ae0cp-26f, e)));
}

/// log(1 + x) = log(u) + (x - (u - 1)) / u, u = 1 + x rounded: the second term is what the rounding lost.
inline Vec<float> log1p(Vec<float> x) {
  using V = Vec<float>;
  const V u = V(1) + x;
  const V lost = select(u > 0, select(u < inf, (x - (u - 1)) / u, V(0)), V(0));
  return select(u == 1, x, log(u) + lost);
}

/// f(each lane)
template <class V, class F>
V by_lane(V x, F f) {
  ScalarOf<V> lane[V::lanes];
  x.store(lane);
  for (I i = 0; i < V::lanes; ++i) lane[i] = f(lane[i]);
  return V::load(lane);
}

template <class V, class F>
V by_lane(V x, V y, F f) {
  ScalarOf<V> a[V::lanes], b[V::lanes];
  x.store(a);
  y.store(b);
  for (I i = 0; i < V::lanes; ++i) a[i] = f(a[i], b[i]);
  return V::load(a);
}

// a = n pi/2 + r, |r| <= pi/4: sin and cos of a are those of r, swapped and negated by n mod 4. The digits of
// pi/2 here serve up to 2^15; lanes with larger arguments, which are rare, are done again by libm.
struct Quadrant {
  Vec<float> n, sin, cos;
};
[[gnu::always_inline]] inline Quadrant quadrant(Vec<float> a) {
  using V = Vec<float>;
  const V n = round(a * V(0.636619772f));
  const V r = fma(n, 0x1.ee59dap-50f, fma(n, 0x1.777a5cp-25f, fma(n, -0x1.921fb6p+0f, a)));
  const V z = r * r;
  const V sin_p = polynomial(z, -0.166666552f, 0.008332178f, -0.000195172164f);                 // error 6e-9
  const V cos_r = polynomial(z, 1.0f, -0.5f, 0.0416666456f, -0.00138873665f, 2.44383591e-05f);  // error 7e-10
  return {n, fma(r * z, sin_p, r), cos_r};
}

/// y with f(x) in the lanes where x is too large for quadrant().
template <class F>
Vec<float> redo_large(Vec<float> x, Vec<float> y, F f) {
  constexpr float limit = 32768;
  if (!any(abs(x) >= limit)) return y;
  return by_lane(x, y, [f](float a, float b) { return __builtin_fabsf(a) >= limit ? f(a) : b; });
}

inline Vec<float> sin(Vec<float> x) {
  const Quadrant q = quadrant(abs(x));
  const Vec<float> y = select(test_bit<0>(q.n), q.cos, q.sin);
  const Vec<float> z = flip_sign(select(test_bit<1>(q.n), Vec<float>(0) - y, y), sign_bit(x));
  return redo_large(x, z, [](float v) { return ::sinf(v); });
}

inline Vec<float> cos(Vec<float> x) {
  const Quadrant q = quadrant(abs(x));
  const Vec<float> y = select(test_bit<0>(q.n), q.sin, q.cos);
  return redo_large(x, select(test_bit<1>(q.n + 1), Vec<float>(0) - y, y), [](float v) { return ::cosf(v); });
}

inline Vec<double> exp(Vec<double> x) {
  return by_lane(x, [](double v) { return ::exp(v); });
}
inline Vec<double> exp_negative(Vec<double> x) { return exp(x); }
inline Vec<double> exp_score(Vec<double> x) { return exp(x); }
inline Vec<double> expm1(Vec<double> x) {
  return by_lane(x, [](double v) { return ::expm1(v); });
}
inline Vec<double> log(Vec<double> x) {
  return by_lane(x, [](double v) { return ::log(v); });
}
inline Vec<double> log2(Vec<double> x) {
  return by_lane(x, [](double v) { return ::log2(v); });
}
inline Vec<double> log1p(Vec<double> x) {
  return by_lane(x, [](double v) { return ::log1p(v); });
}
inline Vec<double> sin(Vec<double> x) {
  return by_lane(x, [](double v) { return ::sin(v); });
}
inline Vec<double> cos(Vec<double> x) {
  return by_lane(x, [](double v) { return ::cos(v); });
}
/// As for float, since libm's tanh may be 2.2 ulp off: a + a^3 P(a^2) up to 0.55, error 7e-18; above,
/// 1 - 2 / (exp(2a) + 1), where the quotient is at most half and its errors count half.
inline Vec<double> tanh(Vec<double> x) {
  using V = Vec<double>;
  const V a = abs(x), z = a * a;
  const V p =
      polynomial(z, -0.3333333333333333, 0.13333333333332714, -0.05396825396743174, 0.021869488493563037,
                 -0.008863234395418095, 0.003592110347096177, -0.0014556615775702365, 0.0005889348072447028,
                 -0.00023463104528300406, 8.510707927354112e-05, -2.0598556673275166e-05);
  const V y = select(a < 0.55, fma(a * z, p, a), V(1) - V(2) / (exp(a + a) + 1));
  return flip_sign(y, sign_bit(x));
}
inline Vec<double> erf(Vec<double> x) {
  return by_lane(x, [](double v) { return ::erf(v); });
}

// pow is libm's for both types: its many special cases leave little to gain.
inline Vec<float> pow(Vec<float> x, Vec<float> y) {
  return by_lane(x, y, [](float a, float b) { return ::powf(a, b); });
}
inline Vec<double> pow(Vec<double> x, Vec<double> y) {
  return by_lane(x, y, [](double a, double b) { return ::pow(a, b); });
}

inline float fmod(float a, float b) { return ::fmodf(a, b); }
inline double fmod(double a, double b) { return ::fmod(a, b); }
inline float floor(float x) { return ::floorf(x); }
inline double floor(double x) { return ::floor(x); }

/// a - b floor(a / b), exactly: it has b's sign.
template <class T>
T floor_remainder(T a, T b) {
  const T r = fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

/// floor(a / b): the quotient of what remainders leave is whole but for its rounding.
template <class T>
T floor_quotient(T a, T b) {
  if (b == 0) return a / b;
  const T r = fmod(a, b), rest = (a - r) / b;
  const T quotient = r != 0 && (r < 0) != (b < 0) ? rest - 1 : rest;
  if (quotient == 0) return __builtin_signbit(a / b) ? T(-0.0) : T(0);
  const T whole = floor(quotient);
  return quotient - whole > T(0.5) ? whole + 1 : whole;
}

}  // namespace
}  // namespace gradus::kernels
