#pragma once
// The requirements of a DataLoader on a function of an index: see loader.h.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include "gradus/core/random/random.h"
#include "gradus/core/tensor.h"

namespace gradus::data::detail {

/// Writes item `index` into its parts.
using ItemFunction = std::function<void(std::int64_t index, Generator& generator, std::span<Tensor> parts)>;

template <class>
inline constexpr bool never = false;

template <class F>
auto call_item(F& f, [[maybe_unused]] std::int64_t index, [[maybe_unused]] Generator& generator) {
  if constexpr (std::is_invocable_v<F&, std::int64_t>)
    return f(index);
  else if constexpr (std::is_invocable_v<F&, std::int64_t, Generator&>)
    return f(index, generator);
  else
    static_assert(
        never<F>,
        "DataLoader takes {tensors}, or a count and a function of an index: (i) or (i, Generator&)");
}

/// A struct of exactly two Tensors, such as MaskedTokens or CorruptedText.
template <class Item>
concept TwoTensors = std::is_aggregate_v<Item> && requires {
  Item{Tensor(), Tensor()};
} && !requires {
  Item{Tensor(), Tensor(), {}};
};

/// The number of parts of each item of a function.
template <class F>
constexpr std::size_t parts_of() {
  using Item = decltype(call_item(std::declval<F&>(), 0, std::declval<Generator&>()));
  if constexpr (std::is_convertible_v<Item, const Tensor&>)
    return 1;
  else if constexpr (requires { std::tuple_size<Item>::value; })
    return std::tuple_size_v<Item>;
  else if constexpr (TwoTensors<Item>)
    return 2;
  else
    static_assert(never<F>,
                  "the function of a DataLoader returns a Tensor, a std::array or tuple of Tensors, or a "
                  "struct of two");
}

template <class F>
ItemFunction item_function(F f) {
  return [f = std::move(f)](std::int64_t index, Generator& generator, std::span<Tensor> parts) mutable {
    auto item = call_item(f, index, generator);
    if constexpr (std::is_convertible_v<decltype(item), const Tensor&>) {
      parts[0] = std::move(item);
    } else if constexpr (TwoTensors<decltype(item)>) {
      auto& [first, second] = item;
      parts[0] = std::move(first);
      parts[1] = std::move(second);
    } else {
      std::apply([&, i = std::size_t{0}](auto&... part) mutable { ((parts[i++] = std::move(part)), ...); },
                 item);
    }
  };
}

}  // namespace gradus::data::detail
