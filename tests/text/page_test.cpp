// The code of docs/tokenizers.md.

#include <doctest/doctest.h>

#include <sstream>

#include "gradus/gradus.h"
#include "gradus/text/text.h"
#include "text/golden.h"

using namespace gradus;

namespace {

// [stream]
/// Prints tokens as they come: a character is written when its last byte is there.
void print(std::ostream& out, const text::Tokenizer& tokenizer, std::span<const std::int64_t> ids) {
  text::Utf8Stream stream;
  for (const std::int64_t id : ids) out << stream.push(tokenizer.bytes(id)) << std::flush;
  out << stream.flush();
}
// [/stream]

}  // namespace

TEST_CASE("docs/tokenizers.md: train, save, load, encode, generate") {
  const test::ScratchFolder folder;
  const std::vector<std::string> texts{test::sample_text()};
  manual_seed(1);
  // [train]
  const auto bpe = text::train_byte_level_bpe(texts, {.vocab = 400, .special_tokens = {"<|endoftext|>"}});
  bpe.save(folder / "jabberwock");  // tokenizer.json, vocab.json, merges.txt, special_tokens_map.json
  const auto tokenizer = text::load_tokenizer(folder / "jabberwock");

  const std::vector<std::int64_t> ids = tokenizer->encode("Beware the Jubjub bird<|endoftext|>");
  CHECK(ids.back() == tokenizer->special().eos);
  CHECK(tokenizer->decode(ids, {.skip_special = true}) == "Beware the Jubjub bird");
  // [/train]
  // [gpt]
  nn::GPT gpt(
      {.vocab = tokenizer->vocab_size(), .context = 16, .layers = 1, .block = {.d_model = 8, .heads = 2}});
  const Tensor prompt = from_vector(tokenizer->encode("Beware"));
  const Tensor answer = gpt.generate(prompt, /*count=*/5);
  const std::string words = tokenizer->decode(answer);
  // [/gpt]
  CHECK(!words.empty());
  std::ostringstream out;
  print(out, *tokenizer, tokenizer->encode("Erlkönig €"));
  CHECK(out.str() == "Erlkönig €");
}

TEST_CASE("docs/tokenizers.md: pairs for BERT, T5's blanks, BLEU") {
  const std::vector<std::string> texts{test::sample_text()};
  const auto model = test::source_file("tests/text/golden/spiece.model");
  // [bert]
  const auto bert = text::train_word_piece(texts, {.vocab = 300});
  const auto [ids, types] = bert.encode_pair("Who came?", "The Jabberwock.", /*max_length=*/32);
  CHECK(bert.token(ids[0]) == "[CLS]");
  CHECK(types.back() == 1);

  std::vector<text::Ids> rows;
  for (const char* line : {"Who came?", "And hast thou slain the Jabberwock?"})
    rows.push_back(bert.encode_pair(line).ids);
  const auto [batch, padding] = text::pad_batch(rows, *bert.special().pad);
  const nn::Bert encoder(
      {.vocab = bert.vocab_size(), .context = 32, .layers = 1, .block = {.d_model = 8, .heads = 2}});
  const Tensor hidden = encoder(batch, {.padding = padding});  // [2, T, 8]
  // [/bert]
  CHECK(hidden.shape() == Shape{2, batch.size(1), 8});
  // [t5]
  const text::SentencePiece t5(model, {.extra_ids = 100});
  CHECK(t5.decode(t5.encode("The <extra_id_0> blade")) == "The <extra_id_0> blade");
  // [/t5]
  // [bleu]
  const std::vector<std::string> hypotheses{"The sword went snicker-snack."};
  const std::vector<std::string> references{"The vorpal blade went snicker-snack."};
  const text::Bleu score = text::bleu(hypotheses, references);
  CHECK(score.score == doctest::Approx(34.98).epsilon(1e-3));
  CHECK(score.brevity_penalty == doctest::Approx(0.819).epsilon(1e-3));
  // [/bleu]
}
