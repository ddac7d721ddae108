// Folders of models with an encoder and a decoder: saving and loading with any options; errors.

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "check_op.h"
#include "gradus/core/error.h"
#include "gradus/core/io/safetensors.h"
#include "gradus/nn/nn.h"
#include "gradus/ops/ops.h"
#include "nn/check_module.h"
#include "support.h"

namespace gradus::test {

namespace {

using Json = nlohmann::json;

const Tensor kRead = tensor({{3, 4, 5, 2, 0}, {6, 2, 0, 0, 0}}), kWritten = tensor({{5, 3, 2}, {4, 2, 0}});

nn::Seq2SeqOptions tiny_seq2seq() {
  return {.vocab = 7,
          .context = 12,
          .encoder_layers = 1,
          .decoder_layers = 2,
          .block = {.d_model = 8, .heads = 2, .d_ff = 12, .dropout = 0.25}};
}

Json read_config(const std::filesystem::path& folder) {
  std::ifstream file(folder / "config.json");
  return Json::parse(file);
}

void write_config(const std::filesystem::path& folder, const Json& config) {
  std::ofstream(folder / "config.json") << config.dump();
}

/// The model_type under which it is saved, after checking that it is loaded with the same values.
template <class Model>
std::string saved_and_read(const Model& model, const nn::PretrainedOptions& given = {}) {
  randomize(model);
  const ScratchFolder folder;
  model.save_pretrained(folder.path().string());
  const Model again = Model::load_pretrained(folder.path().string(), given);
  const nn::EvalMode eval(model);
  CHECK(max_difference(model(kRead, model.shifted(kWritten)), again(kRead, again.shifted(kWritten))) == 0);
  CHECK(again.options().placement == model.options().placement);
  CHECK(again.options().block.dropout == model.options().block.dropout);
  CHECK(again.options().pad == model.options().pad);
  CHECK(again.options().start == model.options().start);
  CHECK(again.options().end == model.options().end);
  CHECK(keys_and_shapes(again) == keys_and_shapes(model));
  return read_config(folder.path())["model_type"];
}

/// One layer on each side, for a vocabulary of 7.
nn::T5Options tiny_t5() {
  return {.vocab = 7,
          .d_model = 4,
          .d_kv = 2,
          .d_ff = 6,
          .heads = 2,
          .encoder_layers = 1,
          .decoder_layers = 1,
          .buckets = 8,
          .end = 2};
}

}  // namespace

TEST_CASE("Seq2SeqTransformer: a model with any options is saved and loaded") {
  nn::Seq2SeqOptions marian = tiny_seq2seq();
  marian.waves = nn::Waves::halves;
  marian.head_bias = true;
  CHECK(saved_and_read(nn::Seq2SeqTransformer(marian)) == "marian");
  for (const auto& change : std::vector<std::function<void(nn::Seq2SeqOptions&)>>{
           [](auto& o) { o.source_vocab = 9; }, [](auto& o) { o.shared_embeddings = false; },
           [](auto& o) { o.tied = false; }, [](auto& o) { o.tied = o.shared_embeddings = false; },
           [](auto& o) { o.block.activation = nn::Activation::gelu; },
           [](auto& o) { o.scale_embedding = false; }}) {
    nn::Seq2SeqOptions options = marian;
    change(options);
    CHECK(saved_and_read(nn::Seq2SeqTransformer(options)) == "marian");
  }
  for (const auto& change : std::vector<std::function<void(nn::Seq2SeqOptions&)>>{
           [](auto& o) { o.waves = nn::Waves::interleaved; }, [](auto& o) { o.head_bias = false; },
           [](auto& o) { o.positions = nn::Positions::learned; },
           [](auto& o) { o.positions = nn::Positions::rotary, o.block.kv_heads = 1; },
           [](auto& o) { o.positions = nn::Positions::relative, o.buckets = 8; },
           [](auto& o) { o.positions = nn::Positions::alibi; }, [](auto& o) { o.final_norm = true; },
           [](auto& o) { o.block.gated = true; }, [](auto& o) { o.block.bias = false; },
           [](auto& o) { o.block.norm = nn::make_norm<nn::RMSNorm>; }, [](auto& o) { o.block.eps = 1e-3; },
           [](auto& o) { o.block.norm = nn::make_norm<nn::BatchNorm>; },
           [](auto& o) { o.block.norm = nn::make_group_norm(2); }, [](auto& o) { o.block.qk_norm = true; },
           [](auto& o) { o.block.head_dim = 3; },
           [](auto& o) { o.head_bias = false, o.pad = 1, o.start = 5, o.end = 6; },
           [](auto& o) { o.output_scale = 0.5, o.output_dropout = true; }}) {
    nn::Seq2SeqOptions options = marian;
    change(options);
    CHECK(saved_and_read(nn::Seq2SeqTransformer(options)) == "gradus-marian");
  }
  for (const nn::Placement& placement : nn::placements()) {
    if (!placement.decoder_block) continue;
    INFO(placement.name);
    nn::Seq2SeqOptions options = marian;
    options.placement = placement;
    CHECK(saved_and_read(nn::Seq2SeqTransformer(options)) ==
          (placement == nn::post_ln() ? "marian" : "gradus-marian"));
  }
  nn::Placement mine = nn::peri_ln();
  mine.name = "mine";
  marian.placement = mine;
  CHECK(saved_and_read(nn::Seq2SeqTransformer(marian), {.placements = {mine}}) == "gradus-marian");
}

TEST_CASE("Seq2SeqTransformer: with a source_vocab, shared_embeddings in config.json is ignored") {
  nn::Seq2SeqOptions options = tiny_seq2seq();
  options.source_vocab = 9;
  const nn::Seq2SeqTransformer model(options);
  CHECK_FALSE(model.options().shared_embeddings);
  const ScratchFolder folder;
  model.save_pretrained(folder.path().string());
  Json config = read_config(folder.path());
  CHECK(config["model_type"] == "gradus-marian");
  CHECK(config["share_encoder_decoder_embeddings"] == false);
  config["shared_embeddings"] = true;
  write_config(folder.path(), config);
  const auto again = nn::Seq2SeqTransformer::load_pretrained(folder.path().string(), {.dropout = 0.5});
  CHECK_FALSE(again.options().shared_embeddings);
  CHECK(max_difference(again.source_embedding->weight, model.source_embedding->weight) == 0);
  CHECK(again.options().block.dropout == 0.5);
}

TEST_CASE("Seq2SeqTransformer: numbers that JSON does not have are not saved") {
  const ScratchFolder folder;
  nn::Seq2SeqOptions options = tiny_seq2seq();
  for (const double scale : {static_cast<double>(INFINITY), static_cast<double>(NAN)}) {
    options.output_scale = scale;
    check_error([&] { nn::Seq2SeqTransformer(options).save_pretrained(folder.path().string()); },
                "Seq2SeqTransformer::save_pretrained: " + (folder / "config.json").string() +
                    ": output_scale: this option cannot be saved");
    CHECK(std::filesystem::is_empty(folder.path()));
  }
}

TEST_CASE("T5: a placement whose name cannot be printed is not saved") {
  const ScratchFolder folder;
  nn::T5Options options = tiny_t5();
  options.placement = nn::peri_ln();
  options.placement.name = "my\xff";
  check_error([&] { nn::T5(options).save_pretrained(folder.path().string()); },
              "T5::save_pretrained: the name of the placement 'my?' has characters that cannot be printed: "
              "give it another name");
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("Seq2SeqTransformer: config.json tells Hugging Face never to generate padding, and to end") {
  nn::Seq2SeqOptions options = tiny_seq2seq();
  options.pad = 6, options.end = 0;
  const ScratchFolder folder;
  nn::Seq2SeqTransformer(options).save_pretrained(folder.path().string());
  const Json config = read_config(folder.path());
  CHECK(config["bad_words_ids"] == Json::parse("[[6]]"));
  CHECK(config["forced_eos_token_id"] == 0);
}

TEST_CASE("T5: mt5 remains mt5, with its own Hugging Face defaults") {
  nn::T5Options options = tiny_t5();
  options.gated = options.mt5 = true;
  options.tied = false;
  options.dropout = 0.25;
  CHECK(saved_and_read(nn::T5(options)) == "mt5");
  const ScratchFolder folder, again;
  nn::T5(options).save_pretrained(folder.path().string());
  Json config = read_config(folder.path());
  config.erase("feed_forward_proj"), config.erase("tie_word_embeddings");
  write_config(folder.path(), config);
  nn::T5::load_pretrained(folder.path().string()).save_pretrained(again.path().string());
  config = read_config(again.path());
  CHECK(config["model_type"] == "mt5");
  CHECK(config["architectures"][0] == "MT5ForConditionalGeneration");
  CHECK(config["feed_forward_proj"] == "gated-gelu");
  CHECK(config["tie_word_embeddings"] == false);
  options.placement = nn::post_ln();
  CHECK(saved_and_read(nn::T5(options)) == "gradus-t5");
}

TEST_CASE("T5: saved as a T5, also through a handle to the base class") {
  nn::T5Options options = tiny_t5();
  options.mt5 = true;
  const nn::T5 model(options);
  const ScratchFolder folder;
  const nn::Seq2SeqTransformer& reference = model;
  reference.save_pretrained(folder.path().string());
  CHECK(read_config(folder.path())["model_type"] == "mt5");
  const nn::Seq2SeqTransformer copy = model;
  copy.save_pretrained(folder.path().string());
  CHECK(read_config(folder.path())["model_type"] == "mt5");
  check_error([&] { copy.save_pretrained(folder.path().string(), {.max_shard_bytes = 0}); },
              "T5::save_pretrained: expects max_shard_bytes of 1 or more, got 0");
}

TEST_CASE("T5: any placement is saved and loaded") {
  for (const nn::Placement& placement : nn::placements()) {
    if (!placement.decoder_block) continue;
    for (const bool gated : {false, true}) {
      INFO(placement.name);
      const nn::T5 model({.vocab = 7,
                          .d_model = 8,
                          .d_kv = 3,
                          .d_ff = 12,
                          .heads = 2,
                          .encoder_layers = 1,
                          .decoder_layers = 2,
                          .gated = gated,
                          .tied = !gated,
                          .placement = placement,
                          .dropout = 0.25,
                          .buckets = 8,
                          .pad = 0,
                          .start = 0,
                          .end = 2});
      CHECK(saved_and_read(model) == (placement == nn::pre_ln() ? "t5" : "gradus-t5"));
    }
  }
}

TEST_CASE("T5: files with copies of the embedding, and with unused tensors") {
  const nn::T5 model(tiny_t5());
  randomize(model);
  const ScratchFolder folder;
  model.save_pretrained(folder.path().string());
  const std::string path = (folder.path() / "model.safetensors").string();
  StateDict file = load_safetensors(path);
  const Tensor shared = file.at("shared.weight");
  for (const char* const copy :
       {"encoder.embed_tokens.weight", "decoder.embed_tokens.weight", "lm_head.weight"})
    file.set(copy, shared.clone());
  file.set("decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight", ones({8, 2}));
  save_safetensors(path, file);
  const nn::T5 again = nn::T5::load_pretrained(folder.path().string(), {.dropout = 0.5});
  CHECK(max_difference(again.embedding.weight, model.embedding.weight) == 0);
  CHECK(again.options().block.dropout == 0.5);
  CHECK_FALSE(again.is_training());
  file.set("lm_head.weight", shared + 1);
  save_safetensors(path, file);
  check_error([&] { nn::T5::load_pretrained(folder.path().string()); },
              "T5::load_pretrained: " + path +
                  ": 'lm_head.weight' and 'shared.weight' have different values, but config.json makes them "
                  "one tensor: for two, it needs \"tie_word_embeddings\": false");
}

TEST_CASE("Seq2SeqTransformer, T5: folders that do not fit") {
  const ScratchFolder marian, t5;
  nn::Seq2SeqOptions options = tiny_seq2seq();
  options.waves = nn::Waves::halves;
  options.head_bias = true;
  nn::Seq2SeqTransformer(options).save_pretrained(marian.path().string());
  nn::T5(tiny_t5()).save_pretrained(t5.path().string());
  const auto complains = [](const ScratchFolder& folder, auto model, const char* key, const Json& value,
                            const std::string& message) {
    const Json before = read_config(folder.path());
    Json config = before;
    config[key] = value;
    write_config(folder.path(), config);
    try {
      model(folder.path().string());
      FAIL("no error at ", key);
    } catch (const Error& error) {
      const std::string text = error.what();
      INFO(text);
      CHECK(text.find(message) != std::string::npos);
    }
    write_config(folder.path(), before);
  };
  const auto load_marian = [](const std::string& folder) { nn::Seq2SeqTransformer::load_pretrained(folder); };
  const auto load_t5 = [](const std::string& folder) { nn::T5::load_pretrained(folder); };
  complains(marian, load_marian, "model_type", "t5",
            "config.json: model_type: 't5' is not known here: expects marian; use nn::T5::load_pretrained");
  complains(marian, load_marian, "model_type", "bart", "'bart' is not known here: expects marian");
  complains(marian, load_marian, "normalize_before", true, "normalize_before");
  complains(marian, load_marian, "encoder_ffn_dim", 13,
            "decoder_ffn_dim: differs from encoder_ffn_dim, which is 13: expects one for both stacks");
  complains(marian, load_marian, "decoder_vocab_size", 8,
            "decoder_vocab_size: differs from vocab_size, but share_encoder_decoder_embeddings is true");
  complains(marian, load_marian, "decoder_layers", 3,
            "config.json says decoder_layers 3, but the weights have");
  complains(marian, load_marian, "vocab_size", 8, "decoder_vocab_size: differs");
  complains(marian, load_marian, "d_model", 10, "model.shared.weight expects [7, 10], got [7, 8]");
  complains(marian, load_marian, "activation_function", "foo", "'foo' is not known here: expects one of");
  complains(marian, load_marian, "pad_token_id", 7,
            "Seq2SeqTransformer: expects pad from 0 to 6, the last token, got 7");
  complains(t5, load_t5, "model_type", "marian",
            "'marian' is not known here: expects t5 or mt5; use nn::Seq2SeqTransformer::load_pretrained");
  complains(t5, load_t5, "model_type", "bart", "'bart' is not known here: expects t5 or mt5");
  complains(t5, load_t5, "feed_forward_proj", "gated-silu",
            "'gated-silu' is not known here: expects one of relu, gated-gelu");
  complains(t5, load_t5, "num_layers", 2, "config.json says num_layers 2, but the weights have");
  complains(t5, load_t5, "feed_forward_proj", "gated-gelu",
            "missing: encoder.block.0.layer.1.DenseReluDense.wi_0.weight");
  complains(t5, load_t5, "d_kv", nullptr, "d_kv");
  complains(t5, load_t5, "tie_word_embeddings", false, "missing: lm_head.weight");
  complains(t5, load_t5, "placement", "foo", "'foo' is not one of Pre-LN");
  complains(marian, load_marian, "encoder_attention_heads", 3,
            "config.json: encoder_attention_heads: 3 does not divide d_model 8");
  complains(marian, load_marian, "max_position_embeddings", 1 << 25,
            "config.json: sinusoidal positions expect a context of at most 131072, got 33554432");
  check_error([&] { nn::Seq2SeqTransformer::load_pretrained(marian.path().string(), {.context = 4}); },
              "Seq2SeqTransformer::load_pretrained: expects no context, got 4: the cache of a decoder is as "
              "long as the generated text");
  check_error([&] { nn::T5::load_pretrained(t5.path().string(), {.context = 4}); },
              "T5::load_pretrained: expects no context, got 4: the cache of a decoder is as long as the "
              "generated text");
}

}  // namespace gradus::test
