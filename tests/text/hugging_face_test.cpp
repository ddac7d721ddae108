// Rows of docs/from_pytorch.md: Hugging Face's tokenizers, and sacreBLEU.

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "gradus/gradus.h"
#include "gradus/text/text.h"
#include "text/golden.h"

TEST_CASE("from PyTorch: tokenizers") {
  using namespace gradus;
  const test::ScratchFolder scratch;
  const std::string folder = scratch / "bpe", uncased = scratch / "bert";
  const auto model = test::source_file("tests/text/golden/spiece.model").string();
  const std::vector<std::string> texts{test::sample_text()};
  // [tokenizers]
  // py: t = ByteLevelBPETokenizer(); t.train_from_iterator(texts, vocab_size=400, special_tokens=["</s>"])
  const auto bpe = text::train_byte_level_bpe(texts, {.vocab = 400, .special_tokens = {"</s>"}});
  CHECK(bpe.vocab_size() <= 400);
  // py: t = BertWordPieceTokenizer(); t.train_from_iterator(texts, vocab_size=300)
  const auto bert = text::train_word_piece(texts, {.vocab = 300});
  CHECK(bert.id("[MASK]") == 4);
  // py: tokenizer.save_pretrained(folder)
  bpe.save(folder);
  CHECK(std::filesystem::exists(folder + "/tokenizer.json"));
  bert.save(uncased);
  // py: tokenizer = AutoTokenizer.from_pretrained(folder)
  // note: of GPT-2, BERT, T5, Llama or Marian: [by its files](tokenizers.md#existing-vocabularies)
  const auto tokenizer = text::load_tokenizer(folder);
  CHECK(tokenizer->vocab_size() == bpe.vocab_size());
  // py: tokenizer.encode(line, add_special_tokens=False)
  // note: nothing is ever added at the ends
  const std::vector<std::int64_t> ids = tokenizer->encode("Beware the bird</s>");
  CHECK(ids.back() == 0);
  // py: tokenizer(line, return_tensors="pt").input_ids
  const Tensor batch = from_vector(ids).unsqueeze(0);
  CHECK(batch.dim() == 2);
  // py: tokenizer.decode(ids, skip_special_tokens=True)
  // note: also for a tensor [T]
  const std::string line = tokenizer->decode(ids, {.skip_special = true});
  CHECK(line == "Beware the bird");
  // py: len(tokenizer)
  const std::int64_t vocab = tokenizer->vocab_size();
  CHECK(vocab == bpe.vocab_size());
  // py: tokenizer.eos_token_id
  // note: an optional: `bos`, `eos`, `pad`, `unk`, `cls`, `sep`, `mask`
  const std::int64_t end = *tokenizer->special().eos;
  CHECK(end == 0);
  // py: tokenizer.convert_tokens_to_ids("</s>"), tokenizer.convert_ids_to_tokens(0)
  const auto [id, token] = std::pair(tokenizer->id("</s>"), tokenizer->token(0));
  CHECK((id == 0 && token == "</s>"));
  // py: AutoTokenizer.from_pretrained("bert")("Who came?", "Nobody.", truncation=True, max_length=32)
  // note: ids and token types; with one text `[CLS] text [SEP]`
  const auto pieces = text::load_tokenizer(uncased);
  const auto [pair, types] = pieces->encode_pair("Who came?", "Nobody.", 32);
  CHECK((pieces->token(pair[0]) == "[CLS]" && types.back() == 1));
  const std::vector<text::Ids> rows{pair, {5, 6}};
  // py: tokenizer.pad({"input_ids": rows}, return_tensors="pt")
  // note: the mask is the other way round: true where there is padding
  const auto [padded, padding] = text::pad_batch(rows, *pieces->special().pad);
  CHECK((padded.size(0) == 2 && padding[1][2].item<bool>()));
  // py: T5Tokenizer(vocab_file=model, extra_ids=100)
  const text::SentencePiece t5(model, {.extra_ids = 100});
  CHECK(t5.find("<extra_id_0>").has_value());
  // py: TextStreamer, decoding token by token
  // here: [`text::Utf8Stream`](generation.md#streaming)
  // py: sacrebleu.corpus_bleu(hypotheses, [references]).score
  // note: a set of references, or several
  const double score = text::bleu(texts, texts).score;
  CHECK(score == doctest::Approx(100));
  // [/tokenizers]
}
