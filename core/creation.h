#pragma once
// Creating tensors: from values, constant or random. (tensor.h includes this.)

#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include "gradus/core/tensor.h"

namespace gradus {

// dtype: default_dtype() if none is given.

/// Nested braces for tensor(): all bools give bool, bools and integers i64, a floating number
/// default_dtype().
class NestedList {
 public:
  template <class T>
  requires std::is_arithmetic_v<T> NestedList(T value) : value_(value) {}
  NestedList(std::initializer_list<NestedList> items) : items_(items), leaf_(false) {}

 private:
  friend Tensor tensor(const NestedList& values, std::optional<DType> dtype);
  std::vector<NestedList> items_;
  Scalar value_ = 0;
  bool leaf_ = true;
};

/// `tensor({{1.0, 2.0}, {3.0, 4.0}})` is [2, 2]; `tensor({1, 2, 3})` is i64; throws on ragged rows.
Tensor tensor(const NestedList& values, std::optional<DType> dtype = {});
template <class T>
Tensor tensor(const std::vector<T>&) = delete;  // from_vector(values)
inline Tensor tensor(std::initializer_list<NestedList> values, std::optional<DType> dtype = {}) {
  return tensor(NestedList(values), dtype);
}
/// Copies the values, row-major; integers become i64; one size may be -1. `from_span<float>(v, {2, 3})`
template <Element T>
Tensor from_span(std::span<const T> values, const Shape& shape) {
  return Tensor(Array::from_span(values, shape));
}
template <class T>
Tensor from_span(std::span<const T>, const Shape&) = delete;  // elements are float, double, bool or integers
/// The same: `from_vector(std::vector<int>{1, 2, 3, 4, 5, 6}, {2, -1})`; without a shape [size].
template <Element T>
Tensor from_vector(const std::vector<T>& values, const Shape& shape = {-1});
template <class T>
Tensor from_vector(const std::vector<T>&, const Shape& = {}) = delete;  // of float, double, bool or integers
Tensor zeros(const Shape& shape, std::optional<DType> dtype = {});
Tensor ones(const Shape& shape, std::optional<DType> dtype = {});
/// dtype as in tensor(): `full({2}, 1)` is i64, `full({2}, 1.0)` default_dtype().
Tensor full(const Shape& shape, Scalar value, std::optional<DType> dtype = {});
Tensor empty(const Shape& shape, std::optional<DType> dtype = {});
/// start (0), start + step, ... before stop: i64 when all three are integers, else default_dtype().
/// `arange(3)` is [0, 1, 2]; `arange(2.5)` is [0., 1., 2.]
Tensor arange(Scalar stop, std::optional<DType> dtype = {});
Tensor arange(Scalar start, Scalar stop, Scalar step = 1, std::optional<DType> dtype = {});
/// `count` evenly spaced values, both ends included.
Tensor linspace(double start, double stop, Int count, std::optional<DType> dtype = {});
/// Identity matrix [n, m] (m = n when not given).
Tensor eye(Int n, std::optional<Int> m = {}, std::optional<DType> dtype = {});
/// Uniform in [0, 1).
Tensor rand(const Shape& shape, std::optional<DType> dtype = {});
Tensor rand(const Shape& shape, Generator& generator, std::optional<DType> dtype = {});
/// Normal, mean 0, standard deviation 1.
Tensor randn(const Shape& shape, std::optional<DType> dtype = {});
Tensor randn(const Shape& shape, Generator& generator, std::optional<DType> dtype = {});
/// Integers low .. high-1, as i64.
Tensor randint(Int low, Int high, const Shape& shape);
Tensor randint(Int low, Int high, const Shape& shape, Generator& generator);
/// A random order of 0 .. n-1, as i64.
Tensor randperm(Int n);
Tensor randperm(Int n, Generator& generator);

Tensor zeros(Integer auto, Integer auto, auto...) = delete;       // a shape goes in braces: zeros({3, 4})
Tensor ones(Integer auto, Integer auto, auto...) = delete;        // a shape goes in braces: ones({3, 4})
Tensor empty(Integer auto, Integer auto, auto...) = delete;       // a shape goes in braces: empty({3, 4})
Tensor full(Integer auto, Integer auto, auto, auto...) = delete;  // a shape goes in braces: full({3, 4}, 7.0)
Tensor rand(Integer auto, Integer auto, auto&&...) = delete;      // a shape goes in braces: rand({3, 4})
Tensor randn(Integer auto, Integer auto, auto&&...) = delete;     // a shape goes in braces: randn({3, 4})

/// Tensors of x's shape and dtype, filled as by the function without `_like`. `zeros_like(x)`
Tensor zeros_like(const Tensor& x);
Tensor ones_like(const Tensor& x);
Tensor full_like(const Tensor& x, Scalar value);
Tensor empty_like(const Tensor& x);
Tensor rand_like(const Tensor& x);
Tensor randn_like(const Tensor& x);

}  // namespace gradus
