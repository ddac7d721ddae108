// Invalid folders: every message names file, key or tensor.

#include <doctest/doctest.h>

#include <fstream>

#include "check_op.h"
#include "gradus/core/error.h"
#include "gradus/core/io/safetensors.h"
#include "gradus/core/memory/storage.h"
#include "gradus/nn/nn.h"
#include "support.h"

using namespace gradus;
using namespace gradus::test;

namespace {

const nn::GPTOptions kSmall{
    .vocab = 7, .context = 9, .layers = 2, .block = {.d_model = 8, .heads = 2, .d_ff = 16}};

/// A saved GPT-2 whose files tests change.
struct Folder : ScratchFolder {
  Folder() { nn::GPT(kSmall).save_pretrained(path().string()); }

  std::string file(const std::string& name) const { return (path() / name).string(); }

  /// Replaces `from` in config.json by `to`.
  void change(const std::string& from, const std::string& to) const {
    std::ifstream in(file("config.json"));
    std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    write(text.replace(at, from.size(), to));
  }
  void write(const std::string& text) const {
    std::filesystem::remove(file("config.json"));
    std::ofstream(file("config.json")) << text;
  }
  /// The weights, changed: undefined ones are left out.
  template <class Change>
  void weights(const Change& change) const {
    StateDict all = load_safetensors(file("model.safetensors")), kept;
    change(all);
    for (const auto& [name, values] : all)
      if (values.defined()) kept.set(name, values);
    save_safetensors(file("model.safetensors"), kept);
  }

  /// The message of loading, without "GPT::load_pretrained: <folder>/".
  std::string says() const {
    const std::string start = "GPT::load_pretrained: " + path().string();
    try {
      nn::GPT::load_pretrained(path().string());
    } catch (const Error& error) {
      const std::string text = error.what();
      return text.starts_with(start) ? text.substr(start.size() + 1) : text;
    }
    return "";
  }
  std::string says_of(const std::string& from, const std::string& to) const {
    std::filesystem::copy_file(file("config.json"), file("kept.json"));
    change(from, to);
    const std::string text = says();
    std::filesystem::rename(file("kept.json"), file("config.json"));
    return text;
  }
};

}  // namespace

TEST_CASE("load_pretrained: missing files") {
  const Folder folder;
  std::filesystem::remove(folder.file("model.safetensors"));
  CHECK(folder.says() ==
        " has neither model.safetensors nor model.safetensors.index.json: convert weights in other formats "
        "first, in Python with safetensors.torch.save_file");
  std::filesystem::remove(folder.file("config.json"));
  CHECK(folder.says() == "config.json: cannot open: No such file or directory");
  for (const std::string& none : {folder.file("gpt2"), folder.file("config.json")})
    check_error(
        [&] { nn::GPT::load_pretrained(none); },
        "GPT::load_pretrained: " + none +
            " is not a folder: expects one with config.json and model.safetensors; nothing is downloaded");
}

