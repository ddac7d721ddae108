// Any GPT is loaded from its folder as the same model, or saving it is an error.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "check_op.h"
#include "gradus/core/error.h"
#include "gradus/core/io/safetensors.h"
#include "gradus/nn/nn.h"
#include "gradus/ops/ops.h"
#include "support.h"

using namespace gradus;
using namespace gradus::test;

namespace {

nn::GPTOptions small(nn::Placement placement = nn::pre_ln()) {
  return {.vocab = 7,
          .context = 9,
          .layers = 2,
          .placement = std::move(placement),
          .block = {.d_model = 8, .heads = 2}};
}

std::string text_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// The text after "key": in config.json, up to the end of its line; "" without the key.
std::string word(const ScratchFolder& folder, const std::string& key) {
  const std::string text = text_of(folder / "config.json"), start = "\"" + key + "\": ";
  const std::size_t at = text.find(start);
  if (at == std::string::npos) return "";
  const std::size_t begin = at + start.size();
  return text.substr(begin, text.find_first_of(",\n", begin) - begin);
}

/// Saves a model of these options and loads it: the same logits, the same parameters. Returns the model_type.
std::string check_round_trip(const nn::GPTOptions& options, const nn::PretrainedOptions& given = {}) {
  const ScratchFolder folder;
  nn::GPT gpt(options);
  for (const Tensor& w : gpt.parameters()) nn::init::normal_(w, 0.1, 0.3);
  gpt.eval();
  gpt.save_pretrained(folder.path().string());
  const nn::GPT again = nn::GPT::load_pretrained(folder.path().string(), given);
  const Tensor ids = tensor({{1, 2, 3, 4, 5, 6, 0, 1, 2}});
  CHECK((gpt(ids) == again(ids)).all());
  CHECK(gpt.num_parameters() == again.num_parameters());
  for (const auto& [name, w] : gpt.named_parameters()) CHECK((w == again.parameter(name)).all());
  CHECK(again.options().block.dropout == options.block.dropout);
  return word(folder, "model_type");
}

}  // namespace

TEST_CASE("every placement is saved and loaded") {
  for (const nn::Placement& placement : nn::placements()) {
    CAPTURE(placement.name);
    const bool native = placement.name == "Pre-LN" || placement.name == "Post-LN";
    const std::string type = check_round_trip(small(placement));
    if (!native) CHECK(type == "\"gradus-gpt2\"");
  }
  CHECK(check_round_trip(small(nn::post_ln())) == "\"openai-gpt\"");
  CHECK(check_round_trip(small(nn::mix_ln(0.5))) == "\"gradus-gpt2\"");  // one block of two, not none
  CHECK(check_round_trip(small(nn::deep_norm({.encoder_layers = 2, .decoder_layers = 1}))) ==
        "\"gradus-gpt2\"");
}

TEST_CASE("families: options that Hugging Face knows are saved only under its keys") {
  nn::GPTOptions o = small();
  CHECK(check_round_trip(o) == "\"gpt2\"");
  o.block.attention_scale = 1;
  CHECK(check_round_trip(o) == "\"gpt2\"");
  o.block.qkv_bias = false;
  o.block.window = 3;
  o.block.window_every = 2;
  CHECK(check_round_trip(o) == "\"gpt_neo\"");
  o.layers = 4;
  CHECK(check_round_trip(o) == "\"gpt_neo\"");
  o.positions = nn::Positions::none;
  CHECK(check_round_trip(o) == "\"gradus-gpt_neo\"");
  nn::GPTOptions llama = nn::llama(
      {.vocab = 7, .context = 9, .layers = 2, .d_model = 12, .heads = 2, .kv_heads = 1, .d_ff = 10});
  CHECK(check_round_trip(llama) == "\"llama\"");
  llama.tied = true;
  llama.block.head_dim = 4;
  llama.block.bias = true;
  CHECK(check_round_trip(llama) == "\"llama\"");
  llama.block.bias = false;
  llama.block.window = 3;
  CHECK(check_round_trip(llama) == "\"mistral\"");
  llama.block.window = 0;
  llama.block.qkv_bias = true;
  CHECK(check_round_trip(llama) == "\"qwen2\"");
}

