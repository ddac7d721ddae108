// Tokenizer files: writing, reading, and the messages for invalid ones.

#include <doctest/doctest.h>

#include <random>

#include "gradus/core/error.h"
#include "gradus/text/text.h"
#include "text/folders.h"
#include "text/golden.h"

using namespace gradus;
using namespace gradus::text;
using gradus::test::read_text, gradus::test::write_text, gradus::test::text_golden, gradus::test::said_of;
using Json = nlohmann::json;

namespace {

ByteLevelBPE trained() {
  const std::vector<std::string> texts{test::sample_text()};
  return train_byte_level_bpe(texts, {.vocab = 350, .special_tokens = {"<pad>", "<s>", "</s>"}});
}

void keep_only(const test::ScratchFolder& folder, const std::vector<std::string>& names) {
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    if (std::find(names.begin(), names.end(), entry.path().filename()) == names.end())
      std::filesystem::remove(entry.path());
}

/// Writes a trained tokenizer.json, changed by `change`.
template <class F>
void write_changed(const test::ScratchFolder& folder, const F& change) {
  trained().save(folder.path());
  keep_only(folder, {"tokenizer.json"});
  Json json = Json::parse(read_text(folder / "tokenizer.json"));
  change(json);
  write_text(folder / "tokenizer.json", json.dump());
}
template <class F>
std::string said_of_changed(const F& change) {
  const test::ScratchFolder folder;
  write_changed(folder, change);
  return said_of(folder);
}
template <class F>
std::shared_ptr<const Tokenizer> loaded_changed(const F& change) {
  const test::ScratchFolder folder;
  write_changed(folder, change);
  return load_tokenizer(folder.path());
}

/// A pre_tokenizer of one part, and ByteLevel without a pattern.
Json before_bytes(const Json& part) {
  const Json bytes = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}};
  return {{"type", "Sequence"}, {"pretokenizers", Json::array({part, bytes})}};
}

}  // namespace

TEST_CASE("load_tokenizer: byte-level BPE in every form") {
  const ByteLevelBPE bpe = trained();
  const std::string text = "<s>" + test::sample_text() + "\xFF</s><pad>";
  const Ids expected = bpe.encode(text);
  const std::vector<std::vector<std::string>> forms = {
      {"tokenizer.json"},
      {"vocab.json", "merges.txt"},
      {"vocab.json", "merges.txt", "special_tokens_map.json"}};
  for (const auto& form : forms) {
    const test::ScratchFolder folder;
    bpe.save(folder.path());
    keep_only(folder, form);
    const auto loaded = load_tokenizer(folder.path());
    CHECK(loaded->encode(text) == expected);
    CHECK(loaded->decode(expected, {.skip_special = true}) == test::sample_text() + "\xFF");
    CHECK(loaded->special().eos == 2);
    CHECK(loaded->vocab_size() == 350);
  }
  const test::ScratchFolder folder;
  bpe.save(folder.path());
  std::filesystem::rename(folder / "vocab.json", folder / "encoder.json");
  std::filesystem::rename(folder / "merges.txt", folder / "vocab.bpe");
  keep_only(folder, {"encoder.json", "vocab.bpe"});
  CHECK(load_tokenizer(folder.path())->encode(text) == expected);
}