TEST_CASE("load_pretrained: invalid config.json") {
  const Folder folder;
  const auto number = [&](const std::string& value) {
    return folder.says_of("\"n_embd\": 8", "\"n_embd\": " + value);
  };
  const std::string size = "config.json: n_embd: expects a whole number from 1 to 1073741824, got ";
  CHECK(number("0") == size + "0");
  CHECK(number("-8") == size + "-8");
  CHECK(number("8.0") == size + "8.0");
  CHECK(number("\"8\"") == size + "\"8\"");
  CHECK(number("[8]") == size + "a list");
  CHECK(number("true") == size + "true");
  CHECK(number("1073741825") == size + "1073741825");
  CHECK(number("18446744073709551615") == size + "18446744073709551615");
  CHECK(number("null") ==
        "config.json: n_embd: is missing: is this the config.json of another type of model?");
  CHECK(folder.says_of("\"n_head\": 2", "\"n_head\": 3") ==
        "config.json: n_head: 3 does not divide n_embd 8");
  CHECK(
      folder.says_of("gelu_new", "foo") ==
      "config.json: activation_function: 'foo' is not known here: expects one of gelu_new, gelu, relu, silu, "
      "swish, gelu_pytorch_tanh, gelu_fast");
  CHECK(folder.says_of("\"gelu_new\"", "7") ==
        "config.json: activation_function: expects a string, got a number");
  CHECK(folder.says_of("\"gpt2\"", "true") == "config.json: model_type: expects a string, got true or false");
  CHECK(folder.says_of("\"tie_word_embeddings\": true", "\"tie_word_embeddings\": \"yes\"") ==
        "config.json: tie_word_embeddings: expects true or false, got a string");
  CHECK(folder.says_of("\"layer_norm_epsilon\": 1e-05", "\"layer_norm_epsilon\": {}") ==
        "config.json: layer_norm_epsilon: expects a number, got an object");
  CHECK(folder.says_of("\"resid_pdrop\": 0.0", "\"resid_pdrop\": -0.5") ==
        "config.json: resid_pdrop: expects a number from 0 to 1, 1 not included, got -0.5");
  CHECK(folder.says_of("gpt2", "bloom") ==
        "config.json: model_type: 'bloom' is not a known GPT-like model: expects one of gpt2, openai-gpt, "
        "gpt_neo, llama, mistral, qwen2");
  folder.change("\"attn_pdrop\": 0.0", "\"attn_pdrop\": 0.5");
  CHECK(folder.says() ==
        "config.json: attn_pdrop: differs from resid_pdrop, but the model has one dropout: make them equal, "
        "or pass {.dropout = 0.1}");
  CHECK(nn::GPT::load_pretrained(folder.path().string(), {.dropout = 0.1}).options().layers == 2);
  folder.change("\"attn_pdrop\": 0.5", "\"attn_pdrop\": 1");
  CHECK(folder.says() == "config.json: attn_pdrop: expects a number from 0 to 1, 1 not included, got 1");
  folder.change("\"attn_pdrop\": 1", "\"attn_pdrop\": 0, \"scale_attn_by_inverse_layer_idx\": true");
  CHECK(folder.says() ==
        "config.json: scale_attn_by_inverse_layer_idx: true is not supported here: expects false");
  folder.change("scale_attn_by_inverse_layer_idx", "add_cross_attention");
  CHECK(folder.says() == "config.json: add_cross_attention: true is not supported here: expects false");
  folder.change("add_cross_attention", "scale_attn_by_inverse_layer_idx");
  folder.change("x\": true", "x\": 1");
  CHECK(folder.says() == "config.json: scale_attn_by_inverse_layer_idx: expects true or false, got a number");
  for (const auto& [text, message] :
       {std::pair{"", "not JSON at its byte 1, its end: is it cut short?"},
        {"{\"n_layer\": 2", "not JSON at its byte 14, its end: is it cut short?"},
        {"[]", "expects a JSON object, got a list"},
        {"null", "expects a JSON object, got null"},
        {"{}", "model_type: is missing: is this the config.json of another type of model?"}}) {
    folder.write(text);
    CHECK(folder.says() == std::string("config.json: ") + message);
  }
}

TEST_CASE("load_pretrained: errors of the other families") {
  const Folder folder;
  const auto llama = [&](const std::string& more) {
    folder.write(
        R"({"model_type": "llama", "vocab_size": 7, "max_position_embeddings": 9, "num_hidden_layers": 2,
      "hidden_size": 8, "num_attention_heads": 2, "intermediate_size": 16, )" +
        more + "}");
    return folder.says();
  };
  CHECK(llama(R"("rope_scaling": {"rope_type": "llama3", "factor": 8.0})") ==
        "config.json: rope_scaling: rope_type \"llama3\" is not supported: expects null or \"default\"");
  CHECK(llama(R"("rope_scaling": 7)") == "config.json: rope_scaling: expects an object or null");
  CHECK(llama(R"("rope_parameters": {"rope_theta": "x"})") ==
        "config.json: rope_parameters: expects rope_theta to be a number");
  for (const std::string more : {R"("rope_theta": 0)", R"("rope_parameters": {"rope_theta": -0.0})"})
    CHECK(llama(more).starts_with("config.json: rope_theta: expects a number above 0, got "));
  CHECK(llama(R"("rope_theta": -1)") == "config.json: rope_theta: expects a number above 0, got -1");
  CHECK(llama(R"("attention_bias": true, "mlp_bias": false)") ==
        "config.json: mlp_bias: differs from attention_bias: expects both or neither");
  CHECK(
      llama(R"("attention_bias": true)") ==
      "config.json: mlp_bias: defaults to false, which differs from attention_bias: expects both or neither");
  CHECK(llama("\"num_key_value_heads\": 2") ==
        "model.safetensors: config.json says num_hidden_layers 2, but the weights have no model.layers.0");
  const auto neo = [&](const std::string& types) {
    folder.write(R"({"model_type": "gpt_neo", "vocab_size": 7, "max_position_embeddings": 9, "num_layers": 2,
      "hidden_size": 8, "num_heads": 2, "attention_types": )" +
                 types + "}");
    return folder.says();
  };
  const std::string types = "config.json: attention_types: ";
  for (const std::string wrong : {"7", "[7]", "[[7]]", "[[7, 2]]", "[[[\"global\"]]]",
                                  "[[[\"global\"], \"2\"]]", "[[[\"sparse\"], 2]]"})
    CHECK(neo(wrong) == types + "expects a list such as [[[\"global\", \"local\"], 6]]");
  for (const std::string wrong :
       {"[]", "[[[], 2]]", "[[[\"global\"], 3]]", "[[[\"global\"], 1000000000000]]", "[[[\"global\"], -1]]"})
    CHECK(neo(wrong) == types + "expects as many layers as num_layers, 2");
  CHECK(neo("[[[\"local\", \"global\"], 1]]") ==
        types + "is not supported: expects every n-th layer to be local, all others global");
}

