#include "gradus/nn/models/gpt_options.h"

#include <doctest/doctest.h>

#include "check_op.h"
#include "gradus/nn/nn.h"

using namespace gradus;
using test::check_error;

TEST_CASE("gpt1, gpt3, llama: initial values and heads") {
  for (nn::GPTOptions options : {nn::gpt1(), nn::gpt2(), nn::llama()}) {
    const bool gpt2 = options.context == 1024;
    manual_seed(1);
    options.vocab = 7, options.context = 9, options.layers = 8;
    options.block.d_model = 64, options.block.heads = 4, options.block.d_ff = 256, options.block.kv_heads = 0;
    const Tensor w = nn::GPT(options).parameter("layers.3.linear2.weight");
    CHECK(w.to(f64).std().item() / (gpt2 ? 0.02 / 4 : 0.02) == doctest::Approx(1).epsilon(0.05));
  }
  for (const char* const size : {"125m", "350m", "760m", "1.3b", "2.7b", "6.7b", "175b"}) {
    const nn::BlockOptions block = nn::gpt3(size).block;
    CHECK(block.heads * block.head_dim == block.d_model);
  }
  for (const auto& [d_model, d_ff] : {std::pair(8, 256), {96, 256}, {97, 512}, {4096, 11008}})
    CHECK(nn::llama({.d_model = d_model}).block.d_ff == d_ff);
  CHECK(nn::gpt3("13b").block.heads * nn::gpt3("13b").block.head_dim == 5120);  // of 5140, as in the table
}

TEST_CASE("gpt2, gpt3: sizes") {
  check_error([] { nn::gpt2("125m"); },
              "gpt2: there is no size '125m': expects one of 124m, 355m, 774m, 1.5b");
  check_error([] { nn::gpt3("1b"); },
              "gpt3: there is no size '1b': expects one of 125m, 350m, 760m, 1.3b, 2.7b, 6.7b, 13b, 175b");
}
