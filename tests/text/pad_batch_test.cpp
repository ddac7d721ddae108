#include "gradus/text/pad_batch.h"

#include <doctest/doctest.h>

#include "gradus/core/error.h"
#include "gradus/gradus.h"
#include "gradus/text/word_piece.h"

using namespace gradus;
using namespace gradus::text;

TEST_CASE("pad_batch: texts of different lengths") {
  const std::vector<Ids> rows{{5, 6, 7}, {8}, {}, {9, 10}};
  const auto [ids, padding] = pad_batch(rows, 3);
  CHECK(equal(ids, tensor({{5, 6, 7}, {8, 3, 3}, {3, 3, 3}, {9, 10, 3}})));
  CHECK(equal(padding.to(i64), tensor({{0, 0, 0}, {0, 1, 1}, {1, 1, 1}, {0, 0, 1}})));
  CHECK(padding.dtype() == boolean);
  CHECK_THROWS_WITH_AS(pad_batch({}, 0), "pad_batch: expects texts with tokens, got 0 rows, all empty",
                       Error);
  CHECK_THROWS_WITH_AS(pad_batch(std::vector<Ids>(2), 0),
                       "pad_batch: expects texts with tokens, got 2 rows, all empty", Error);
}

TEST_CASE("pad_batch: a Bert's output for each text is the same as for the text alone") {
  const WordPiece words({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "b"});
  manual_seed(1);
  const nn::Bert bert({.vocab = 6, .context = 8, .layers = 1, .block = {.d_model = 8, .heads = 2}});
  bert.eval();
  const std::vector<Ids> rows{words.encode_pair("a b a b").ids, words.encode_pair("b").ids};
  const auto [ids, padding] = pad_batch(rows, *words.special().pad);
  const Tensor both = bert(ids, {.padding = padding});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Tensor alone = bert(from_vector(rows[i]).unsqueeze(0))[0];
    const Tensor row = both[static_cast<std::int64_t>(i)].slice(0, 0, std::ssize(rows[i]));
    CHECK(allclose(row, alone, 1e-5, 1e-6));
  }
}