TEST_CASE("load_tokenizer: merges as pairs, Llama 3's form, added tokens with spaces around them") {
  const test::ScratchFolder folder;
  trained().save(folder.path());
  Json json = Json::parse(read_text(folder / "tokenizer.json"));
  for (Json& merge : json["model"]["merges"]) {
    const auto both = merge.get<std::string>();
    merge = {both.substr(0, both.find(' ')), both.substr(both.find(' ') + 1)};
  }
  json["normalizer"] = {{"type", "NFC"}};
  json["pre_tokenizer"] = Json::parse(R"({"type": "Sequence", "pretokenizers": [
      {"type": "Split", "pattern": {"Regex": ""}, "behavior": "Isolated", "invert": false},
      {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false}]})");
  json["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] = text_golden()["bpe"]["llama3_pattern"];
  json["model"]["ignore_merges"] = true;
  json["added_tokens"].push_back(
      {{"id", 350}, {"content", "<mask>"}, {"lstrip", true}, {"rstrip", true}, {"special", false}});
  write_text(folder / "tokenizer.json", json.dump());
  keep_only(folder, {"tokenizer.json"});
  const auto loaded = load_tokenizer(folder.path());
  CHECK(loaded->encode("a \n<mask>  b") == Ids{loaded->id("a"), 350, loaded->id("b")});
  CHECK(loaded->special().mask == 350);
  CHECK(!loaded->is_special(350));
  CHECK(loaded->encode("1234 a\u0308").size() == 7);  // 1 2 3, 4, a space and the two bytes of one character
  // Saving and loading it again changes nothing.
  const test::ScratchFolder again;
  loaded->save(again.path());
  for (const auto& text : text_golden()["texts"])
    CHECK(load_tokenizer(again.path())->encode(text.get<std::string>()) ==
          loaded->encode(text.get<std::string>()));
}

TEST_CASE("load_tokenizer: settings of tokenizer.json that say nothing, and those that may be missing") {
  const ByteLevelBPE bpe = trained();
  const std::string text = "<s>" + test::sample_text();
  const auto quiet = loaded_changed([](Json& json) {
    json["model"].erase("type");  // a model with merges is BPE
    json["model"]["dropout"] = 0.0;
    json["model"]["end_of_word_suffix"] = "";
    json["model"]["continuing_subword_prefix"] = "";
    json["model"]["byte_fallback"] = false;
    json.erase("decoder");
  });
  CHECK(quiet->encode(text) == bpe.encode(text));
  const auto none = loaded_changed([](Json& json) { json.erase("added_tokens"); });
  CHECK(none->encode(text) == bpe.encode_ordinary(text));
  CHECK(!none->is_special(1));
  CHECK(none->special().bos == 1);  // by its name
  CHECK(said_of_changed([](Json& json) {
          json["model"].erase("type");
          json["model"].erase("merges");
        }) == "load_tokenizer: tokenizer.json.model: the key \"type\" is missing");
}

TEST_CASE("load_tokenizer: a tokenizer.json that splits at a text, or at digits") {
  const ByteLevelBPE bpe = trained();
  const auto split_at = [&](const char* text) {
    return loaded_changed([&](Json& json) {
      json["pre_tokenizer"] = before_bytes({{"type", "Split"}, {"pattern", {{"String", text}}}});
    });
  };
  const Ids the = bpe.encode("the");
  REQUIRE(the == Ids{bpe.id("t"), bpe.id("he")});
  CHECK(split_at("h")->encode("the") == Ids{bpe.id("t"), bpe.id("h"), bpe.id("e")});
  for (const char* const text : {".", "a?", "[he]", "h|e", "(he)", "h*", "^t", "e$", "\\w", "t{1}"}) {
    CAPTURE(text);
    CHECK(split_at(text)->encode("the") == the);  // no expressions, but texts that it does not have
  }
  const Ids apart{bpe.id("t"), bpe.id("he"), bpe.id("."), bpe.id("h"), bpe.id("e")};
  CHECK(split_at(".h")->encode("the.he") == apart);

  const auto digits = [](const Json& part) {
    return loaded_changed([&](Json& json) {
      json["pre_tokenizer"] = before_bytes(part);
      json["model"]["vocab"]["a1"] = 350;
      json["model"]["vocab"]["12"] = 351;
      json["model"]["merges"].push_back("a 1");
      json["model"]["merges"].push_back("1 2");
    });
  };
  const std::int64_t a = bpe.id("a"), one = bpe.id("1"), two = bpe.id("2");
  CHECK(digits({{"type", "Split"}, {"pattern", {{"Regex", "x"}}}})->encode("a12") == Ids{350, two});
  CHECK(digits({{"type", "Digits"}})->encode("a12") == Ids{a, 351});
  CHECK(digits({{"type", "Digits"}, {"individual_digits", false}})->encode("a12") == Ids{a, 351});
  CHECK(digits({{"type", "Digits"}, {"individual_digits", true}})->encode("a12") == Ids{a, one, two});
}

