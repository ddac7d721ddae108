// Rows of docs/from_pytorch.md: a comment with the call of torch.nn or of Hugging Face's transformers, and the line it
// becomes.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "docs/from_pytorch/gives.h"
#include "gradus/gradus.h"
#include "support.h"

namespace {

using docs::gives;

TEST_CASE("from PyTorch: Transformers") {
  using namespace gradus;
  const test::ScratchFolder scratch;
  const std::string folder = scratch / "gpt", encoder = scratch / "bert";
  const Tensor ids = tensor({{1, 2, 3, 4, 5}, {5, 4, 3, 2, 1}}), prompt = ids[0];
  const Tensor source = tensor({{3, 4, 5}, {6, 7, 0}}), target = tensor({{5, 4, 3, 2}, {7, 6, 2, 0}});
  // [transformers]
  // py: model = GPT2LMHeadModel(GPT2Config(n_layer=2, ...))
  // note: GPT-2 itself: `nn::GPT gpt(nn::gpt2("124m"));`
  const nn::GPT gpt({.vocab = 10, .context = 16, .layers = 2, .block = {.d_model = 8, .heads = 2}});
  CHECK(gpt.options().layers == 2);
  // py: model.save_pretrained(folder)
  gpt.save_pretrained(folder);
  // py: model = AutoModelForCausalLM.from_pretrained(folder)
  // note: in eval mode, as there; [which models](pretrained.md#which-models)
  const nn::GPT same = nn::GPT::load_pretrained(folder);
  CHECK(allclose(same(ids), gpt(ids)));
  // py: AutoTokenizer.from_pretrained(folder)
  // here: `text::load_tokenizer(folder)`, of [gradus::text](tokenizers.md)
  // py: model(ids).logits.shape
  gives(gpt(ids).shape(), "[2, 5, 10]");
  // py: model(ids, labels=ids).loss
  // note: targets are the ids that come next: nothing is shifted
  const Tensor loss = gpt.loss(ids.slice(1, 0, 4), ids.slice(1, 1));
  CHECK(allclose(loss, cross_entropy(gpt(ids).slice(1, 0, 4), ids.slice(1, 1))));
  // py: model.generate(ids, max_new_tokens=6, do_sample=False)
  // note: `eos_token_id=0` is `.stop = {0}`
  const Tensor greedy = gpt.generate(ids, 6, {.greedy = true});
  CHECK(greedy.shape() == Shape{2, 11});
  // py: model.generate(ids, max_new_tokens=6, do_sample=True, temperature=0.8, top_k=5, top_p=0.9).shape
  // note: a single text is [T] or [1, T]; `.on_token` streams
  gives(gpt.generate(ids, 6, {.temperature = 0.8, .top_k = 5, .top_p = 0.9}).shape(), "[2, 11]");
  // py: model.generate(prompt, num_beams=4, max_new_tokens=6)
  // note: the best continuation, without the prompt; `.stop`, `.length_penalty`, `.early_stop`
  const std::vector<std::int64_t> best = gpt.beam_search(prompt, {.beams = 4, .count = 6})[0].tokens;
  CHECK(best.size() == 6);
  // py: out = model(ids, use_cache=True); out.past_key_values
  nn::KeyValueCache cache = gpt.new_cache(2);
  const Tensor next = gpt.next_logits(ids, cache);
  CHECK(allclose(next, gpt(ids).select(1, -1)));
  // py: nn.Transformer(8, 2, 1, 1, batch_first=True), nn.Embedding and nn.Linear around it
  // note: takes ids; `final_norm`: PyTorch's norm after each stack; the paper has none
  const nn::Seq2SeqTransformer translator({.vocab = 10,
                                           .context = 16,
                                           .encoder_layers = 1,
                                           .decoder_layers = 1,
                                           .block = {.d_model = 8, .heads = 2},
                                           .final_norm = true});
  CHECK(translator.state_dict().contains("encoder.norm.weight"));
  // py: transformer(src, tgt_in, tgt_mask=causal, src_key_padding_mask=source == 0).shape
  // note: both masks are made from the ids; or `translator.loss(source, target)`
  gives(translator(source, translator.shifted(target)).shape(), "[2, 4, 10]");
  // py: MarianMTModel.from_pretrained(f), T5ForConditionalGeneration.from_pretrained(f)
  // here: `nn::Seq2SeqTransformer::load_pretrained(f)`, `nn::T5::load_pretrained(f)`
  // py: model.generate(source, num_beams=4, max_new_tokens=5)
  // note: a list for each source, the best first; `generate(source, 5, {.greedy = true})` without beams
  const auto lists = translator.beam_search(source, {.beams = 4, .count = 5});
  CHECK(lists.size() == 2);
  // py: out = model(..., output_attentions=True); out.cross_attentions[0].shape
  // note: of every call on this thread until `maps` goes
  nn::AttentionMaps maps;
  translator(source, translator.shifted(target));
  CHECK(maps.at("decoder.layers.0.multihead_attn").shape() == Shape{2, 2, 4, 3});
  // py: BertForPreTraining(BertConfig(num_hidden_layers=1, ...))
  // note: `.mlm_head`, `.nsp_head`, `.pooler` say what it has
  const nn::Bert bert({.vocab = 10, .context = 16, .layers = 1, .block = {.d_model = 8, .heads = 2}});
  CHECK(bert.nsp_head.has_value());
  bert.save_pretrained(encoder);
  // py: BertModel.from_pretrained(folder)(ids, attention_mask=(ids != 0)).last_hidden_state.shape
  // note: the mask is the other way round: true where there is padding
  gives(nn::Bert::load_pretrained(encoder)(ids, {.padding = ids == 0}).shape(), "[2, 5, 8]");
  // [/transformers]
}

}  // namespace
