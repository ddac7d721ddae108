#pragma once
// What holds for a GPT of any placement.

#include <doctest/doctest.h>

#include "gradus/core/threads/parallel.h"
#include "gradus/nn/nn.h"
#include "gradus/ops/ops.h"
#include "nn/check_module.h"

namespace gradus::test {

/// The same numbers with and without a cache, and the same bits of all gradients when blocks are run again in
/// backward, and with another number of threads. make(recompute) makes a GPT of vocabulary 7 and context 9.
template <class Make>
void check_gpt(const Make& make) {
  const Tensor ids = randint(0, 7, {2, 8}), targets = randint(0, 7, {2, 8});
  const nn::GPT gpt = make(false), again = make(true), other = make(false);
  again.copy_parameters_from(gpt);
  other.copy_parameters_from(gpt);
  nn::KeyValueCache cache = gpt.new_cache(2);
  const Tensor whole = gpt(ids);
  const Tensor pieces = cat({gpt(ids.slice(1, 0, 5), cache), gpt(ids.slice(1, 5, 8), cache)}, 1);
  CHECK(max_difference(whole, pieces) < 1e-4 * (1 + whole.abs().max().item()));

  gpt.loss(ids, targets).backward();
  again.loss(ids, targets).backward();
  const int before = num_threads();
  set_num_threads(before == 3 ? 2 : 3);
  other.loss(ids, targets).backward();
  set_num_threads(before);
  for (const auto& [name, w] : gpt.named_parameters()) {
    CHECK(max_difference(w.grad(), again.parameter(name).grad()) == 0);
    CHECK(max_difference(w.grad(), other.parameter(name).grad()) == 0);
  }
}

}  // namespace gradus::test