TEST_CASE("load_tokenizer: ids with gaps, where a word that is a token needs no merges") {
  const test::ScratchFolder folder;
  write_changed(folder, [](Json& json) {
    json["model"]["ignore_merges"] = true;
    json["model"]["vocab"]["Ġxyz"] = 360;
    json["added_tokens"].push_back({{"id", 400}, {"content", "<far>"}, {"special", true}});
  });
  const auto loaded = load_tokenizer(folder.path());
  CHECK(loaded->vocab_size() == 401);
  CHECK(loaded->encode(" xyz<far>") == Ids{360, 400});
  CHECK_THROWS_WITH_AS(loaded->bytes(399),
                       doctest::Contains("ByteLevelBPE::bytes: no token has id 399: the ids of "), Error);
  const test::ScratchFolder again;
  loaded->save(again.path());
  const Json vocab = Json::parse(read_text(again / "vocab.json"));
  CHECK(vocab.size() == 352);
  CHECK(vocab.at("Ġxyz") == 360);
  CHECK(load_tokenizer(again.path())->encode(" xyz<far>") == Ids{360, 400});
}

TEST_CASE("load_tokenizer: each kind's own loader") {
  const ByteLevelBPE bpe = trained();
  const std::string text = "<s>" + test::sample_text();
  const test::ScratchFolder folder;
  bpe.save(folder.path());
  keep_only(folder, {"tokenizer.json"});
  CHECK(ByteLevelBPE::load(folder.path()).encode(text) == bpe.encode(text));
  bpe.save(folder.path());
  keep_only(folder, {"vocab.json", "merges.txt"});
  write_text(folder / "tokenizer_config.json", R"({"add_prefix_space": true})");
  CHECK(ByteLevelBPE::load(folder.path()).encode("the") == bpe.encode(" the"));
  write_text(folder / "tokenizer_config.json", "{}");
  CHECK(ByteLevelBPE::load(folder.path()).encode("the") == bpe.encode("the"));
  const auto two =
      ByteLevelBPE::load(folder / "vocab.json", folder / "merges.txt", {.special_tokens = {"</s>", "<new>"}});
  CHECK(two.encode("the</s><new>") == Ids{bpe.id("t"), bpe.id("he"), 2, 350});
  CHECK(two.is_special(0));  // "<pad>", which no merge makes
  CHECK(two.special().eos == 2);
  std::filesystem::remove(folder / "vocab.json");
  CHECK(said_of(folder, [](const auto& path) {
          ByteLevelBPE::load(path);
        }).ends_with(" has none of tokenizer.json, vocab.json and encoder.json"));

  const test::ScratchFolder pieces;
  const WordPiece bert({"[UNK]", "a", "##b"});
  bert.save(pieces.path());
  keep_only(pieces, {"tokenizer.json"});
  CHECK(WordPiece::load(pieces.path()).encode("ab [UNK]") == Ids{1, 2, 0});
  std::filesystem::remove(pieces / "tokenizer.json");
  CHECK(said_of(pieces, [](const auto& path) {
          WordPiece::load(path);
        }).ends_with(" has neither tokenizer.json nor vocab.txt"));
  write_text(pieces / "vocab.txt", "[UNK]\r\na\r\n##b\r\nc");
  CHECK(WordPiece::load(pieces.path()).encode("abc c") == Ids{0, 3});
  CHECK(WordPiece::load(pieces.path()).encode("ab") == Ids{1, 2});
}

