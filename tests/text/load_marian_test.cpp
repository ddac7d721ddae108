// A folder of Marian: two SentencePiece models and a vocabulary.

#include <doctest/doctest.h>

#include "gradus/core/error.h"
#include "gradus/text/text.h"
#include "text/folders.h"
#include "text/golden.h"

using namespace gradus;
using namespace gradus::text;
using gradus::test::read_text, gradus::test::write_text, gradus::test::said_of;
using Json = nlohmann::json;

namespace {

/// A folder as Marian's: pieces of the source have other ids than in their model, and the target has other
/// pieces.
void write_marian(const test::ScratchFolder& folder, const std::vector<std::string>& more = {}) {
  std::string model = read_text(test::source_file("tests/text/golden/spiece.model"));
  const SentencePiece pieces(test::source_file("tests/text/golden/spiece.model"));
  write_text(folder / "source.spm", model);
  const std::string the = "\u2581T";
  for (std::size_t at = 0; (at = model.find(the, at)) != std::string::npos; at += the.size())
    model[at + the.size() - 1] = 'X';
  write_text(folder / "target.spm", model);
  Json vocab = {{"</s>", 0}, {"<unk>", 1}};
  for (std::int64_t id = pieces.vocab_size() - 1; id > 2; --id)
    if (const std::string& piece = pieces.token(id); id != 81) vocab[piece] = vocab.size();
  for (const std::string& token : more) vocab[token] = vocab.size();
  vocab["<pad>"] = vocab.size();
  write_text(folder / "vocab.json", vocab.dump());
}

}  // namespace

TEST_CASE("load_tokenizer: Marian's folder") {
  const test::ScratchFolder folder;
  write_marian(folder, {">>de<<"});
  const auto marian = load_tokenizer(folder.path());
  const SentencePiece pieces(test::source_file("tests/text/golden/spiece.model"));
  const std::string text = "The vorpal blade durch Nacht";
  Ids expected;
  for (const std::int64_t id : pieces.encode(text))
    expected.push_back(marian->find(pieces.token(id)).value_or(1));  // 81 is not in the vocabulary
  CHECK(std::count(expected.begin(), expected.end(), 1) > 0);
  CHECK(marian->encode(text) == expected);
  CHECK(expected.front() == marian->id("▁T"));
  CHECK(expected.front() != pieces.encode(text).front());
  CHECK(marian->special().eos == 0);
  CHECK(marian->special().unk == 1);
  CHECK(marian->special().pad == marian->vocab_size() - 1);
  CHECK(marian->bytes(expected.front()) == " T");
  const std::string known = "The Jabber";
  Ids ids = marian->encode(known);
  CHECK(marian->decode(ids) == known);
  ids.push_back(0);
  ids.push_back(marian->vocab_size() - 1);
  CHECK(marian->decode(ids, {.skip_special = true}) == known);
  CHECK(marian->decode(ids) == known + " </s> <pad>");
  CHECK(marian->encode("") == Ids{});
  Ids told = marian->encode("The");
  told.insert(told.begin(), marian->id(">>de<<"));
  CHECK(marian->encode(">>de<< The") == told);
  const test::ScratchFolder again;
  marian->save(again.path());
  CHECK(load_tokenizer(again.path())->encode(">>de<< " + text) == marian->encode(">>de<< " + text));
  CHECK(read_text(again / "target.spm") == read_text(folder / "target.spm"));
}

TEST_CASE("load_tokenizer: Marian's ids with gaps, and a token that only begins as a language does") {
  const test::ScratchFolder folder;
  write_marian(folder, {">>half"});
  Json vocab = Json::parse(read_text(folder / "vocab.json"));
  const auto last = static_cast<std::int64_t>(vocab.size()) + 5;
  vocab[">>de<<"] = last;
  write_text(folder / "vocab.json", vocab.dump());
  const auto marian = load_tokenizer(folder.path());
  CHECK(marian->vocab_size() == last + 1);
  CHECK(marian->encode(">>de<< ") == Ids{last});
  CHECK(marian->bytes(last) == ">>de<<");
  CHECK(marian->bytes(0) == "</s>");
  const Ids half = marian->encode(">>half");
  CHECK(std::count(half.begin(), half.end(), marian->id(">>half")) == 0);
  const test::ScratchFolder again;
  marian->save(again.path());
  CHECK(Json::parse(read_text(again / "vocab.json")) == vocab);
}

TEST_CASE("load_tokenizer: invalid Marian folders") {
  const test::ScratchFolder folder;
  write_marian(folder);
  const std::string source = read_text(folder / "source.spm");
  write_text(folder / "source.spm", source.substr(0, source.size() / 2));
  CHECK(said_of(folder).find("source.spm: this is not a SentencePiece model, or it is cut short") !=
        std::string::npos);
  write_text(folder / "source.spm", source);
  write_text(folder / "target_vocab.json", "{}");
  CHECK(said_of(folder).find("has a target_vocab.json: two vocabularies are not supported") !=
        std::string::npos);
  std::filesystem::remove(folder / "target_vocab.json");
  write_text(folder / "config.json", R"({"vocab_size": 7})");
  CHECK(said_of(folder).find("do both belong to one model?") != std::string::npos);
  std::filesystem::remove(folder / "config.json");
  CHECK(said_of(folder) == "nothing");
  write_text(folder / "vocab.json", R"({"a": 0, "</s>": 1, "<unk>": 2})");
  CHECK(said_of(folder) == "Marian's tokenizer: vocab.json: has no token <pad>");
  for (const char* const name : {"vocab.json", "target.spm"}) {
    std::filesystem::remove(folder / name);
    CHECK(said_of(folder).find(std::string("has no ") + name) != std::string::npos);
  }
  std::filesystem::rename(folder / "source.spm", folder / "target.spm");
  CHECK(said_of(folder).ends_with(" has no source.spm: expects source.spm, target.spm and vocab.json"));
}