TEST_CASE("all other options are saved and loaded under gradus' keys") {
  using Change = void (*)(nn::GPTOptions&);
  const Change changes[] = {
      [](nn::GPTOptions& o) { o.positions = nn::Positions::sinusoidal; },
      [](nn::GPTOptions& o) { o.positions = nn::Positions::rotary; },
      [](nn::GPTOptions& o) { o.positions = nn::Positions::alibi; },
      [](nn::GPTOptions& o) { o.positions = nn::Positions::relative; },
      [](nn::GPTOptions& o) { o.positions = nn::Positions::none; },
      [](nn::GPTOptions& o) { o.block.alibi = true; },
      [](nn::GPTOptions& o) { o.final_norm = false; },
      [](nn::GPTOptions& o) { o.tied = false; },
      [](nn::GPTOptions& o) { o.block.qk_norm = o.block.v_norm = true; },
      [](nn::GPTOptions& o) { o.block.bias = false; },
      [](nn::GPTOptions& o) { o.block.bias = false, o.block.qkv_bias = true; },
      [](nn::GPTOptions& o) { o.block.gated = true, o.block.activation = nn::Activation::silu; },
      [](nn::GPTOptions& o) { o.block.activation = nn::Activation::relu; },
      [](nn::GPTOptions& o) { o.block.activation = nn::Activation::gelu, o.placement = nn::post_ln(); },
      [](nn::GPTOptions& o) { o.block.norm = nn::make_norm<nn::RMSNorm>, o.block.eps = 0.125; },
      [](nn::GPTOptions& o) { o.block.norm = nn::make_norm<nn::DyT>; },
      [](nn::GPTOptions& o) { o.block.norm = nn::make_norm<nn::Identity>; },
      [](nn::GPTOptions& o) { o.block.head_dim = 6, o.block.kv_heads = 1; },
      [](nn::GPTOptions& o) { o.block.attention_scale = 0.3; },
      [](nn::GPTOptions& o) { o.block.window = 3, o.block.window_every = 2; },
      [](nn::GPTOptions& o) { o.block.d_ff = 5, o.block.dropout = 0.25; },
      [](nn::GPTOptions& o) {
        o.positions = nn::Positions::rotary;
        o.block.rope = RopeOptions{.offset = 2, .base = 50, .channels = 2, .pairs = RopePairs::neighbours};
      },
      [](nn::GPTOptions& o) {
        o.positions = nn::Positions::rotary;
        o.block.rope = RopeOptions{.base = 50};
      },
      [](nn::GPTOptions& o) { o.placement = nn::peri_ln(), o.final_norm = false; },
  };
  int number = 0;
  for (const Change change : changes) {
    ++number;
    for (nn::GPTOptions options :
         {small(), nn::llama({.vocab = 7, .context = 9, .layers = 2, .d_model = 8, .heads = 2})}) {
      CAPTURE(number);
      change(options);
      check_round_trip(options);
    }
  }
}