TEST_CASE("load_tokenizer: tokens that no merge makes are special if they look so") {
  const test::ScratchFolder folder;
  trained().save(folder.path());
  keep_only(folder, {"vocab.json", "merges.txt"});
  Json vocab = Json::parse(read_text(folder / "vocab.json"));
  const std::vector<std::string> more{"[CLS]", "<|end|>", "<half", "[half", "half]", "half>", "<]", "[]"};
  for (const std::string& token : more) vocab[token] = vocab.size();
  write_text(folder / "vocab.json", vocab.dump());
  const auto loaded = load_tokenizer(folder.path());
  for (std::size_t i = 0; i < more.size(); ++i) {
    const std::int64_t id = loaded->id(more[i]);
    CAPTURE(more[i]);
    CHECK(loaded->is_special(id) == (i < 2));
    CHECK((loaded->encode(more[i]) == Ids{id}) == (i < 2));
  }
}

TEST_CASE("load_tokenizer: WordPiece in every form") {
  const std::vector<std::string> texts{test::sample_text()};
  const WordPiece bert =
      train_word_piece(texts, {.vocab = 300, .options = {.lowercase = false, .strip_accents = true}});
  for (const auto& form :
       {std::vector<std::string>{"tokenizer.json"}, {"vocab.txt", "tokenizer_config.json"}}) {
    const test::ScratchFolder folder;
    bert.save(folder.path());
    keep_only(folder, form);
    const auto loaded = load_tokenizer(folder.path());
    CHECK(loaded->encode(texts[0] + " [MASK]") == bert.encode(texts[0] + " [MASK]"));
    CHECK(loaded->special().mask == 4);
    CHECK(loaded->is_special(4));
  }
  const test::ScratchFolder folder;
  bert.save(folder.path());
  CHECK(WordPiece::load(folder / "vocab.txt", {.lowercase = false, .strip_accents = true}).encode(texts[0]) ==
        bert.encode(texts[0]));
}

TEST_CASE("load_tokenizer: special tokens by role, tokens added later, the vocab_size of the model") {
  const test::ScratchFolder folder;
  trained().save(folder.path());
  keep_only(folder, {"vocab.json", "merges.txt"});
  write_text(
      folder / "special_tokens_map.json",
      R"({"eos_token": {"content": "</s>"}, "bos_token": "Ġthe", "additional_special_tokens": ["<new>"]})");
  write_text(folder / "added_tokens.json", R"({"<new>": 351, "plain": 352})");
  write_text(folder / "config.json", R"({"vocab_size": 353})");
  const auto loaded = load_tokenizer(folder.path());
  CHECK(loaded->special().eos == 2);
  CHECK(loaded->special().bos == loaded->id("Ġthe"));
  CHECK(loaded->encode("<new>plain") == Ids{351, 352});
  CHECK(loaded->is_special(351));
  CHECK(!loaded->is_special(352));
  CHECK(loaded->vocab_size() == 353);
  CHECK_THROWS_WITH_AS(loaded->token(350),
                       doctest::Contains("Tokenizer::token: no token has id 350: the ids of "), Error);

  write_text(folder / "config.json", R"({"vocab_size": 350})");
  CHECK(said_of(folder) ==
        "load_tokenizer: config.json: \"vocab_size\" is 350, but the tokenizer in this folder has 353 "
        "tokens: do both belong to one model?");
  write_text(folder / "config.json", R"({"vocab_size": 50257})");
  CHECK(said_of(folder) ==
        "load_tokenizer: config.json: \"vocab_size\" is 50257, but the tokenizer in this folder has 353 "
        "tokens: is its file cut short?");
  write_text(folder / "config.json", R"({"vocab_size": "many"})");
  CHECK(said_of(folder) ==
        "load_tokenizer: config.json: \"vocab_size\" is '\"many\"'; expects a whole number");
  write_text(folder / "added_tokens.json", R"({"</s>": 351})");
  CHECK(said_of(folder).starts_with(
      "load_tokenizer: added_tokens.json says that '</s>' has id 351, ByteLevelBPE: "));
}

