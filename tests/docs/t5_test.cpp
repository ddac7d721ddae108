// The code that docs/t5.md quotes, where no other test has it.

#include <doctest/doctest.h>

#include "gradus/gradus.h"
#include "support.h"

namespace gradus::test {

TEST_CASE("the page's code on T5") {
  const ScratchFolder scratch;
  const std::string folder = scratch / "t5-small";
  const Tensor source = tensor({{5, 6, 7, 1}, {8, 9, 1, 0}});
  // [calls]
  nn::T5Options options = nn::t5("small");  // also base, large, 3b, 11b; nn::t5_v1_1("base")
  options.vocab = 100, options.d_model = 32, options.d_ff = 64;
  options.encoder_layers = options.decoder_layers = 2;  // a smaller one
  const nn::T5 fresh(options);
  fresh.save_pretrained(folder);
  const nn::T5 model = nn::T5::load_pretrained(folder);
  const Tensor ids = model.generate(source, 60, {.greedy = true});
  // [/calls]
  CHECK(ids.size(0) == 2);
  CHECK(model.num_parameters() == fresh.num_parameters());
}

}  // namespace gradus::test
