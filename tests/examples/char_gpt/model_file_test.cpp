#include "char_gpt/model_file.h"

#include <doctest/doctest.h>

#include "gradus/gradus.h"
#include "support.h"

using namespace gradus;
using namespace gradus::char_gpt;

namespace {

constexpr const char* kCharacters = "10,97,98,99,233";

nn::GPT small_model(const nn::Placement& placement = nn::pre_ln(), const std::string& norm = "layer") {
  Options o;
  o.layers = 2, o.heads = 2, o.d_model = 8, o.context = 6;
  o.placement = placement.name;
  o.norm = norm;
  return nn::GPT(o.model(5));
}

Metadata good_notes() {
  return {{"characters", kCharacters},
          {"placement", "pre"},
          {"layers", "2"},
          {"heads", "2"},
          {"d_model", "8"},
          {"context", "6"}};
}

struct Scratch {
  test::ScratchFolder folder;
  std::string path = folder / "model";

  /// What loading such a file says, without its name; "" when it loads.
  std::string complaint(const StateDict& weights, const Metadata& notes) {
    save_safetensors(path, weights, notes);
    try {
      load_model(path);
    } catch (const Error& error) {
      const std::string text = error.what();
      return text.starts_with(path + ": ") ? text.substr(path.size() + 2) : "no name of the file: " + text;
    }
    return "";
  }
  std::string complaint(const std::string& key, const std::string& value) {
    Metadata notes = good_notes();
    notes[key] = value;
    return complaint(small_model().state_dict(), notes);
  }
};

}  // namespace

TEST_CASE("a model comes back from its file") {
  const test::ScratchFolder folder;
  for (const nn::Placement& placement : nn::placements()) {
    INFO(placement.name);
    const nn::GPT model = small_model(placement);
    const kit::Vocabulary vocabulary(U"\n\u00e9abc");
    save_model(folder / "model", model, vocabulary);
    const LoadedModel loaded = load_model(folder / "model");
    CHECK(loaded.vocabulary.characters() == vocabulary.characters());
    CHECK(loaded.model.options().placement == placement);
    CHECK(loaded.model.options().block.heads == 2);
    for (const auto& [name, weight] : model.state_dict())
      CHECK((loaded.model.state_dict().at(name) == weight).all());
  }
}

TEST_CASE("a model comes back with its norm, and from a file that names none with LayerNorm") {
  const test::ScratchFolder folder;
  const kit::Vocabulary vocabulary(U"\n\u00e9abc");
  for (const nn::NamedNorm& norm : nn::norms()) {
    INFO(norm.name);
    const nn::GPT model = small_model(nn::pre_ln(), norm.name);
    save_model(folder / "model", model, vocabulary);
    const LoadedModel loaded = load_model(folder / "model");
    CHECK(loaded.model.options().block.new_norm().kind() == norm.kind);
    const Tensor ids = tensor({{0, 3, 1}});
    const nn::EvalMode one(model), two(loaded.model);
    CHECK((loaded.model(ids) == model(ids)).all());
  }
  Scratch file;  // whose notes have no norm
  CHECK(file.complaint(small_model().state_dict(), good_notes()) == "");
  CHECK(load_model(file.path).model.options().block.new_norm().kind() == "LayerNorm");
  CHECK(file.complaint("norm", "mid") == "note 'norm' expects a name of --norm list, got 'mid'");
  CHECK(file.complaint("norm", "none").find("norm1.weight") != std::string::npos);
}

