// Lists returned by functions: a temporary list returns its elements as values.

#include "gradus/core/list.h"

#include <doctest/doctest.h>

#include <concepts>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gradus/core/io/state_dict.h"
#include "gradus/core/profile/profile.h"
#include "gradus/core/tape/grad.h"
#include "gradus/ops/curvature.h"
#include "gradus/ops/ops.h"
#include "values.h"

namespace gradus::test {
namespace {

template <class Given, class Wanted>
concept Same = std::same_as<Given, Wanted>;

/// Every function that returns an element of a List returns an Element.
template <class List, class Element>
concept Gives = requires(List list) {
  { std::forward<List>(list)[0] } -> Same<Element>;
  { std::forward<List>(list).at(0) } -> Same<Element>;
  { std::forward<List>(list).front() } -> Same<Element>;
  { std::forward<List>(list).back() } -> Same<Element>;
};
template <class List, class Element>
constexpr bool safe = Gives<List, Element>&& Gives<const List, Element>&& Gives<List&, Element&>&&
    Gives<const List&, const Element&>;
static_assert(safe<TensorList, Tensor>);
static_assert(safe<ListOf<StateDict::Entry>, StateDict::Entry>);
static_assert(safe<TensorArray<2>, Tensor>);

// Whether a list has a function. Its name cannot be an argument of a template.
#define LIST_FUNCTION(Name, function)    \
  template <class List>                  \
  concept Name = requires(List list) {   \
    std::forward<List>(list).function(); \
  }
LIST_FUNCTION(HasBegin, begin);
LIST_FUNCTION(HasEnd, end);
LIST_FUNCTION(HasCbegin, cbegin);
LIST_FUNCTION(HasCend, cend);
LIST_FUNCTION(HasRbegin, rbegin);
LIST_FUNCTION(HasRend, rend);
LIST_FUNCTION(HasCrbegin, crbegin);
LIST_FUNCTION(HasCrend, crend);
LIST_FUNCTION(HasData, data);
#undef LIST_FUNCTION
template <class List>
constexpr bool points_into_it = HasBegin<List>&& HasEnd<List>&& HasCbegin<List>&& HasCend<List>&&
    HasRbegin<List>&& HasRend<List>&& HasCrbegin<List>&& HasCrend<List>&& HasData<List>;
template <class List>
constexpr bool cannot_point_into_it =
    !HasBegin<List> && !HasEnd<List> && !HasCbegin<List> && !HasCend<List> && !HasRbegin<List> &&
    !HasRend<List> && !HasCrbegin<List> && !HasCrend<List> && !HasData<List>;
template <class List>
constexpr bool points_only_into_named = points_into_it<List&>&& points_into_it<const List&>&&
    cannot_point_into_it<List>&& cannot_point_into_it<const List>;
static_assert(points_only_into_named<TensorList>);
static_assert(points_only_into_named<ListOf<StateDict::Entry>>);
static_assert(points_only_into_named<TensorArray<2>>);
static_assert(HasBegin<StateDict&> && !HasBegin<StateDict> && HasEnd<StateDict&> && !HasEnd<StateDict>);

using Numbers = std::vector<std::vector<int>>;
static_assert(std::convertible_to<ListOf<ListOf<int>>, Numbers>);
static_assert(std::assignable_from<Numbers&, ListOf<ListOf<int>>>);
static_assert(!std::convertible_to<ListOf<int>, Numbers>);

static_assert(Same<decltype(grad(Tensor(), {Tensor()})[0]), Tensor>);
static_assert(
    Same<decltype(hvp(TensorFunction([](const std::vector<Tensor>& x) { return x[0]; }), {}, {})[0]),
         Tensor>);
static_assert(Same<decltype(unbind(Tensor())[0]), Tensor>);
static_assert(Same<decltype(chunk(Tensor(), 2)[0]), Tensor>);
static_assert(Same<decltype(split(Tensor(), 2)[0]), Tensor>);
static_assert(Same<decltype(split(Tensor(), {1, 2})[0]), Tensor>);
static_assert(Same<decltype(std::declval<const Profile&>().entries()[0]), ProfileEntry>);

}  // namespace

TEST_CASE("lists: an element of a temporary list remains valid") {
  const Tensor x = leaf(tensor({1.0, 2.0}));
  const Tensor& dx = grad((x * x).sum(), {x})[0];
  const Tensor &first = unbind(x.detach())[0], &last = split(x.detach(), 1).back();
  const std::vector<Tensor> others(100, zeros({2}));  // where the lists were
  CHECK(values(dx) == Values{2, 4});
  CHECK(first.item() == 1);
  CHECK(last.item() == 2);
  CHECK_THROWS_AS(unbind(x).at(2), std::out_of_range);
}

TEST_CASE("lists: assigning to an element of a temporary list writes into the viewed tensor") {
  const Tensor x = zeros({2, 2});
  unbind(x)[1] = 3.0;
  chunk(x, 2)[0] += 1.0;
  CHECK(values(x) == Values{1, 1, 3, 3});
}

TEST_CASE("lists: convert to std::vector, without a copy") {
  TensorList rows = unbind(tensor({{1.0, 2.0}, {3.0, 4.0}}));
  const Tensor* const memory = rows.data();
  std::vector<Tensor> plain = std::move(rows);
  CHECK(plain.data() == memory);
  TensorList list = std::move(plain);
  CHECK(list.data() == memory);
  const std::vector<Tensor>& same = list;
  CHECK(&same == &list);
  CHECK(std::span<const Tensor>(list).data() == memory);

  const TensorList more = {ones({2}), zeros({2})};
  list.insert(list.end(), more.begin(), more.end());
  list.front() = ones({2});
  CHECK(values(stack(list)) == Values{1, 1, 3, 4, 1, 1, 0, 0});
  double sum = 0;
  for (const Tensor& row : unbind(ones({3, 2}))) sum += row.sum().item();
  CHECK(sum == 6);
}

TEST_CASE("lists: a list of lists converts to a vector of vectors") {
  const auto make = [] { return ListOf<ListOf<int>>{{1, 2}, {}, {3}}; };
  const Numbers wanted = {{1, 2}, {}, {3}};
  const Numbers made = make();
  const Numbers braced{make()};
  Numbers assigned;
  assigned = make();
  const auto sum = [](const Numbers& given) { return given[0][1] + given[2][0]; };
  CHECK(made == wanted);
  CHECK(braced == wanted);
  CHECK(assigned == wanted);
  CHECK(sum(make()) == 5);
}

TEST_CASE("lists: a temporary list can be iterated, viewed and selected from") {
  const auto make = [] { return ListOf<int>{1, 2, 3}; };
  std::vector<int> seen;
  for (const int i : make()) seen.push_back(i);
  for (const int i : ArrayOf<int, 2>{4, 5}) seen.push_back(i);
  CHECK(seen == std::vector<int>{1, 2, 3, 4, 5});
  const auto total = [](std::span<const int> numbers) {
    return std::accumulate(numbers.begin(), numbers.end(), 0);
  };
  CHECK(total(make()) == 6);
  CHECK(total(ArrayOf<int, 2>{4, 5}) == 9);
  const bool none = seen.empty();
  CHECK((none ? make() : std::vector<int>{7}) == std::vector<int>{7});
  const auto [a, b] = ArrayOf<int, 2>{4, 5};
  CHECK(a + b == 9);
}

TEST_CASE("lists: named ones have a vector's iterators") {
  ListOf<int> list = {1, 2, 3};
  ArrayOf<int, 3> array = {1, 2, 3};
  *list.rbegin() = 4;
  *array.rbegin() = 4;
  CHECK(std::vector<int>(list.crbegin(), list.crend()) == std::vector<int>{4, 2, 1});
  CHECK(std::vector<int>(array.cbegin(), array.cend()) == std::vector<int>{1, 2, 4});
  CHECK(array.data()[2] + *std::as_const(list).rbegin() == 8);
}

}  // namespace gradus::test