TEST_CASE("load_pretrained: weights that do not fit") {
  const Folder folder;
  // [messages]
  folder.change("\"n_layer\": 2", "\"n_layer\": 12");
  CHECK(folder.says() ==
        "model.safetensors: config.json says n_layer 12, but the weights have transformer.h.0 to "
        "transformer.h.1");
  // [/messages]
  folder.change("\"n_layer\": 12", "\"n_layer\": 1");
  CHECK(folder.says() ==
        "model.safetensors: config.json says n_layer 1, but the weights have transformer.h.0 to "
        "transformer.h.1");
  folder.change("\"n_layer\": 1", "\"n_layer\": 2");
  folder.weights([](StateDict& all) {
    all.set("transformer.wpe.weight", zeros({8, 8}));
    all.set("transformer.h.0.mlp.c_fc.bias", Tensor());
    all.set("transformer.h.1.ln_2.weight", Tensor());
    all.set("transformer.h.1.attn.c_attn.bias", zeros({24}, i64));
    all.set("transformer.h.1.attn.extra", zeros({1}));
  });
  CHECK(
      folder.says() ==
      "model.safetensors: does not fit config.json:\n  missing: transformer.h.0.mlp.c_fc.bias, "
      "transformer.h.1.ln_2.weight\n  unexpected: transformer.h.1.attn.extra\n  of another shape: "
      "transformer.wpe.weight expects [9, 8], got [8, 8], transformer.h.1.attn.c_attn.bias expects [24], got "
      "i64 [24]");
}

TEST_CASE("load_pretrained: messages use the file's names, with or without the prefix") {
  const Folder folder;
  folder.weights([](StateDict& all) {
    StateDict bare;
    for (const auto& [name, values] : all.with_prefix_removed("transformer.")) bare.set(name, values);
    all = bare;
  });
  CHECK(folder.says() == "");
  folder.weights([](StateDict& all) { all.set("h.1.ln_2.weight", Tensor()); });
  CHECK(folder.says() == "model.safetensors: does not fit config.json:\n  missing: h.1.ln_2.weight");
  folder.weights([](StateDict& all) {
    all.set("h.1.ln_2.weight", ones({8}));
    all.set("transformer.ln_f.bias", zeros({8}));
  });
  CHECK(folder.says() ==
        "model.safetensors: 'ln_f.bias' and 'transformer.ln_f.bias' are two names of one tensor");
}

TEST_CASE("load_pretrained: tensors that are missing under either of their names") {
  const Folder folder;
  folder.weights([](StateDict& all) { all.set("transformer.wte.weight", Tensor()); });
  CHECK(folder.says() == "model.safetensors: does not fit config.json:\n  missing: transformer.wte.weight");
  folder.weights([](StateDict& all) {
    StateDict bare;
    for (const auto& [name, values] : all.with_prefix_removed("transformer.")) bare.set(name, values);
    all = bare;
    all.set("wte.weight", ones({7, 8}));
  });
  folder.change("\"tie_word_embeddings\": true", "\"tie_word_embeddings\": false");
  CHECK(folder.says() == "model.safetensors: does not fit config.json:\n  missing: lm_head.weight");
}

