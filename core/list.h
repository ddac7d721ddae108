#pragma once
// Lists that functions return. A temporary list returns elements by value: a reference into it, as from a
// std::vector, would dangle, and no compiler warns about that.

#include <array>
#include <concepts>
#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

#include "gradus/core/cxx20.h"

namespace gradus {

class Tensor;

// Declares a function whose result points into the list. It is deleted for temporaries, which are gone when
// the expression ends.
#define GRADUS_NAME_THE_LIST_FIRST(function)          \
  auto function()& { return Base::function(); }       \
  auto function() const& { return Base::function(); } \
  void function() const&& = delete

/// A std::vector whose elements are returned by value if the list is a temporary:
/// `const Tensor& w = model.parameters()[0];` Functions that take a std::vector take it, and a range-for
/// takes a temporary one. Only a named list has begin(), end(), their relatives and data(), and a list and a
/// std::vector do not join in `c ? a : b`: write TensorList for both. A std::span of a temporary list dangles
/// at the end of the statement, as one of a std::vector does; in a call of a function that takes a span, a
/// temporary is safe.
template <class T>
class ListOf : public std::vector<T> {
  using Base = std::vector<T>;

 public:
  using Base::Base;  // constructed like a std::vector
  ListOf() = default;
  ListOf(Base values) : Base(std::move(values)) {}
  /// A list of lists as a vector of vectors: copies the elements.
  template <class Element>
  requires std::same_as<T, ListOf<Element>>
  operator std::vector<std::vector<Element>>() const {
    return std::vector<std::vector<Element>>(begin(), end());
  }

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

  GRADUS_NAME_THE_LIST_FIRST(begin);  // a named list has those of std::vector
  GRADUS_NAME_THE_LIST_FIRST(end);
  GRADUS_NAME_THE_LIST_FIRST(cbegin);
  GRADUS_NAME_THE_LIST_FIRST(cend);
  GRADUS_NAME_THE_LIST_FIRST(rbegin);
  GRADUS_NAME_THE_LIST_FIRST(rend);
  GRADUS_NAME_THE_LIST_FIRST(crbegin);
  GRADUS_NAME_THE_LIST_FIRST(crend);
  GRADUS_NAME_THE_LIST_FIRST(data);
};

/// The same for a std::array: `const Tensor& x = loader.next()[0];` But std::get still returns a reference
/// into a temporary, as for every std::array.
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

  GRADUS_NAME_THE_LIST_FIRST(begin);  // a named one has those of std::array
  GRADUS_NAME_THE_LIST_FIRST(end);
  GRADUS_NAME_THE_LIST_FIRST(cbegin);
  GRADUS_NAME_THE_LIST_FIRST(cend);
  GRADUS_NAME_THE_LIST_FIRST(rbegin);
  GRADUS_NAME_THE_LIST_FIRST(rend);
  GRADUS_NAME_THE_LIST_FIRST(crbegin);
  GRADUS_NAME_THE_LIST_FIRST(crend);
  GRADUS_NAME_THE_LIST_FIRST(data);
};

#undef GRADUS_NAME_THE_LIST_FIRST

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
