// Lists that functions return: a temporary one gives its elements as values.

#include "gradus/core/list.h"

#include <doctest/doctest.h>

#include <concepts>
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

template <class List>
concept HasBegin = requires(List list) {
  std::forward<List>(list).begin();
};
template <class List>
concept HasEnd = requires(List list) {
  std::forward<List>(list).end();
};
template <class List>
concept HasData = requires(List list) {
  std::forward<List>(list).data();
};
static_assert(HasBegin<TensorList&> && HasEnd<TensorList&> && HasData<TensorList&>);
static_assert(HasBegin<const TensorList&> && HasEnd<const TensorList&> && HasData<const TensorList&>);
static_assert(!HasBegin<TensorList> && !HasEnd<TensorList> && !HasData<TensorList>);
static_assert(!HasBegin<const TensorList> && !HasEnd<const TensorList> && !HasData<const TensorList>);
static_assert(HasBegin<StateDict&> && !HasBegin<StateDict> && HasEnd<StateDict&> && !HasEnd<StateDict>);

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

TEST_CASE("lists: an element of a temporary one stays") {
  const Tensor x = leaf(tensor({1.0, 2.0}));
  const Tensor& dx = grad((x * x).sum(), {x})[0];
  const Tensor &first = unbind(x.detach())[0], &last = split(x.detach(), 1).back();
  const std::vector<Tensor> others(100, zeros({2}));  // where the lists were
  CHECK(values(dx) == Values{2, 4});
  CHECK(first.item() == 1);
  CHECK(last.item() == 2);
  CHECK_THROWS_AS(unbind(x).at(2), std::out_of_range);
}

TEST_CASE("lists: to assign to an element of a temporary one writes into what it is a view of") {
  const Tensor x = zeros({2, 2});
  unbind(x)[1] = 3.0;
  chunk(x, 2)[0] += 1.0;
  CHECK(values(x) == Values{1, 1, 3, 3});
}

TEST_CASE("lists: go where a std::vector goes, without a copy") {
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

}  // namespace gradus::test
