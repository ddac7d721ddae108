#include <doctest/doctest.h>

#include "check_op.h"
#include "gpt2/options.h"
#include "gpt2/stop_text.h"
#include "gpt2/training.h"
#include "gpt2/writer.h"
#include "gradus/gradus.h"
#include "gradus/text/text.h"
#include "support.h"

using namespace gradus;
using test::check_error;

namespace {

/// Lines in which each word follows from those before it; "ö" is two tokens of a vocabulary of bytes.
std::string rhymes() {
  std::string text;
  for (int i = 0; i < 300; ++i) text += i % 2 == 0 ? "a dög bites. " : "the cow moos. ";
  return text;
}

gpt2::Options small_gpt() {
  gpt2::Options o;
  o.text = "rhymes";
  o.vocab = 257, o.context = 16, o.layers = 1, o.heads = 2, o.d_model = 32, o.dropout = 0;
  return o;
}

std::vector<std::string> pieces(const gpt2::Writer& writer, const std::string& prompt,
                                const gpt2::Options& o) {
  Generator generator(1);
  std::vector<std::string> all;
  gpt2::write(writer, prompt, o, generator, [&](std::string_view piece) { all.emplace_back(piece); });
  return all;
}

std::string joined(const std::vector<std::string>& pieces) {
  std::string text;
  for (const std::string& piece : pieces) text += piece;
  return text;
}

}  // namespace

TEST_CASE("gpt2: a text ends before its stop words, however it is cut") {
  const std::string text = "one\n\ntwo";
  for (std::size_t size = 1; size <= text.size(); ++size) {
    gpt2::StopText stop("\n\n");
    std::string shown;
    for (std::size_t i = 0; i < text.size(); i += size) shown += stop.push(text.substr(i, size));
    CHECK(shown == "one");
    CHECK(stop.met());
    CHECK(stop.flush().empty());
  }
  gpt2::StopText waits("aab");
  CHECK(waits.push("xa") == "x");
  CHECK(waits.push("a") == "");
  CHECK(waits.push("a") == "a");  // the stop words may begin one letter later
  CHECK_FALSE(waits.met());
  CHECK(waits.flush() == "aa");
  gpt2::StopText none("");
  CHECK(none.push("all") == "all");
  CHECK_FALSE(none.met());
}

TEST_CASE("gpt2: what each kind of model is") {
  gpt2::Options o = small_gpt();
  o.heads = 4;
  const auto model = [&](const char* kind) {
    o.kind = kind;
    return o.model(300);
  };
  CHECK(model("gpt1").placement == nn::post_ln());
  CHECK_FALSE(model("gpt1").residual_init_scaling);
  CHECK(model("gpt2").placement == nn::pre_ln());
  CHECK(model("gpt2").residual_init_scaling);
  CHECK(model("gpt2").vocab == 300);
  CHECK(model("gpt2").context == 16);
  CHECK(model("gpt2").block.window == 0);
  CHECK(model("gpt3").block.window == 4);
  CHECK(model("gpt3").block.window_every == 2);
  CHECK(model("llama").positions == nn::Positions::rotary);
  CHECK(model("llama").block.kv_heads == 1);
  CHECK(model("gpt2-355m").layers == 24);
  CHECK(model("gpt3-350m").context == 2048);
  CHECK(model("gpt1-117m").context == 512);
  o.placement = "rezero", o.norm = "rms";
  CHECK(model("llama").placement == nn::placement_named("rezero"));
  CHECK(model("gpt2").block.new_norm().kind() == "RMSNorm");
}

TEST_CASE("gpt2: a corpus is cut in two") {
  gpt2::Options o = small_gpt();
  const gpt2::Writer writer = gpt2::make(o, nullptr, rhymes());
  CHECK(writer.tokenizer->vocab_size() == 257);
  const gpt2::Corpus corpus = gpt2::make_corpus(rhymes(), writer, o);
  CHECK(corpus.train.size() + corpus.validation.size() == rhymes().size());
  CHECK(corpus.validation.size() == rhymes().size() / 10);
  CHECK(writer.tokenizer->decode(Tensor(corpus.train.back() * ones({1}, i64))) ==
        rhymes().substr(corpus.train.size() - 1, 1));
  CHECK(corpus.context == 16);
  o.context.reset();
  CHECK(gpt2::make_corpus(rhymes(), writer, o).context == 16);  // all the model has
  o.context = 17;
  check_error([&] { gpt2::make_corpus(rhymes(), writer, o); },
              "--context 17: the model sees at most 16 tokens");
  o.context = 16;
  check_error(
      [&] { gpt2::make_corpus(rhymes().substr(0, 160), writer, o); },
      "rhymes: has 160 tokens, and its validation part, a tenth, 16: too few for a window of 16 plus one: "
      "expects a longer text or a smaller --context");
}

