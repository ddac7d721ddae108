// Rows of docs/from_pytorch.md: Hugging Face's classes of BERT, T5 and Marian, and what makes their batches.

#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "docs/from_pytorch/gives.h"
#include "gradus/gradus.h"
#include "support.h"

namespace {

using docs::gives;

TEST_CASE("from PyTorch: BERT, T5, Marian, collators") {
  using namespace gradus;
  manual_seed(0);
  const test::ScratchFolder scratch;
  const std::string encoder = scratch / "bert", folder = scratch / "t5", opus = scratch / "opus";
  const Tensor ids = tensor({{5, 6, 7, 8, 9}, {9, 8, 7, 0, 0}}), types = zeros({2, 5}, i64);
  const Tensor source = tensor({{5, 6, 7}, {8, 9, 1}}), target = tensor({{7, 6, 5, 1}, {9, 8, 1, 0}});
  // [bert]
  // py: model = BertForPreTraining(BertConfig(num_hidden_layers=1, ...))
  // note: `.pooler`, `.mlm_head`, `.nsp_head` say which parts it has
  nn::Bert bert({.vocab = 20, .context = 16, .layers = 1, .block = {.d_model = 8, .heads = 2}});
  CHECK(bert.nsp_head.has_value());
  bert.save_pretrained(encoder);
  // py: BertForMaskedLM.from_pretrained(folder)
  // note: also for BertModel and the others: it has the file's heads
  const nn::Bert same = nn::Bert::load_pretrained(encoder);
  CHECK(allclose(same(ids), bert(ids)));
  // py: BertModel(...)(ids, attention_mask=(ids != 0)).last_hidden_state.shape
  // note: the mask is the other way round: true where there is padding; `.token_types` is a separate option
  const Tensor hidden = bert(ids, {.token_types = types, .padding = ids == 0});
  CHECK(hidden.shape() == Shape{2, 5, 8});
  // py: BertModel(...)(ids).pooler_output.shape
  gives(bert.pooled(hidden).shape(), "[2, 8]");
  // py: BertForMaskedLM(...)(ids).logits.shape
  // note: of selected rows only: `bert.mlm_logits(hidden[ids == mask])`
  gives(bert.mlm_logits(hidden).shape(), "[2, 5, 20]");
  // py: BertForNextSentencePrediction(...)(ids).logits.shape
  gives(bert.nsp_logits(hidden).shape(), "[2, 2]");
  // py: BertForSequenceClassification
  // here: a layer on `bert.pooled(...)`: [recipe](recipes.md#a-classifier-on-a-bert)
  // py: DataCollatorForLanguageModeling(tokenizer, mlm_probability=0.15)(ids)
  // note: ids that are never chosen are named; targets are -100 elsewhere, as there
  const auto [seen, targets] = data::mask_tokens(ids, {.vocab = 20, .mask = 4, .special = {0, 1, 2, 3}});
  CHECK(((targets == -100) | (targets == ids)).all());
  // py: BertForMaskedLM(...)(input_ids=seen, labels=targets, attention_mask=...).loss
  // note: with `.next` the loss of BertForPreTraining
  const Tensor loss = bert.loss(seen, {.tokens = targets}, {.padding = ids == 0});
  CHECK(loss.dim() == 0);
  // [/bert]
  // [t5]
  // py: T5ForConditionalGeneration(T5Config(num_layers=1, ...))
  // note: T5 itself: `nn::T5 t5(nn::t5("small"));`
  nn::T5 t5({.vocab = 20,
             .d_model = 8,
             .d_kv = 4,
             .d_ff = 16,
             .heads = 2,
             .encoder_layers = 1,
             .decoder_layers = 1});
  CHECK(t5.options().end == 1);
  t5.eval();
  t5.save_pretrained(folder);
  // py: T5ForConditionalGeneration.from_pretrained(folder)
  const nn::T5 again = nn::T5::load_pretrained(folder);
  CHECK(again.num_parameters() == t5.num_parameters());
  // py: model(input_ids=source, labels=target).loss
  // note: padding of targets is `pad`, not -100; labels are shifted automatically, as there
  const Tensor text_loss = t5.loss(source, target, {.label_smoothing = 0.1});
  CHECK(text_loss.dim() == 0);
  // py: model._shift_right(target)
  gives(t5.shifted(target), "[[0, 7, 6, 5], [0, 9, 8, 1]]");
  // py: model.generate(source, max_new_tokens=5)
  // note: up to `end`, then padding; without the start token, with which theirs begins
  const Tensor written = t5.generate(source, 5, {.greedy = true});
  CHECK(written.size(0) == 2);
  // py: model.generate(source, num_beams=4, max_new_tokens=5)
  // note: a list for each source, the best first
  const auto lists = t5.beam_search(source, {.beams = 4, .count = 5});
  CHECK(lists.size() == 2);
  // py: out = model.get_encoder()(source); model(encoder_outputs=out, decoder_input_ids=...).logits
  const nn::EncoderOutput memory = t5.encode(source);
  const Tensor logits = t5.decode(t5.shifted(target), memory);
  CHECK(allclose(logits, t5(source, t5.shifted(target))));
  // py: model(..., output_hidden_states=True).decoder_hidden_states[-1].shape
  // note: the head's input; times 1 / sqrt(C) if the head is tied. The encoder's: `memory.memory`
  gives(t5.hidden(t5.shifted(target), memory).shape(), "[2, 4, 8]");
  // py: random_spans_noise_mask of T5's code, FlaxDataCollatorForT5MLM
  // note: of one text; [recipe](recipes.md#your-own-t5)
  const auto [blanked, blanks] = data::span_corruption(arange(2, 15), {.sentinel = 19});
  CHECK(blanks[0].item<std::int64_t>() == 19);
  // py: DataCollatorWithPadding, DataCollatorForSeq2Seq
  // here: `.pad` of a [DataLoader](#data): `{.batch_size = 32, .pad = {0, 0}}`
  // py: MarianMTModel(MarianConfig(encoder_layers=1, activation_function="relu", scale_embedding=True, ...))
  const nn::Seq2SeqTransformer marian({.vocab = 20,
                                       .encoder_layers = 1,
                                       .decoder_layers = 1,
                                       .block = {.d_model = 8, .heads = 2},
                                       .waves = nn::Waves::halves,
                                       .head_bias = true});
  CHECK(marian.options().head_bias);
  marian.save_pretrained(opus);
  // py: MarianMTModel.from_pretrained(folder)
  const nn::Seq2SeqTransformer translator = nn::Seq2SeqTransformer::load_pretrained(opus);
  CHECK(allclose(translator(source, target), marian(source, target)));
  // [/t5]
}

}  // namespace