TEST_CASE("every norm of nn::norms() is saved and loaded, with its groups and its running statistics") {
  const ScratchFolder folder;
  const Tensor ids = tensor({{1, 2, 3, 4, 5}, {6, 0, 1, 2, 3}});
  for (const std::int64_t groups : {1, 2, 8})
    for (const nn::NamedNorm& norm : nn::norms(groups)) {
      CAPTURE(norm.name);
      nn::GPTOptions options = small(nn::post_ln());
      options.block.norm = norm.make;
      const nn::GPT gpt(options);
      gpt(ids);  // in training: BatchNorm keeps the mean of what it sees
      gpt.eval();
      gpt.save_pretrained(folder.path().string());
      const nn::GPT again = nn::GPT::load_pretrained(folder.path().string());
      CHECK((gpt(ids) == again(ids)).all());
      if (norm.name == "group") CHECK(word(folder, "norm") == fmt::format("\"GroupNorm {}\"", groups));
    }
  const auto says = [&](const std::string& name) {
    std::string text = text_of(folder / "config.json");
    const std::string now = word(folder, "norm");
    text.replace(text.find(now), now.size(), "\"" + name + "\"");
    std::ofstream(folder / "config.json") << text;
    try {
      nn::GPT::load_pretrained(folder.path().string());
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  for (const char* const wrong :
       {"foo", "GroupNorm", "GroupNorm ", "GroupNorm 0", "GroupNorm -1", "GroupNorm 4x"})
    CHECK(says(wrong) ==
          fmt::format(
              "GPT::load_pretrained: {}: norm: '{}' is not known here: expects one of LayerNorm, RMSNorm, "
              "BatchNorm, GroupNorm with a number such as 'GroupNorm 4', DyT, Identity",
              (folder / "config.json").string(), wrong));
  CHECK(says("GroupNorm 3").find("config.json: norm: 3 groups do not divide d_model 8") != std::string::npos);
}

TEST_CASE("a user's placement is saved by name, and passed to load_pretrained") {
  nn::Placement mine = nn::placement<nn::PreLN, nn::PostLN>({.name = "mine", .final_norm = true});
  CHECK(check_round_trip(small(mine), {.placements = {mine}}) == "\"gradus-gpt2\"");
  const ScratchFolder folder;
  nn::GPT(small(mine)).save_pretrained(folder.path().string());
  CHECK(word(folder, "placement") == "\"mine\"");
  nn::Placement other = nn::peri_ln();
  other.name = "other";
  CHECK(nn::GPT::load_pretrained(folder.path().string(), {.placements = {other, mine}}).options().placement ==
        mine);
  check_error([&] { nn::GPT::load_pretrained(folder.path().string()); },
              "GPT::load_pretrained: " + (folder / "config.json").string() +
                  ": placement: 'mine' is not one of Pre-LN, Post-LN, ReZero, Admin, DeepNorm, B2T, "
                  "ResiDual, no norm, OLMo 2, Mix-LN, Peri-LN, LN-Scaling, HybridNorm, Keel, SiameseNorm: "
                  "pass your own in {.placements = {...}}");
}

TEST_CASE("options that cannot be loaded are not saved") {
  const ScratchFolder folder;
  nn::GPTOptions options = small();
  options.block.norm = [](const nn::NormOptions& o) { return nn::Norm(nn::LayerNorm(o.d_model)); };
  const auto complains = [&](const std::string& message) {
    check_error([&] { nn::GPT(options).save_pretrained(folder.path().string()); },
                "GPT::save_pretrained: " + message);
    CHECK(std::filesystem::is_empty(folder.path()));
  };
  const std::string nameless =
      "the norm of this model has no name in config.json, only those of nn::norms() have: save state_dict() "
      "with save_safetensors instead";
  complains(nameless);
  options.block.norm = +[](const nn::NormOptions& o) { return nn::Norm(nn::LayerNorm(o.d_model)); };
  complains(nameless);
  const std::string config = (folder / "config.json").string() + ": ";
  for (const double scale :
       {static_cast<double>(INFINITY), static_cast<double>(NAN)}) {  // which JSON does not have
    options = small();
    options.block.attention_scale = scale;
    const std::string message = config + "attention_scale: this option cannot be saved";
    complains(message);
    nn::BertOptions bert{.vocab = 7, .context = 6, .layers = 1, .block = options.block};
    check_error([&] { nn::Bert(bert).save_pretrained(folder.path().string()); },
                "Bert::save_pretrained: " + message);
  }
  options = small();
  options.positions = nn::Positions::none;
  options.context = (std::int64_t{1} << 30) + 1;
  complains(config + "n_positions: expects a whole number from 1 to 1073741824, got 1073741825");
  for (const auto& [name, printed] : {std::pair{"my\nown", "my?own"}, {"my\xff", "my?"}}) {
    options = small(nn::peri_ln());
    options.placement.name = name;
    complains(std::string("the name of the placement '") + printed +
              "' has characters that cannot be printed: give it another name");
  }
  check_error([&] { nn::GPT(small()).save_pretrained(folder.path().string(), {.max_shard_bytes = 0}); },
              "GPT::save_pretrained: expects max_shard_bytes of 1 or more, got 0");
}

TEST_CASE("a loaded model is in eval mode, has the given dropout, and used no random numbers") {
  const ScratchFolder folder;
  nn::GPTOptions options = small();
  options.block.dropout = 0.5;
  nn::GPT(options).save_pretrained(folder.path().string());
  manual_seed(3);
  const Tensor expected = randn({4});
  manual_seed(3);
  const nn::GPT gpt = nn::GPT::load_pretrained(folder.path().string(), {.dropout = 0.125});
  CHECK((randn({4}) == expected).all());
  CHECK_FALSE(gpt.is_training());
  CHECK(gpt.options().block.dropout == 0.125);
}

TEST_CASE("saving into another model's folder leaves nothing of it") {
  const ScratchFolder folder;
  const std::string path = folder.path().string();
  nn::GPTOptions large = small();
  large.layers = 3;
  nn::GPT(large).save_pretrained(path, {.max_shard_bytes = 1000});
  CHECK(std::filesystem::exists(folder / "model.safetensors.index.json"));
  nn::GPT(small()).save_pretrained(path);
  CHECK_FALSE(std::filesystem::exists(folder / "model.safetensors.index.json"));
  CHECK(nn::GPT::load_pretrained(path).options().layers == 2);
  std::filesystem::rename(folder / "config.json", folder / "there.json");  // as caches of downloads have it
  std::filesystem::create_symlink("there.json", folder / "config.json");
  nn::GPT(large).save_pretrained(path);
  CHECK(std::filesystem::is_symlink(folder / "config.json"));
  CHECK(nn::GPT::load_pretrained(path).options().layers == 3);
}

TEST_CASE("a shorter context, if positions are not learned") {
  const ScratchFolder folder;
  const std::string path = folder.path().string();
  nn::GPT(nn::llama({.vocab = 7, .context = 1000, .layers = 1, .d_model = 8, .heads = 2}))
      .save_pretrained(path);
  CHECK(nn::GPT::load_pretrained(path).options().context == 1000);
  const nn::GPT shorter = nn::GPT::load_pretrained(path, {.context = 20});
  CHECK(shorter.options().context == 20);
  shorter.save_pretrained((folder / "shorter").string());  // and is so from then on
  CHECK(nn::GPT::load_pretrained((folder / "shorter").string()).options().context == 20);
  check_error([&] { nn::GPT::load_pretrained(path, {.context = 1001}); },
              "GPT::load_pretrained: expects a context of at most 1000, got 1001");
  check_error([&] { nn::GPT::load_pretrained(path, {.context = -1}); },
              "GPT::load_pretrained: expects a context of 1 or more, or 0 for all, got -1");
  nn::GPT(small()).save_pretrained(path);
  CHECK(nn::GPT::load_pretrained(path, {.context = 9}).options().context == 9);
  check_error([&] { nn::GPT::load_pretrained(path, {.context = 8}); },
              "GPT::load_pretrained: " + path +
                  "/config.json has 9 learned positions, so the context cannot be 8: leave the context out");
}

TEST_CASE("a placement with the name of another is not saved, nor confused with it") {
  const ScratchFolder folder;
  const std::string path = folder.path().string();
  nn::Placement fake = nn::post_ln();
  fake.name = "Pre-LN";
  CHECK_FALSE(fake == nn::pre_ln());
  const std::string message =
      "::save_pretrained: the placement 'Pre-LN' is not gradus' placement of this name: give it another name";
  check_error([&] { nn::GPT(small(fake)).save_pretrained(path); }, "GPT" + message);
  check_error(
      [&] {
        nn::Bert({.vocab = 7, .layers = 1, .placement = fake, .block = small().block}).save_pretrained(path);
      },
      "Bert" + message);
  nn::Seq2SeqOptions options{.vocab = 7, .encoder_layers = 1, .decoder_layers = 1, .placement = fake};
  options.block = {.d_model = 8, .heads = 2};
  check_error([&] { nn::Seq2SeqTransformer(options).save_pretrained(path); }, "Seq2SeqTransformer" + message);
  nn::T5Options t5{.vocab = 7, .d_model = 8, .d_ff = 8, .heads = 2, .encoder_layers = 1, .decoder_layers = 1};
  t5.placement = fake;
  check_error([&] { nn::T5(t5).save_pretrained(path); }, "T5" + message);
  CHECK(std::filesystem::is_empty(folder.path()));
  nn::GPT(small(nn::peri_ln())).save_pretrained(path);
  check_error([&] { nn::GPT::load_pretrained(path, {.placements = {fake}}); },
              "GPT::load_pretrained: the placement 'Pre-LN' is not gradus' placement of this name: give it "
              "another name");
  // One's own that calls itself DeepNorm keeps its blocks in a model with a decoder.
  fake.name = "DeepNorm";
  options.placement = fake;
  CHECK(nn::Seq2SeqTransformer(options).options().placement.name == "DeepNorm");
}

TEST_CASE("tokens that begin and end a text: Hugging Face does not use those of another vocabulary") {
  const ScratchFolder folder;
  const auto end_of = [&](const nn::GPTOptions& options) {
    nn::GPT(options).save_pretrained(folder.path().string());
    return word(folder, "eos_token_id");
  };
  nn::GPTOptions options = small();
  CHECK(end_of(options) == "null");
  options.vocab = 50'257;
  CHECK(end_of(options) == "");
  nn::LlamaOptions llama{.vocab = 7, .context = 4, .layers = 1, .d_model = 8, .heads = 2};
  CHECK(end_of(nn::llama(llama)) == "null");
  llama.vocab = 32'000;
  CHECK(end_of(nn::llama(llama)) == "");
}

TEST_CASE("heads with a head_dim that do not divide the width are saved and loaded") {
  nn::GPTOptions options = small();
  options.block.heads = 3, options.block.head_dim = 4;
  CHECK(check_round_trip(options) == "\"gradus-gpt2\"");
  const ScratchFolder folder;
  const std::string path = folder.path().string();
  nn::Bert({.vocab = 7, .context = 6, .layers = 1, .block = options.block}).save_pretrained(path);
  CHECK(nn::Bert::load_pretrained(path).options().block.head_dim == 4);
  nn::Seq2SeqTransformer({.vocab = 7, .encoder_layers = 1, .decoder_layers = 1, .block = options.block})
      .save_pretrained(path);
  CHECK(nn::Seq2SeqTransformer::load_pretrained(path).options().block.heads == 3);
}

TEST_CASE("Bert: the weights decide which heads it has; old files name their norms gamma and beta") {
  const ScratchFolder folder;
  const std::string path = folder.path().string(), file = (folder / "model.safetensors").string();
  const nn::BertOptions options{.vocab = 7, .context = 6, .layers = 1, .block = {.d_model = 8, .heads = 2}};
  const nn::Bert bert(options);
  for (const Tensor& w : bert.parameters()) nn::init::normal_(w, 0.1, 0.3);
  bert.eval();
  bert.save_pretrained(path);
  const StateDict whole = load_safetensors(file);
  const auto load = [&](auto keep) {
    StateDict kept;
    for (const auto& [name, values] : whole) {
      std::string old = name;
      if (const std::size_t at = old.find("LayerNorm.weight"); at != std::string::npos)
        old.replace(at, std::string::npos, "LayerNorm.gamma");
      if (const std::size_t at = old.find("LayerNorm.bias"); at != std::string::npos)
        old.replace(at, std::string::npos, "LayerNorm.beta");
      if (keep(name)) kept.set(old, values);
    }
    save_safetensors(file, kept);
    return nn::Bert::load_pretrained(path);
  };
  const nn::Bert again = load([](const std::string&) { return true; });
  CHECK(again.num_parameters() == bert.num_parameters());
  for (const auto& [name, w] : bert.named_parameters()) CHECK((w == again.parameter(name)).all());
  const nn::Bert body = load([](const std::string& name) {
    return name.starts_with("bert.") && name.find("pooler") == std::string::npos;
  });
  CHECK_FALSE(body.options().pooler);
  CHECK_FALSE(body.options().mlm_head);
  CHECK_FALSE(body.options().nsp_head);
  const Tensor ids = tensor({{1, 2, 3, 4}});
  CHECK((bert(ids) == body(ids)).all());
}
