#pragma once
// One case for each op, large enough to be cut into many chunks.

#include <functional>
#include <string>
#include <vector>

#include "gradus/gradus.h"

namespace gradus::test {

using Tensors = std::vector<Tensor>;

struct ThreadCase {
  std::string name;  // the op's, and after a space what is special
  std::vector<Shape> shapes;
  std::function<Tensor(const Tensors&)> run;
};

inline const Shape kFlat = {311, 607};        // 12 chunks of elements, the last one short
inline const Shape kCube = {7, 130, 211};     // axes before and after the one in the middle
inline const Shape kShortRows = {9001, 5};    // rows shorter than a vector
inline const Shape kHeads = {2, 4, 150, 24};  // attention
inline const Shape kPacked = {2, 150, 288};   // the same: q, k and v of 4 heads of 24

/// Indices below `limit`, in no order and with repetitions.
inline Tensor indices(const Shape& shape, std::int64_t limit) {
  Generator generator(5);
  return randint(0, limit, shape, generator);
}

/// Joins the parts that an op returns, each with its own weight.
inline Tensor joined(const Tensors& parts) {
  Tensor all;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Tensor part = flatten(parts[i]) * (1 + 0.1 * static_cast<double>(i));
    all = all.defined() ? cat({all, part}, 0) : part;
  }
  return all;
}

std::vector<ThreadCase> elementwise_cases();
std::vector<ThreadCase> product_cases();
std::vector<ThreadCase> shape_cases();

}  // namespace gradus::test