TEST_CASE("gpt2: learns, is saved and loaded, and writes whole characters") {
  const test::ScratchFolder folder;
  gpt2::Options o = small_gpt();
  o.save = folder / "model";
  o.steps = 300, o.warmup = 30, o.lr = 1e-2;
  manual_seed(0);
  {
    const gpt2::Writer fresh = gpt2::make(o, nullptr, rhymes());
    kit::TrainingRun run(gpt2::training_options(fresh.model.options(), nullptr, rhymes(), o));
    REQUIRE(gpt2::train({}, run, fresh.model, gpt2::make_corpus(rhymes(), fresh, o), o));
    gpt2::save(fresh, o.save);
  }
  gpt2::Options write;
  write.weights = o.save;
  write.greedy = true, write.count = 40;
  const gpt2::Writer writer = gpt2::load(write);

  const std::string text = "bites. the cow moos. a dög bites. the cow";
  const auto greedy = pieces(writer, "moos. a dög ", write);
  CHECK(joined(greedy) == text.substr(0, joined(greedy).size()));
  CHECK(joined(greedy).size() == 40);
  CHECK(std::find(greedy.begin(), greedy.end(), "ö") != greedy.end());
  write.count = 25;  // in the middle of the ö: no half of a character
  CHECK(joined(pieces(writer, "moos. a dög ", write)) == "bites. the cow moos. a d\uFFFD");
  write.stop = " dX";  // what waits for its end comes before what is left of the character
  CHECK(joined(pieces(writer, "moos. a dög ", write)) == "bites. the cow moos. a d\uFFFD");
  write.stop = " a d";
  write.count = 40;
  CHECK(joined(pieces(writer, "moos. a dög ", write)) == "bites. the cow moos.");
  write.stop = "";
  write.greedy = false, write.beams = 3, write.count = 7;
  CHECK(joined(pieces(writer, "a dög ", write)) == "bites. ");

  SUBCASE("a model with rows that are no tokens") {
    nn::GPTOptions more = writer.model.options();
    more.vocab += 3;
    const gpt2::Writer wide{nn::GPT(more), writer.tokenizer};
    gpt2::Options any;
    any.temperature = 1e6, any.count = 2000;
    CHECK_NOTHROW(pieces(wide, "a", any));
  }
  SUBCASE("a tokenizer that is not the model's") {
    gpt2::Options other = small_gpt();
    other.vocab = 262;
    gpt2::make(other, nullptr, rhymes()).tokenizer->save(folder / "other");
    write.tokenizer = folder / "other";
    check_error([&] { gpt2::load(write); },
                (folder / "other").string() + ": the tokenizer has 262 tokens, but vocab_size in " +
                    (o.save / "config.json").string() +
                    " is 257: expects the one with which the model was trained (--tokenizer FOLDER)");
  }
}

TEST_CASE("gpt2: a text begins with the token for that, where the vocabulary has one for nothing else") {
  const std::vector<std::string> texts{rhymes()};
  const auto writer_with = [&](std::vector<std::string> special) {
    auto tokenizer = std::make_shared<text::ByteLevelBPE>(
        text::train_byte_level_bpe(texts, {.vocab = 280, .special_tokens = std::move(special)}));
    manual_seed(3);
    gpt2::Writer writer{nn::GPT(small_gpt().model(tokenizer->vocab_size())), tokenizer};
    for (const Tensor& parameter : writer.model.parameters())  // a text of its own, not one token for ever
      if (parameter.dim() == 2) nn::init::normal_(parameter, 0, 0.5);
    return writer;
  };
  gpt2::Options o;
  o.greedy = true, o.count = 8;
  // What the model itself writes after such ids.
  const auto expected = [&](const gpt2::Writer& writer, std::vector<std::int64_t> ids) {
    const auto begin = std::ssize(ids);
    const Tensor all = writer.model.generate(from_vector(ids), 8, {.greedy = true});
    text::Utf8Stream stream;
    std::string text;
    for (std::int64_t i = begin; i < all.size(0); ++i) {
      const auto id = all[i].item<std::int64_t>();
      if (!writer.tokenizer->is_special(id)) text += stream.push(writer.tokenizer->bytes(id));
    }
    return text + stream.flush();
  };
  const gpt2::Writer llama = writer_with({"<s>", "</s>"}), gpt = writer_with({"<|endoftext|>"}),
                     none = writer_with({});
  const auto with = [](const gpt2::Writer& writer, std::vector<std::int64_t> ids, const char* text) {
    for (const std::int64_t id : writer.tokenizer->encode(text)) ids.push_back(id);
    return ids;
  };
  CHECK(joined(pieces(llama, "a dög", o)) == expected(llama, with(llama, {0}, "a dög")));
  CHECK(joined(pieces(llama, "<s>a dög", o)) == expected(llama, with(llama, {0}, "a dög")));
  CHECK(joined(pieces(gpt, "a dög", o)) == expected(gpt, with(gpt, {}, "a dög")));
  CHECK(joined(pieces(gpt, "", o)) == expected(gpt, {0}));
  CHECK(joined(pieces(none, "a dög", o)) == expected(none, with(none, {}, "a dög")));
  check_error([&] { pieces(none, "", o); },
              "expects a prompt: the vocabulary has no token for the beginning of a text");
  // Otherwise the first of these would be worth nothing.
  CHECK(expected(llama, with(llama, {0}, "a dög")) != expected(llama, with(llama, {}, "a dög")));
}
