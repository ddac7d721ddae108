// BERT as PyTorch computes it, from a folder as Hugging Face lays it out (make_bert.py), and folders in
// general.

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "check_op.h"
#include "golden/golden.h"
#include "gradus/gradus.h"
#include "support.h"

namespace gradus::test {
namespace {

namespace fs = std::filesystem;

const std::string kBertPrefix = "bert.";

std::string bert_folder() { return source_file("tests/golden/bert").string(); }

StateDict bert_weights(const std::string& folder) { return load_safetensors(folder + "/model.safetensors"); }

std::string bert_config(const fs::path& folder) {
  std::ifstream file(folder / "config.json");
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_bert_config(const fs::path& folder, const std::string& text) {
  std::ofstream(folder / "config.json") << text;
}

/// The committed folder with other weights and another config, under a name of its own.
struct BertFolder {
  explicit BertFolder(const std::function<StateDict(const StateDict&)>& change = {}) {
    const StateDict weights = bert_weights(bert_folder());
    save_safetensors((scratch / "model.safetensors").string(), change ? change(weights) : weights);
    write_bert_config(scratch.path(), bert_config(bert_folder()));
  }
  void replace(const std::string& from, const std::string& to) {
    std::string text = bert_config(scratch.path());
    REQUIRE(text.find(from) != std::string::npos);
    write_bert_config(scratch.path(), text.replace(text.find(from), from.size(), to));
  }
  nn::Bert load() const { return nn::Bert::load_pretrained(scratch.path().string()); }
  std::string message() const {
    try {
      load();
    } catch (const Error& error) {
      std::string text = error.what();  // without the folder's name
      const std::string name = scratch.path().string() + "/";
      for (auto at = text.find(name); at != std::string::npos; at = text.find(name))
        text.erase(at, name.size());
      return text;
    }
    return "no error";
  }
  ScratchFolder scratch;
};

/// The same tensors under other names; those without a name are left out.
StateDict bert_renamed(const StateDict& weights, const std::function<std::string(const std::string&)>& name) {
  StateDict result;
  for (const auto& [key, values] : weights)
    if (const std::string other = name(key); !other.empty()) result.set(other, values);
  return result;
}

std::string bert_replaced(std::string text, const std::string& from, const std::string& to) {
  if (const auto at = text.find(from); at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

struct BertCase {
  StateDict file = golden("bert/expected.safetensors");
  Tensor ids = file.at("ids");
  nn::BertInputs inputs{.token_types = file.at("token_types"), .padding = file.at("padding")};
  nn::BertTargets targets{.tokens = file.at("targets"), .next = file.at("next")};
};

}  // namespace

TEST_CASE("PyTorch parity: BERT's outputs, loss and every gradient, loaded from its folder") {
  const BertCase c;
  const nn::Bert bert = nn::Bert::load_pretrained(bert_folder());
  CHECK_FALSE(bert.is_training());
  CHECK(bert.options().placement == nn::post_ln());
  CHECK(bert.options().eps == 1e-12);
  CHECK(bert.options().block.dropout == 0.1);
  // Behind padding a model may have anything: what it has there is not compared.
  const Tensor shown = !c.inputs.padding;
  const Tensor hidden = bert(c.ids, c.inputs);
  check_close("hidden", hidden[shown], c.file.at("hidden")[shown]);
  check_close("pooled", bert.pooled(hidden), c.file.at("pooled"));
  check_close("mlm_logits", bert.mlm_logits(hidden)[shown], c.file.at("mlm_logits")[shown]);
  check_close("nsp_logits", bert.nsp_logits(hidden), c.file.at("nsp_logits"));
  const Tensor loss = bert.loss(c.ids, c.targets, c.inputs);
  check_close("loss", loss, c.file.at("loss"));
  loss.backward();

  // The gradients, put in the weights' place, are saved under the file's names.
  const nn::Bert gradients(bert.options());
  StateDict state;
  for (const auto& [name, w] : bert.named_parameters()) state.set(name, w.grad());
  gradients.load_state_dict(state);
  const ScratchFolder scratch;
  gradients.save_pretrained(scratch.path().string());
  const StateDict got = bert_weights(scratch.path().string()), wanted = c.file.with_prefix_removed("grad/");
  CHECK(got.size() == wanted.size());
  for (const auto& [name, gradient] : wanted) check_close(name, got.at(name), gradient);
}

TEST_CASE("a BERT that is loaded and saved has the bytes it had") {
  const nn::Bert bert = nn::Bert::load_pretrained(bert_folder());
  const ScratchFolder scratch;
  bert.save_pretrained(scratch.path().string());
  const StateDict before = bert_weights(bert_folder()), after = bert_weights(scratch.path().string());
  CHECK(after.size() == before.size());
  for (const auto& [name, values] : before) CHECK((after.at(name) == values).all());
  CHECK(bert_config(scratch.path()).find("\"BertForPreTraining\"") != std::string::npos);
  const nn::Bert again = nn::Bert::load_pretrained(scratch.path().string());
  const BertCase c;
  CHECK((again(c.ids, c.inputs) == bert(c.ids, c.inputs)).all());
}

TEST_CASE("BERT's files in the world: without prefix, heads or pooler, with old names and copies") {
  const BertCase c;
  const Tensor hidden = nn::Bert::load_pretrained(bert_folder())(c.ids, c.inputs);
  const auto same = [&](const BertFolder& folder) {
    return (folder.load()(c.ids, c.inputs) == hidden).all();
  };

  const BertFolder no_prefix([](const StateDict& w) {
    return bert_renamed(
        w, [](const std::string& name) { return name.starts_with(kBertPrefix) ? name.substr(5) : ""; });
  });
  CHECK(same(no_prefix));  // BertModel's
  CHECK(no_prefix.load().options().pooler);
  CHECK_FALSE(no_prefix.load().options().mlm_head);
  CHECK_FALSE(no_prefix.load().options().nsp_head);

  const BertFolder masked([](const StateDict& w) {
    return bert_renamed(w, [](const std::string& name) {
      return name.find("pooler") != std::string::npos || name.find("seq_rel") != std::string::npos ? ""
                                                                                                   : name;
    });
  });
  CHECK(same(masked));  // BertForMaskedLM's
  CHECK_FALSE(masked.load().options().pooler);
  CHECK(masked.load().options().mlm_head);

  const BertFolder old([](const StateDict& w) {
    StateDict result = bert_renamed(w, [](const std::string& name) {
      return bert_replaced(bert_replaced(name, "LayerNorm.weight", "LayerNorm.gamma"), "LayerNorm.bias",
                           "LayerNorm.beta");
    });
    result.set("bert.embeddings.position_ids", arange(7, i64).unsqueeze(0));
    result.set("cls.predictions.decoder.weight", w.at("bert.embeddings.word_embeddings.weight"));
    result.set("cls.predictions.decoder.bias", w.at("cls.predictions.bias"));
    return result;
  });
  CHECK(same(old));
}

TEST_CASE("a BERT of another placement or norm is saved as what it is") {
  const BertCase c;
  for (const nn::Placement& placement : nn::placements()) {
    INFO(placement.name);
    nn::BertOptions options = nn::Bert::load_pretrained(bert_folder()).options();
    options.placement = placement;
    options.pooler = options.nsp_head = false;
    options.block.dropout = 0, options.init_std = 0.1;
    if (placement == nn::pre_ln()) options.block.norm = nn::make_norm<nn::RMSNorm>;
    if (placement == nn::no_norm()) options.block.gated = true;
    const nn::Bert bert(options);
    const ScratchFolder scratch;
    bert.save_pretrained(scratch.path().string());
    const std::string config = bert_config(scratch.path());
    CHECK((config.find("\"gradus-bert\"") == std::string::npos) == (placement == nn::post_ln()));
    CHECK((config.find("\"BertForMaskedLM\"") != std::string::npos) == (placement == nn::post_ln()));
    const nn::Bert again = nn::Bert::load_pretrained(scratch.path().string());
    CHECK(again.options().placement == placement);
    CHECK(again.options().init_std == 0.1);
    CHECK((again.loss(c.ids, {.tokens = c.targets.tokens}, c.inputs) ==
           bert.loss(c.ids, {.tokens = c.targets.tokens}, c.inputs))
              .all());
  }
}

TEST_CASE("a Pre-LN BERT without a final norm has none when it is loaded again") {
  nn::BertOptions options = nn::Bert::load_pretrained(bert_folder()).options();
  options.placement = nn::pre_ln();
  options.final_norm = false;
  const ScratchFolder scratch;
  nn::Bert(options).save_pretrained(scratch.path().string());
  CHECK_FALSE(nn::Bert::load_pretrained(scratch.path().string()).transformer.norm.has_value());
}

TEST_CASE("BERT's folders: what does not fit is named") {
  const auto bad = [](const std::string& from, const std::string& to) {
    BertFolder folder;
    folder.replace(from, to);
    return folder.message();
  };
  CHECK(bad("\"model_type\": \"bert\"", "\"model_type\": \"gpt2\"") ==
        "Bert::load_pretrained: config.json: model_type: 'gpt2' is not known here: expects one of bert, "
        "gradus-bert");
  CHECK(bad("\"absolute\"", "\"relative_key\"") ==
        "Bert::load_pretrained: config.json: position_embedding_type: 'relative_key' is not known here: "
        "expects one of "
        "absolute");
  CHECK(bad("\"hidden_act\": \"gelu\"", "\"hidden_act\": \"mish\"").find("hidden_act: 'mish'") !=
        std::string::npos);
  CHECK(
      bad("\"num_hidden_layers\": 2", "\"num_hidden_layers\": 3") ==
      "Bert::load_pretrained: model.safetensors: config.json says num_hidden_layers 3, but the weights have "
      "bert.encoder.layer.0 to bert.encoder.layer.1");
  CHECK(bad("\"vocab_size\": 13", "\"vocab_size\": 14")
            .find("bert.embeddings.word_embeddings.weight expects [14, 8], got [13, 8]") !=
        std::string::npos);
  CHECK(bad("\"hidden_size\": 8", "\"hidden_size\": 1000000").find("expects [13, 1000000], got [13, 8]") !=
        std::string::npos);
  CHECK(bad("\"num_attention_heads\": 2", "\"num_attention_heads\": 3")
            .find("num_attention_heads: 3 does not divide hidden_size 8") != std::string::npos);
  check_error([] { nn::Bert::load_pretrained(bert_folder(), {.context = 5}); },
              "Bert::load_pretrained: " + bert_folder() +
                  "/config.json has 7 learned positions, so the context cannot be 5: leave the context out");
  CHECK(bad("\"hidden_size\": 8,", "").find("hidden_size") != std::string::npos);

  const BertFolder missing([](const StateDict& w) {
    return bert_renamed(w, [](const std::string& name) {
      if (name == "bert.encoder.layer.1.attention.self.key.bias" || name == "cls.predictions.bias")
        return std::string();
      return bert_replaced(name, "layer.0.output.LayerNorm", "layer.0.output.Norm");
    });
  });
  const std::string message = missing.message();
  for (const char* part : {"missing: ", "bert.encoder.layer.1.attention.self.key.bias",
                           "cls.predictions.bias", "bert.encoder.layer.0.output.LayerNorm.weight",
                           "unexpected: ", "bert.encoder.layer.0.output.Norm.weight"})
    CHECK(message.find(part) != std::string::npos);
  const BertFolder copy([](const StateDict& w) {
    StateDict result = w.clone();
    result.set("cls.predictions.decoder.weight", zeros({13, 8}));
    return result;
  });
  CHECK(copy.message().find("'cls.predictions.decoder.weight'") != std::string::npos);
}

}  // namespace gradus::test