TEST_CASE("load_tokenizer: roles without a token, and tokens that are added with the ids they have") {
  const test::ScratchFolder folder;
  const ByteLevelBPE bpe = trained();
  bpe.save(folder.path());
  keep_only(folder, {"vocab.json", "merges.txt"});
  write_text(folder / "special_tokens_map.json",
             R"({"bos_token": "", "eos_token": "<nowhere>", "pad_token": null})");
  write_text(folder / "added_tokens.json", R"({"</s>": 2})");
  write_text(folder / "config.json", "{}");
  const auto loaded = load_tokenizer(folder.path());
  CHECK(loaded->vocab_size() == 350);
  CHECK(loaded->special().bos == 1);  // all by their usual names
  CHECK(loaded->special().eos == 2);
  CHECK(loaded->special().pad == 0);
  CHECK(loaded->encode("the</s>") == Ids{bpe.id("t"), bpe.id("he"), 2});
  CHECK(!loaded->is_special(2));
  CHECK(loaded->is_special(1));
}

TEST_CASE("load_tokenizer: a token with a role that is recognized in no text is not saved as special") {
  const std::vector<std::string> tokens = text_golden()["bpe"]["tokens"];
  const ByteLevelBPE bpe(tokens, {});
  CHECK(bpe.special().bos == 1);
  CHECK(!bpe.is_special(1));
  const test::ScratchFolder folder;
  bpe.save(folder.path());
  CHECK(read_text(folder / "special_tokens_map.json") == "{}\n");
  CHECK(load_tokenizer(folder.path())->encode("<s>").size() == 3);
}

TEST_CASE("load_tokenizer: messages for invalid vocab.json, merges.txt and vocab.txt") {
  const test::ScratchFolder folder;
  CHECK(said_of(folder).ends_with(
      "has none of spiece.model, tokenizer.model, source.spm, tokenizer.json, vocab.json, encoder.json and "
      "vocab.txt"));
  trained().save(folder.path());
  keep_only(folder, {"vocab.json", "merges.txt"});
  const std::string vocab = read_text(folder / "vocab.json"), merges = read_text(folder / "merges.txt");

  write_text(folder / "vocab.json", vocab.substr(0, vocab.size() / 2));
  CHECK(said_of(folder).starts_with("ByteLevelBPE: vocab.json is not valid JSON: "));
  CHECK(said_of(folder).ends_with("; is it cut short?"));
  write_text(folder / "vocab.json", R"({"a": 1, "b": 1})");
  CHECK(said_of(folder) == "ByteLevelBPE: vocab.json: tokens 'a' and 'b' have the same id 1");
  write_text(folder / "vocab.json", R"({"a": 1, "a": 2})");
  CHECK(said_of(folder).find("the key 'a' appears twice in one object") != std::string::npos);
  write_text(folder / "vocab.json", R"({"a": "1"})");
  CHECK(said_of(folder) == "ByteLevelBPE: vocab.json: the id of 'a' is '\"1\"'; expects a whole number");
  write_text(folder / "vocab.json", R"({"a": 99999999999})");
  CHECK(said_of(folder) ==
        "ByteLevelBPE: vocab.json: token 'a' has id 99999999999; expects one of 0..1048575");
  write_text(folder / "vocab.json", R"({"a": -1})");
  CHECK(said_of(folder) == "ByteLevelBPE: vocab.json: token 'a' has id -1; expects one of 0..1048575");
  for (const char* const other : {"[]", "{}", "3"}) {
    write_text(folder / "vocab.json", other);
    CHECK(said_of(folder) == "ByteLevelBPE: vocab.json: expects an object of tokens and their ids");
  }

  write_text(folder / "vocab.json", vocab);
  const std::string lines = merges.substr(merges.find('\n') + 1);  // without the version
  for (const std::string& text : {lines, "#version: 9\n" + lines, "\n" + lines + "\n\n"}) {
    write_text(folder / "merges.txt", text);
    CHECK(said_of(folder) == "nothing");
  }
  for (const std::string line : {" e", "e ", "e f g", "e", "#version: 0.2"}) {
    CAPTURE(line);
    write_text(folder / "merges.txt", "\n" + line + "\n" + lines);
    CHECK(said_of(folder) ==
          (line[0] == '#'
               ? "ByteLevelBPE: vocab.json: merge 1, '#version:' '0.2', needs the token '#version:', "
                 "which is not in the vocabulary: do both belong to one model?"
               : "ByteLevelBPE: merges.txt, line 2: '" + line +
                     "' is not a merge; expects two tokens and a space between them"));
  }
  write_text(folder / "merges.txt", merges.substr(0, merges.find('\n', merges.size() / 2) + 1));
  CHECK(said_of(folder).find("is it cut short?") != std::string::npos);
  CHECK(said_of(folder).find("merges.txt has no merge for ") != std::string::npos);
  write_text(folder / "merges.txt", merges + "e\n");
  CHECK(said_of(folder).find("'e' is not a merge; expects two tokens and a space between them") !=
        std::string::npos);
  write_text(folder / "merges.txt", merges + "e xyz\n");
  CHECK(said_of(folder).find("needs the token 'xyz', which is not in the vocabulary") != std::string::npos);
  std::filesystem::remove(folder / "merges.txt");
  CHECK(said_of(folder) == "ByteLevelBPE: cannot open merges.txt: No such file or directory");

  const test::ScratchFolder bert;
  write_text(bert / "vocab.txt", "");
  CHECK(said_of(bert) == "WordPiece: vocab.txt is empty; expects a token in each line");
  write_text(bert / "vocab.txt", "a\n[UNK]\na\n");
  CHECK(said_of(bert) == "WordPiece: vocab.txt: token 'a' appears twice, as 0 and 2");
  write_text(bert / "vocab.txt", "a\nb\n");
  CHECK(said_of(bert) ==
        "WordPiece: vocab.txt: the vocabulary has no '[UNK]', the token for unknown words: is it complete?");
  write_text(bert / "vocab.txt", "[UNK]\n\n");
  CHECK(said_of(bert) == "WordPiece: vocab.txt: token '' of id 1 is empty");
}