TEST_CASE("load_pretrained: names that only begin like those of a layer") {
  const Folder folder;
  folder.weights([](StateDict& all) {
    all.set("transformer.h.x.weight", ones({1}));
    all.set("transformer.h.2b.weight", ones({1}));
  });
  CHECK(folder.says() ==
        "model.safetensors: does not fit config.json:\n  unexpected: transformer.h.2b.weight, "
        "transformer.h.x.weight\n  to ignore them, pass the beginnings of their names: {.leave_out = "
        "{\"classifier.\"}}");
  folder.weights([](StateDict& all) { all.set("transformer.h.9223372036854775807.weight", ones({1})); });
  CHECK(folder.says() ==
        "model.safetensors: config.json says n_layer 2, but the weights have transformer.h.0 to "
        "transformer.h.9223372036854775807");
}

TEST_CASE("load_pretrained: a head that is tied") {
  const Folder folder;
  Tensor tokens;
  folder.weights([&](StateDict& all) {
    tokens = all.at("transformer.wte.weight");
    all.set("lm_head.weight", tokens);
  });
  CHECK(folder.says() == "");
  folder.weights([&](StateDict& all) { all.set("transformer.wte.weight", Tensor()); });
  CHECK(folder.says() == "");
  folder.weights([&](StateDict& all) { all.set("transformer.wte.weight", tokens + 1); });
  CHECK(folder.says() ==
        "model.safetensors: 'lm_head.weight' and 'transformer.wte.weight' have different values, but "
        "config.json makes them one tensor: for two, it needs \"tie_word_embeddings\": false");
  folder.change("\"tie_word_embeddings\": true", "\"tie_word_embeddings\": false");
  CHECK(folder.says() == "");
  CHECK_FALSE(nn::GPT::load_pretrained(folder.path().string()).options().tied);
}

TEST_CASE("load_pretrained: a tied head of another shape or type") {
  const Folder folder;
  const std::string differ =
      "model.safetensors: 'lm_head.weight' and 'transformer.wte.weight' have different values, but "
      "config.json makes them one tensor: for two, it needs \"tie_word_embeddings\": false";
  Tensor tokens;
  folder.weights([&](StateDict& all) {
    tokens = all.at("transformer.wte.weight");
    all.set("lm_head.weight", tokens.reshape({8, 7}));
  });
  CHECK(folder.says() == differ);
  folder.weights([&](StateDict& all) { all.set("lm_head.weight", tokens.to(f64)); });
  CHECK(folder.says() == "");
  folder.weights([&](StateDict& all) { all.set("lm_head.weight", tokens.to(f64) + 1e-12); });
  CHECK(folder.says() == differ);
  folder.weights([](StateDict& all) {
    all.set("transformer.wte.weight", zeros({0, 8}));
    all.set("lm_head.weight", zeros({0, 8}));
  });
  CHECK(folder.says() ==
        "model.safetensors: does not fit config.json:\n  of another shape: transformer.wte.weight expects "
        "[7, 8], got [0, 8]");
}

