// Rows of docs/from_pytorch.md: a comment with the call of torch.nn or of Hugging Face's transformers, and
// the line it becomes.

#include <doctest/doctest.h>

#include <optional>
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
  const std::string folder = scratch / "gpt";
  const Tensor ids = tensor({{1, 2, 3, 4, 5}, {5, 4, 3, 2, 1}});
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
  // py: AutoModelForCausalLM.from_pretrained(folder, torch_dtype=torch.bfloat16)
  // note: [for inference](precision.md#weights-in-bf16-for-inference); norms, biases and activations stay f32
  std::optional<nn::GPT> reader;
  {
    const nn::Bf16Weights guard;
    reader.emplace(nn::GPT::load_pretrained(folder));
  }
  CHECK(reader->parameters()[0].dtype() == bf16);
  CHECK(allclose((*reader)(ids), gpt(ids), 0.05, 0.05));
  // py: model(ids).logits.shape
  gives(gpt(ids).shape(), "[2, 5, 10]");
  // py: model.transformer(ids).last_hidden_state.shape
  // note: the head's input; also for Bert, Seq2SeqTransformer and T5
  gives(gpt.hidden(ids).shape(), "[2, 5, 8]");
  // py: GPT2ForSequenceClassification
  // here: a layer on `gpt.hidden(ids)`: [recipe](recipes.md#a-new-head-on-a-gpt)
  // py: model(ids, labels=ids).loss
  // note: targets are the next ids: nothing is shifted, and `gpt.loss(ids, ids)` throws
  const Tensor loss = gpt.loss(ids.slice(1, 0, 4), ids.slice(1, 1));
  CHECK(allclose(loss, cross_entropy(gpt(ids).slice(1, 0, 4), ids.slice(1, 1))));
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
  // py: transformer(src, tgt_in, tgt_mask=causal, src_key_padding_mask=source == 0, memory_key_padding_mask=source == 0).shape
  // note: the masks follow from the ids, and the result is logits; or `translator.loss(source, target)`
  gives(translator(source, translator.shifted(target)).shape(), "[2, 4, 10]");
  // py: out = model(..., output_attentions=True); out.cross_attentions[0].shape
  // note: records every call on this thread until `maps` is destroyed
  nn::AttentionMaps maps;
  translator(source, translator.shifted(target));
  CHECK(maps.at("decoder.layers.0.multihead_attn").shape() == Shape{2, 2, 4, 3});
  // py: model.save_pretrained(folder, max_shard_size="200MB")
  gpt.save_pretrained(folder, {.max_shard_bytes = 200'000'000});
  CHECK(allclose(nn::GPT::load_pretrained(folder)(ids), gpt(ids)));
  // py: model.config.n_layer, model.num_parameters()
  const std::int64_t layers = gpt.options().layers, numbers = gpt.num_parameters();
  CHECK((layers == 2 && numbers > 0));
  // py: DataCollatorForLanguageModeling(tokenizer, mlm=False), group_texts of run_clm.py
  // note: windows of a text and the next tokens: two tensors for a [DataLoader](#data)
  const auto windows = data::text_windows(ids.flatten(), 4, /*stride=*/4);
  CHECK(windows[0].size(1) == 4);
  // py: model.gradient_checkpointing_enable()
  // here: `.checkpoint = true` of the model's options
  // py: Trainer(model, args, train_dataset).train()
  // here: [a loop](#training-loops); checkpoints, Ctrl-C, resuming: [TrainingRun](kit.md#long-trainings)
  // [/transformers]
}

}  // namespace