TEST_CASE("load_tokenizer: settings of tokenizer.json that would change the ids are rejected") {
  CHECK(said_of_changed([](Json&) {}) == "nothing");
  const auto said = [](const char* path, const Json& value) {
    return said_of_changed([&](Json& json) { json[Json::json_pointer(path)] = value; });
  };
  CHECK(said("/model/type", "Unigram") ==
        "load_tokenizer: tokenizer.json: a model of type 'Unigram' is not supported; expects BPE or "
        "WordPiece; for Unigram add its spiece.model");
  CHECK(said("/model/dropout", 0.5) ==
        "load_tokenizer: tokenizer.json.model: \"dropout\" '0.5' is not supported; for Llama 2 add its "
        "tokenizer.model");
  CHECK(said("/model/byte_fallback", true).find("\"byte_fallback\"") != std::string::npos);
  CHECK(said("/model/end_of_word_suffix", "</w>").find("\"end_of_word_suffix\" '\"</w>\"'") !=
        std::string::npos);
  CHECK(said("/model/ignore_merges", 1) ==
        "load_tokenizer: tokenizer.json.model: \"ignore_merges\" is '1'; expects true or false");
  CHECK(said("/model/merges/0", "x") ==
        "load_tokenizer: tokenizer.json.model: merge 1 is '\"x\"'; expects \"a b\" or [\"a\", \"b\"]");
  for (const char* const merge : {" a", "a ", "a", " ", ""})
    CHECK(said("/model/merges/0", merge) == "load_tokenizer: tokenizer.json.model: merge 1 is '\"" +
                                                std::string(merge) +
                                                "\"'; expects \"a b\" or [\"a\", \"b\"]");
  for (const char* const merge : {R"([])", R"(["a"])", R"(["a", "b", "c"])", R"([1, "a"])", R"(["a", 1])"})
    CHECK(said("/model/merges/0", Json::parse(merge)) ==
          "load_tokenizer: tokenizer.json.model: merge 1 is array; expects \"a b\" or [\"a\", \"b\"]");
  CHECK(said("/model/merges", 3).find("\"merges\" is not a list") != std::string::npos);
  CHECK(said("/model", nullptr) == "load_tokenizer: tokenizer.json: the key \"model\" is missing");
  CHECK(said("/normalizer", {{"type", "NFKC"}}).find("the type 'NFKC' is not supported; expects NFC") !=
        std::string::npos);
  CHECK(said("/pre_tokenizer", {{"type", "Whitespace"}}).find("the type 'Whitespace' is not supported") !=
        std::string::npos);
  const Json split = {{"type", "Split"}, {"pattern", {{"String", "a"}}}};
  for (const auto& [key, value] : {std::pair<const char*, Json>("behavior", "Removed"), {"invert", true}}) {
    Json other = split;
    other[key] = value;
    CHECK(said("/pre_tokenizer", before_bytes(other)) ==
          "load_tokenizer: tokenizer.json.pre_tokenizer.pretokenizers: Split is only supported with the "
          "behavior \"Isolated\", not inverted");
  }
  CHECK(said("/pre_tokenizer", before_bytes({{"type", "ByteLevel"}}))
            .ends_with("pretokenizers: nothing may follow ByteLevel"));
  CHECK(said("/pre_tokenizer", nullptr).find("the key \"pre_tokenizer\" is missing") != std::string::npos);
  CHECK(said("/decoder/type", "Metaspace").find("expects ByteLevel") != std::string::npos);
  CHECK(said("/added_tokens/0/id", 7).find("'<pad>' has id 7, but 0 in the vocabulary") != std::string::npos);
  CHECK(said("/added_tokens/0/single_word", true).find("\"single_word\" 'true' is not supported") !=
        std::string::npos);
  CHECK(said("/model/vocab/Ā", 3).find("have the same id 3") != std::string::npos);
  CHECK(said_of_changed([](Json& json) {
          json["model"]["vocab"].erase("Ġ");
        }).find("no token for byte 0x20") != std::string::npos);
  CHECK(said_of_changed([](Json& json) {
          json = Json::parse(std::string(100, '[') + std::string(100, ']'));
        }).find("at most 64") != std::string::npos);
}