TEST_CASE("notes that ask for more than the weights have are refused before any memory is taken") {
  Scratch file;
  CHECK(file.complaint("layers", "2") == "");
  reset_peak_memory();
  const std::int64_t before = memory_stats().live_bytes;
  CHECK(file.complaint("layers", "99999999") == "note 'layers' is 99999999, but the weights have 2");
  CHECK(file.complaint("layers", "1") == "note 'layers' is 1, but the weights have 2");
  CHECK(file.complaint("layers", "0") == "note 'layers' is 0, but the weights have 2");
  CHECK(file.complaint("d_model", "9223372036854775807") ==
        "note 'd_model' is 9223372036854775807, but the weights have 8");
  CHECK(file.complaint("context", "1000000000") == "note 'context' is 1000000000, but the weights have 6");
  for (const char* heads : {"0", "3", "16", "9223372036854775807"})
    CHECK(file.complaint("heads", heads) ==
          "note 'heads' is " + std::string(heads) + ", which does not divide d_model 8");
  for (const char* key : {"layers", "heads", "d_model", "context"})
    for (const char* bad : {"-1", "", "2.0", "1e308", "nan", "inf", "two", "2 ", " 2", "+2", "0x2",
                            "9223372036854775808", "18446744073709551618"}) {
      CAPTURE(bad);
      CHECK(file.complaint(key, bad) ==
            "note '" + std::string(key) + "' expects whole numbers, got '" + std::string(bad) + "'");
    }
  CHECK(file.complaint("layers", "2\n\x1b[31m") == "note 'layers' expects whole numbers, got '2??[31m'");
  CHECK(file.complaint("placement", "mid") ==
        "note 'placement' expects a name of --placement list, got 'mid'");
  CHECK(file.complaint("placement", "post").find("norm.weight") != std::string::npos);
  CHECK(file.complaint("placement", "rezero").find("layers.0.norm1.alpha") != std::string::npos);
  CHECK(memory_stats().peak_bytes - before < 64 << 10);
}

TEST_CASE("characters of a note: each once, rising, and as many as the weights have") {
  Scratch file;
  CHECK(file.complaint("characters", "10,97") == "note 'characters' has 2, but the weights have 5");
  CHECK(file.complaint("characters", "") == "note 'characters' has 0, but the weights have 5");
  CHECK(file.complaint("characters", "10,97,98,99,4294967529") ==  // 233 in 32 bits
        "note 'characters' expects code points, got 4294967529");
  CHECK(file.complaint("characters", "10,97,98,99,-3") ==
        "note 'characters' expects whole numbers, got '-3'");
  CHECK(file.complaint("characters", "10,,98,99,100") == "note 'characters' expects whole numbers, got ''");
  for (const char* bad : {"97,10,98,99,233", "10,97,97,98,99,233", "10,97,98,99,233,", "10,97,98,99,0233"}) {
    CAPTURE(bad);
    CHECK(file.complaint("characters", bad) ==
          "note 'characters' expects rising numbers such as 10,32,97, got '" + std::string(bad) + "'");
  }
}

TEST_CASE("weights that are no such model are refused before one is built") {
  Scratch file;
  for (const auto& [key, value] : good_notes()) {
    Metadata notes = good_notes();
    notes.erase(key);
    CHECK(file.complaint(small_model().state_dict(), notes) ==
          "has no note '" + key + "': it was not written by char_gpt");
  }
  CHECK(file.complaint({}, good_notes()) ==
        "has no 'token_embedding.weight': it was not written by char_gpt");
  CHECK(file.complaint({{"token_embedding.weight", ones({5})}}, good_notes()) ==
        "'token_embedding.weight' is not a matrix but [5]");
  // Many layers, which are small, promise matrices, which are not there.
  const std::int64_t layers = 300, d = 1000;
  StateDict norms = {{"token_embedding.weight", ones({5, d})}, {"position_embedding.weight", ones({6, d})}};
  for (std::int64_t i = 0; i < layers; ++i)
    norms.set("layers." + std::to_string(i) + ".linear1.weight", ones({d}));
  Metadata notes = good_notes();
  notes["layers"] = "300", notes["d_model"] = "1000";
  reset_peak_memory();
  const std::int64_t before = memory_stats().live_bytes;
  CHECK(file.complaint(norms, notes) ==
        "the weights have 311000 numbers, such a model has 3600011000 or more");
  CHECK(memory_stats().peak_bytes - before < 4 << 20);
}
