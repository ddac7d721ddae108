#pragma once
// Lists that functions return. A temporary one gives its elements as values: a reference into it, as a
// std::vector gives, would dangle, and no compiler warns of that.

#include <array>
#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

#include "gradus/core/cxx20.h"

namespace gradus {

class Tensor;

/// A std::vector whose elements are returned by value where the list is a temporary:
/// `const Tensor& w = model.parameters()[0];` It goes wherever a std::vector does.
template <class T>
class ListOf : public std::vector<T> {
  using Vector = std::vector<T>;

 public:
  using Vector::Vector;  // made as a std::vector is
  ListOf() = default;
  ListOf(Vector values) : Vector(std::move(values)) {}

  T& operator[](std::size_t i) & { return Vector::operator[](i); }
  const T& operator[](std::size_t i) const& { return Vector::operator[](i); }
  T operator[](std::size_t i) const&& { return Vector::operator[](i); }
  T& at(std::size_t i) & { return Vector::at(i); }  // throws std::out_of_range where there is none
  const T& at(std::size_t i) const& { return Vector::at(i); }
  T at(std::size_t i) const&& { return Vector::at(i); }
  T& front() & { return Vector::front(); }  // the first element
  const T& front() const& { return Vector::front(); }
  T front() const&& { return Vector::front(); }
  T& back() & { return Vector::back(); }  // the last element
  const T& back() const& { return Vector::back(); }
  T back() const&& { return Vector::back(); }
  auto begin() & { return Vector::begin(); }
  auto begin() const& { return Vector::begin(); }
  void begin() const&& = delete;  // the list is gone after this expression: name it first
  auto end() & { return Vector::end(); }
  auto end() const& { return Vector::end(); }
  void end() const&& = delete;  // the list is gone after this expression: name it first
  T* data() & { return Vector::data(); }
  const T* data() const& { return Vector::data(); }
  void data() const&& = delete;  // the list is gone after this expression: name it first
};

/// The same for a std::array: `const Tensor& x = loader.next()[0];`
template <class T, std::size_t N>
struct ArrayOf : std::array<T, N> {
  using Base = std::array<T, N>;  // the elements

  T& operator[](std::size_t i) & { return Base::operator[](i); }
  const T& operator[](std::size_t i) const& { return Base::operator[](i); }
  T operator[](std::size_t i) const&& { return Base::operator[](i); }
  T& at(std::size_t i) & { return Base::at(i); }  // throws std::out_of_range where there is none
  const T& at(std::size_t i) const& { return Base::at(i); }
  T at(std::size_t i) const&& { return Base::at(i); }
  T& front() & { return Base::front(); }  // the first element
  const T& front() const& { return Base::front(); }
  T front() const&& { return Base::front(); }
  T& back() & { return Base::back(); }  // the last element
  const T& back() const& { return Base::back(); }
  T back() const&& { return Base::back(); }
};

/// Several tensors: `const TensorList d = grad(loss, {w, b});`
using TensorList = ListOf<Tensor>;
/// N tensors, such as a batch of a DataLoader.
template <std::size_t N>
using TensorArray = ArrayOf<Tensor, N>;

}  // namespace gradus

// For `const auto [xb, yb] = loader.next();`
template <class T, std::size_t N>
struct std::tuple_size<gradus::ArrayOf<T, N>> : std::integral_constant<std::size_t, N> {};
template <std::size_t I, class T, std::size_t N>
struct std::tuple_element<I, gradus::ArrayOf<T, N>> {
  using type = T;
};