TEST_CASE("load_tokenizer: files changed at random are read or rejected, and cause no other failure") {
  const test::ScratchFolder folder;
  const std::vector<std::string> texts{test::sample_text()};
  trained().save(folder / "bpe");
  train_word_piece(texts, {.vocab = 200}).save(folder / "bert");
  std::mt19937 random(11);
  for (const auto& [sub, names] : std::vector<std::pair<std::string, std::vector<std::string>>>{
           {"bpe", {"tokenizer.json"}},
           {"bpe", {"vocab.json", "merges.txt"}},
           {"bert", {"vocab.txt", "tokenizer_config.json"}},
           {"bert", {"tokenizer.json"}}}) {
    const test::ScratchFolder scratch;
    for (int i = 0; i < 60; ++i) {
      for (const std::string& name : names) {
        std::string bytes = read_text(folder / sub / name);
        for (int k = 0; k < 3; ++k) {
          const std::size_t at = random() % bytes.size();
          if (random() % 3 == 0)
            bytes.erase(at, random() % 20);
          else
            bytes[at] =
                static_cast<char>(random() % 4 == 0 ? random() % 256 : bytes[random() % bytes.size()]);
        }
        write_text(scratch / name, bytes);
      }
      try {
        const auto loaded = load_tokenizer(scratch.path());
        loaded->decode(loaded->encode(texts[0]));
      } catch (const Error&) {
      }
    }
  }
}

TEST_CASE("load_tokenizer: a path that the system cannot inspect is an Error that names it") {
  const std::filesystem::path longest(std::string(300, 'x'));
  CHECK_THROWS_AS(load_tokenizer(longest), Error);
  CHECK_THROWS_AS(ByteLevelBPE::load(longest), Error);
  CHECK_THROWS_AS(WordPiece::load(longest), Error);
  CHECK_THROWS_AS(SentencePiece::load(longest), Error);
  CHECK_THROWS_AS(SentencePiece{longest}, Error);
}