TEST_CASE("load_pretrained: sizes that differ from the weights allocate no memory") {
  const Folder folder;
  folder.change("\"vocab_size\": 7", "\"vocab_size\": 1073741824");
  folder.change("\"n_positions\": 9", "\"n_positions\": 1073741824");
  folder.change("\"n_inner\": 16", "\"n_inner\": 1073741824");
  reset_peak_memory();
  const std::int64_t before = memory_stats().live_bytes;
  CHECK(folder.says().starts_with("model.safetensors: does not fit config.json:\n  of another shape: "));
  folder.change("\"n_layer\": 2", "\"n_layer\": 1073741824");
  CHECK(folder.says().starts_with("model.safetensors: config.json says n_layer 1073741824"));
  CHECK(memory_stats().peak_bytes - before < 100'000);
}

TEST_CASE("load_pretrained: a width that differs from the weights makes no norm") {
  const Folder folder;
  folder.change("\"n_embd\": 8", "\"n_embd\": 1073741824");
  reset_peak_memory();
  const std::int64_t before = memory_stats().live_bytes;
  CHECK(folder.says().starts_with("model.safetensors: does not fit config.json:\n  of another shape: "));
  CHECK(memory_stats().peak_bytes - before < 100'000);
  folder.change("\"gpt2\"", "\"gradus-gpt2\", \"norm\": \"GroupNorm 536870912\"");
  CHECK(folder.says().starts_with("model.safetensors: does not fit config.json:\n  of another shape: "));
  CHECK(memory_stats().peak_bytes - before < 100'000);
  folder.change("GroupNorm 536870912", "GroupNorm 3");
  CHECK(folder.says() == "config.json: norm: 3 groups do not divide d_model 1073741824");
}

TEST_CASE("load_pretrained: leave_out") {
  const Folder folder;
  folder.weights([](StateDict& all) {
    all.set("score.weight", zeros({2, 8}));
    all.set("scores", zeros({2}));
  });
  CHECK(folder.says() ==
        "model.safetensors: does not fit config.json:\n  unexpected: score.weight, scores\n  to ignore them, "
        "pass the beginnings of their names: {.leave_out = {\"classifier.\"}}");
  const std::string path = folder.path().string();
  CHECK(nn::GPT::load_pretrained(path, {.leave_out = {"score.", "scores"}}).options().layers == 2);
  check_error([&] { nn::GPT::load_pretrained(path, {.leave_out = {"score."}}); },
              "GPT::load_pretrained: " + folder.file("model.safetensors") +
                  ": does not fit config.json:\n  unexpected: scores\n  to ignore them, pass the beginnings "
                  "of their names: {.leave_out = {\"classifier.\"}}");
  check_error(
      [&] {
        nn::GPT::load_pretrained(path, {.leave_out = {"score", "transformer.ln_f."}});
      },
      "GPT::load_pretrained: " + folder.file("model.safetensors") +
          ": does not fit config.json:\n  missing: transformer.ln_f.weight, transformer.ln_f.bias");
  check_error([&] { nn::GPT::load_pretrained(path, {.leave_out = {""}}); },
              "GPT::load_pretrained: leave_out has an empty name, which would leave out every tensor");
}

TEST_CASE("load_pretrained: placements with a missing part") {
  const ScratchFolder folder;
  nn::GPTOptions options = kSmall;
  options.placement = nn::peri_ln();
  nn::GPT(options).save_pretrained(folder.path().string());
  const std::string file = (folder / "model.safetensors").string();
  StateDict kept;
  for (const auto& [name, values] : load_safetensors(file))
    if (name != "layers.0.norm1.before.weight") kept.set(name, values);
  kept.set("layers.0.norm1.middle.weight", ones({8}));
  save_safetensors(file, kept);
  check_error([&] { nn::GPT::load_pretrained(folder.path().string()); },
              "GPT::load_pretrained: " + file +
                  ": does not fit config.json:\n  missing: layers.0.norm1.before.weight\n  unexpected: "
                  "layers.0.norm1.middle.weight");
  const auto complains = [&](const Tensor& before, const std::string& got) {
    StateDict all;
    for (const auto& [name, values] : kept)
      if (name != "layers.0.norm1.middle.weight") all.set(name, values);
    all.set("layers.0.norm1.before.weight", before);
    save_safetensors(file, all);
    check_error([&] { nn::GPT::load_pretrained(folder.path().string()); },
                "GPT::load_pretrained: " + file +
                    ": does not fit config.json:\n  of another shape: layers.0.norm1.before.weight expects "
                    "[8], got " +
                    got);
  };
  complains(ones({9}), "[9]");
  complains(ones({8}, i64), "i64 [8]");
}

TEST_CASE("load_pretrained: a norm that the model has and the file does not") {
  const ScratchFolder folder;
  nn::GPTOptions options = kSmall;
  options.placement = nn::deep_norm();
  nn::GPT(options).save_pretrained(folder.path().string());
  const std::string file = (folder / "model.safetensors").string();
  StateDict kept;
  for (const auto& [name, values] : load_safetensors(file))
    if (name != "transformer.h.1.ln_1.weight") kept.set(name, values);
  save_safetensors(file, kept);
  check_error([&] { nn::GPT::load_pretrained(folder.path().string()); },
              "GPT::load_pretrained: " + file +
                  ": does not fit config.json:\n  missing: transformer.h.1.ln_1.weight");
}

TEST_CASE("load_pretrained: the base of rotary positions, where newer files have it") {
  const Folder folder;
  nn::LlamaOptions options{.vocab = 7, .context = 9, .layers = 1, .d_model = 8, .heads = 2, .d_ff = 8};
  options.rope_base = 700;
  nn::GPT(nn::llama(options)).save_pretrained(folder.path().string());
  const auto base = [&] {
    return nn::GPT::load_pretrained(folder.path().string()).options().block.rope->base;
  };
  CHECK(base() == 700);
  folder.change("\"rope_scaling\": null", R"("rope_scaling": {"rope_type": "default", "type": "default"})");
  CHECK(base() == 700);
  folder.change("\"type\": \"default\"", R"("rope_theta": 500)");
  CHECK(base() == 500);
}

TEST_CASE("load_pretrained: errors of the model itself name config.json") {
  const ScratchFolder folder;
  nn::GPT(nn::llama({.vocab = 7, .context = 9, .layers = 1, .d_model = 8, .heads = 2, .d_ff = 8}))
      .save_pretrained(folder.path().string());
  const std::string file = (folder / "config.json").string();
  std::ifstream in(file);
  std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  text.replace(text.find("1e-06"), 5, "-0.5");
  std::ofstream(file) << text;
  check_error([&] { nn::GPT::load_pretrained(folder.path().string()); },
              "GPT::load_pretrained: " + file + ": RMSNorm: expects eps of 0 or more, got -0.5");
}

TEST_CASE("load_pretrained: every truncation and every damaged byte of config.json") {
  const Folder folder;
  std::ifstream in(folder.file("config.json"));
  const std::string good{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  const auto load = [&] {
    const std::int64_t before = memory_stats().live_bytes;
    reset_peak_memory();
    const std::string text = folder.says();                         // nothing but Error comes out
    CHECK(text.find("GPT::load_pretrained") == std::string::npos);  // it names the folder
    CHECK(memory_stats().peak_bytes - before < 200'000);
  };
  for (std::size_t length = 0; length + 2 < good.size(); ++length) {
    folder.write(good.substr(0, length));
    CHECK(folder.says().starts_with("config.json: not JSON at its byte "));
  }
  for (std::size_t at = 0; at < good.size(); ++at)
    for (const char byte : {'\0', '"', '9', '-', '{', ',', '\x80'}) {
      std::string damaged = good;
      damaged[at] = byte;
      folder.write(damaged);
      load();
    }
}

TEST_CASE("save_pretrained: a save that fails leaves the old model") {
  const Folder folder;
  const Tensor before = nn::GPT::load_pretrained(folder.path().string()).token_embedding.weight;
  std::filesystem::create_directory(folder.file("model-00002-of-00002.safetensors"));
  check_error([&] { nn::GPT(kSmall).save_pretrained(folder.path().string(), {.max_shard_bytes = 3500}); },
              "GPT::save_pretrained: " + folder.file("model-00002-of-00002.safetensors") +
                  ": is a folder, which saving would replace: expects a file or a new name");
  CHECK((nn::GPT::load_pretrained(folder.path().string()).token_embedding.weight == before).all());
}

TEST_CASE("load_pretrained: missing and null keys of mistral and qwen2") {
  const Folder folder;
  const std::string path = folder.path().string();
  const auto load = [&](const std::string& more) {
    folder.change("\n}", more + "\n}");
    const nn::GPTOptions options = nn::GPT::load_pretrained(path).options();
    return std::pair(options.block.window, options.block.kv_heads);
  };
  const auto save = [&](const char* type) {
    nn::GPTOptions options = nn::llama({.vocab = 7, .context = 9, .layers = 1, .d_model = 64, .heads = 32});
    options.block.kv_heads = std::string(type) == "mistral" ? 8 : 32;
    if (std::string(type) == "mistral") options.block.window = 3;
    if (std::string(type) == "qwen2") options.block.qkv_bias = true;
    nn::GPT(options).save_pretrained(path);
    folder.change(",\n  \"num_key_value_heads\": " + std::to_string(options.block.kv_heads), "");
  };
  save("mistral");
  CHECK(load("") == std::pair<std::int64_t, std::int64_t>(3, 8));
  folder.change(",\n  \"sliding_window\": 3", "");
  CHECK(load("") == std::pair<std::int64_t, std::int64_t>(4096, 8));
  CHECK(load(", \"sliding_window\": null") == std::pair<std::int64_t, std::int64_t>(0, 8));
  folder.change("\"sliding_window\": null", "\"num_key_value_heads\": null");  // as many as queries: 32
  CHECK_THROWS_WITH_AS(load(""), doctest::Contains("k_proj.weight expects [64, 64], got [16, 64]"), Error);
  save("llama");
  CHECK(load("") == std::pair<std::int64_t, std::int64_t>(0, 32));
  folder.change(",\n  \"tie_word_embeddings\": false", "");
  CHECK_FALSE(nn::GPT::load_pretrained(path).options().tied);
  save("qwen2");
  CHECK(load("") == std::pair<std::int64_t, std::int64_t>(0, 32));
}
