// The code that docs/gpt.md, docs/llama.md and docs/models.md quote.

#include <doctest/doctest.h>

#include <cmath>

#include "gradus/gradus.h"
#include "support.h"

namespace gradus::test {

TEST_CASE("the page's code on GPT") {
  const Tensor rows = randint(0, 300, {4, 33});
  const ScratchFolder scratch;
  const std::string folder = scratch.path().string();
  // [family]
  nn::GPTOptions options = nn::gpt2("124m");
  options.vocab = 300, options.context = 32, options.layers = 2;  // a small one
  options.block.d_model = 64, options.block.heads = 4;
  const nn::GPT gpt(options);

  options.placement = nn::post_ln();  // GPT-1's
  const nn::GPT older(options);

  options.placement = nn::pre_ln();
  options.block.window = 8, options.block.window_every = 2;  // GPT-3's pattern
  const nn::GPT newer(options);
  // [/family]
  const auto loss_of = [&](const nn::GPT& model) {
    return model.loss(rows.slice(1, 0, 32), rows.slice(1, 1)).item();
  };
  for (const nn::GPT* const model : {&gpt, &older, &newer}) CHECK(loss_of(*model) < 2 * std::log(300));
  const StateDict without_final_norm = older.state_dict();
  CHECK(without_final_norm.find("norm.weight") == nullptr);
  CHECK(newer.state_dict().size() == gpt.state_dict().size());
  // [writing]
  gpt.save_pretrained(folder);
  const nn::GPT again = nn::GPT::load_pretrained(folder);
  const Tensor text = again.generate(tensor({3, 1, 4}), 20, {.top_k = 40, .stop = {0}});
  const auto best = again.beam_search(tensor({3, 1, 4}), {.beams = 4, .count = 20, .stop = {0}});
  // [/writing]
  CHECK(text.size(0) > 3);
  CHECK(best.size() == 4);
}

TEST_CASE("the page's code on Llama") {
  const Tensor ids = randint(0, 300, {2, 48});
  // [llama]
  const nn::GPT llama(
      nn::llama({.vocab = 300, .context = 64, .layers = 2, .d_model = 64, .heads = 8, .kv_heads = 2}));
  const nn::GPT mistral(nn::llama(
      {.vocab = 300, .context = 64, .layers = 2, .d_model = 64, .heads = 8, .kv_heads = 2, .window = 16}));
  // [/llama]
  mistral.load_state_dict(llama.state_dict());
  const NoGrad guard;
  const Tensor a = llama(ids), b = mistral(ids);
  CHECK((a.slice(1, 0, 16) - b.slice(1, 0, 16)).abs().max().item() < 1e-5);
  CHECK((a.slice(1, 40) - b.slice(1, 40)).abs().max().item() > 1e-4);
}

/// Numbers of the table in docs/models.md, from the options alone: no model of this size is made.
TEST_CASE("parameters that the pages tell") {
  const auto parameters = [](const nn::GPTOptions& o) {
    const std::int64_t c = o.block.d_model, ff = o.block.d_ff ? o.block.d_ff : 4 * c;
    const std::int64_t d = o.block.head_dim ? o.block.head_dim : c / o.block.heads;
    const std::int64_t q = o.block.heads * d, kv = (o.block.kv_heads ? o.block.kv_heads : o.block.heads) * d;
    const std::int64_t b = o.block.bias, norm = c * (o.block.new_norm().parameters().size() == 2 ? 2 : 1);
    const std::int64_t block = c * (2 * q + 2 * kv) + b * (q + 2 * kv + c) +
                               (o.block.gated ? 3 : 2) * c * ff + b * (ff + c) + 2 * norm;
    const bool final_norm = o.final_norm.value_or(o.placement.final_norm);
    return o.vocab * c * (o.tied ? 1 : 2) + (o.positions == nn::Positions::learned ? o.context * c : 0) +
           o.layers * block + (final_norm ? norm : 0);
  };
  nn::GPTOptions small =
      nn::llama({.vocab = 50, .context = 8, .layers = 2, .d_model = 32, .heads = 4, .kv_heads = 2});
  CHECK(parameters(small) == nn::GPT(small).num_parameters());
  small = nn::gpt2();
  small.vocab = 50, small.context = 8, small.layers = 2, small.block.d_model = 32, small.block.heads = 4;
  CHECK(parameters(small) == nn::GPT(small).num_parameters());
  CHECK(parameters(nn::gpt1()) == 116'534'784);
  CHECK(parameters(nn::gpt2("124m")) == 124'439'808);
  CHECK(parameters(nn::gpt2("355m")) == 354'823'168);
  CHECK(parameters(nn::gpt2("774m")) == 774'030'080);
  CHECK(parameters(nn::gpt2("1.5b")) == 1'557'611'200);
  CHECK(parameters(nn::gpt3("125m")) == 125'226'240);
  CHECK(parameters(nn::llama()) == 6'738'415'616);
}

}  // namespace gradus::test
