// More of the ops that move numbers, against PyTorch. A case here and one of shape_cases() in op_cases.py
// share a name.

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <set>

#include "golden/golden.h"
#include "gradus/ops/ops.h"

namespace gradus::test {
namespace {

using Xs = std::vector<Tensor>;
struct ShapeCase {
  const char* name;
  std::function<Tensor(const Xs&)> f;
};

const std::vector<ShapeCase> kShapeCases = {
    {"unfold", [](const Xs& x) { return unfold(x[0], 1, 3, 2); }},
    {"unfold_twice", [](const Xs& x) { return x[0].unfold(2, 3).unfold(3, 2, 2); }},
    {"pad",
     [](const Xs& x) {
       return pad(x[0], {1, 2, -1, 1}, 0.5);
     }},
    {"pad_reflect",
     [](const Xs& x) {
       return pad(x[0], {2, 1, 1, 0}, PadMode::reflect);
     }},
    {"pad_replicate",
     [](const Xs& x) {
       return pad(x[0], {2, 5}, PadMode::replicate);
     }},
    {"mask", [](const Xs& x) { return Tensor(x[0][x[1]]); }},
    {"indices", [](const Xs& x) { return Tensor(x[0][x[1]]); }},
    {"masked_select", [](const Xs& x) { return masked_select(x[0], x[1]); }},
    {"nonzero", [](const Xs& x) { return nonzero(x[0]); }},
    {"repeat",
     [](const Xs& x) {
       return repeat(x[0], {2, 1, 3});
     }},
    {"repeat_interleave", [](const Xs& x) { return repeat_interleave(x[0], 3, 1); }},
    {"repeat_interleave_counts", [](const Xs& x) { return repeat_interleave(x[0], x[1], 0); }},
    {"unbind", [](const Xs& x) { return unbind(x[0], 1)[2]; }},
    {"scatter", [](const Xs& x) { return scatter(x[0], 1, x[1], x[2]); }},
    {"scatter_value", [](const Xs& x) { return scatter(x[0], 0, x[1], 1.5); }},
    {"index_add", [](const Xs& x) { return index_add(x[0], 1, x[1], x[2]); }},
    {"einsum_heads", [](const Xs& x) { return einsum("bhqd,bhkd->bhqk", x); }},
    {"einsum_three", [](const Xs& x) { return einsum("bn,anm,bm->ba", x); }},
    {"einsum_diagonal", [](const Xs& x) { return einsum("ii...,i->...i", x); }},
    {"einsum_implicit", [](const Xs& x) { return einsum("ba,cb", x); }},
    {"normalize", [](const Xs& x) { return normalize(x[0], 2, -1); }},
    {"normalize_1", [](const Xs& x) { return normalize(x[0], 1, 0); }},
    {"normalize_inf", [](const Xs& x) { return normalize(x[0], INFINITY, 1); }},
    {"cosine_similarity", [](const Xs& x) { return cosine_similarity(x[0], x[1], -1); }},
};

}  // namespace

TEST_CASE("PyTorch parity: windows, masks, repeats, sums by letters") {
  const StateDict file = golden("shapes.safetensors");
  std::set<std::string> tested, written;
  for (const ShapeCase& c : kShapeCases) {
    CAPTURE(c.name);
    const Xs inputs = golden_inputs(file, c.name);
    check_outputs(file, c.name, c.f(inputs), inputs);
    tested.insert(c.name);
  }
  for (const auto& [key, tensor] : file) written.insert(key.substr(0, key.find('/')));
  CHECK(tested == written);
}

}  // namespace gradus::test
