#include "gradus/nn/models/generate.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "check_op.h"
#include "gradus/core/error.h"
#include "gradus/nn/nn.h"
#include "gradus/ops/ops.h"
#include "nn/check_module.h"
#include "values.h"

namespace gradus::test {

namespace {

/// The tokens of many samples from one row of logits.
std::set<std::int64_t> drawn(const Tensor& logits, const nn::GenerateOptions& options) {
  const std::vector<std::int64_t> tokens =
      nn::choose_tokens(logits.unsqueeze(0).expand({2000, -1}), zeros({2000, 1}, i64), options)
          .to_vector<std::int64_t>();
  return {tokens.begin(), tokens.end()};
}

nn::GPT small_gpt() {
  manual_seed(4);
  const nn::GPT gpt({.vocab = 6, .context = 12, .layers = 2, .block = {.d_model = 8, .heads = 2}});
  randomize(gpt);
  return gpt;
}

}  // namespace

TEST_CASE("choose_tokens: top_p keeps the likeliest that add up to it") {
  const Tensor logits = tensor({0.1, 0.4, 0.3, 0.2}).log();
  using Set = std::set<std::int64_t>;
  CHECK(drawn(logits, {}) == Set{0, 1, 2, 3});
  CHECK(drawn(logits, {.top_p = 0.95}) == Set{0, 1, 2, 3});
  CHECK(drawn(logits, {.top_p = 0.8}) == Set{1, 2, 3});
  CHECK(drawn(logits, {.top_p = 0.69}) == Set{1, 2});
  CHECK(drawn(logits, {.top_p = 0.39}) == Set{1});
  CHECK(drawn(logits, {.top_p = 1e-9}) == Set{1});
  CHECK(drawn(logits, {.top_p = 1e-320}) == Set{1});  // 0 as a float
  CHECK(drawn(logits, {.top_k = 2, .top_p = 0.99}) == Set{1, 2});
  CHECK(drawn(logits, {.top_k = 2, .top_p = 0.5}) == Set{1});  // of the two, 4/7 is enough
  CHECK(drawn(logits, {.temperature = 0.01}) == Set{1});
}

TEST_CASE("choose_tokens: frequencies are the truncated and rescaled probabilities") {
  manual_seed(5);
  const Tensor logits = tensor({0.1, 0.4, 0.3, 0.2}).log();
  const Tensor tokens =
      nn::choose_tokens(logits.unsqueeze(0).expand({40'000, -1}), zeros({40'000, 1}, i64), {.top_p = 0.65});
  CHECK((tokens == 1).to(f64).mean().item() == doctest::Approx(4.0 / 7).epsilon(0.02));
  CHECK((tokens == 2).to(f64).mean().item() == doctest::Approx(3.0 / 7).epsilon(0.02));
}

TEST_CASE(
    "choose_tokens: repetition_penalty divides positive and multiplies negative logits of what was there") {
  const Tensor logits = tensor({{2.0, 1.5, -1.0}, {-3.0, -1.0, -1.2}});
  const Tensor ids = tensor({{0, 0}, {1, 1}});
  const auto greedy = [&](double penalty) {
    return nn::choose_tokens(logits, ids, {.repetition_penalty = penalty, .greedy = true})
        .to_vector<std::int64_t>();
  };
  CHECK(greedy(1) == std::vector<std::int64_t>{0, 1});
  CHECK(greedy(1.1) == std::vector<std::int64_t>{0, 1});   // 1.82 and -1.1
  CHECK(greedy(1.25) == std::vector<std::int64_t>{0, 2});  // 1.6 and -1.25
  CHECK(greedy(1.4) == std::vector<std::int64_t>{1, 2});   // 1.43 and -1.4
}

TEST_CASE("choose_tokens: bad calls") {
  const Tensor logits = ones({1, 3}), ids = zeros({1, 1}, i64);
  const auto call = [&](const nn::GenerateOptions& o) { return [=] { nn::choose_tokens(logits, ids, o); }; };
  check_error(call({.top_p = 0}), "choose_tokens: expects top_p above 0 and at most 1 (all), got 0");
  check_error(call({.top_p = 1.1}), "choose_tokens: expects top_p above 0 and at most 1 (all), got 1.1");
  for (const char* text : {"0", "1e-300", "1e+300", "inf", "nan"})
    check_error(
        call({.repetition_penalty = std::stod(text)}),
        std::string("choose_tokens: expects a repetition_penalty from 1e-6 to 1e6, 1 for none, got ") + text);
  for (const char* text : {"0", "-1", "inf", "nan"})
    check_error(call({.temperature = std::stod(text)}),
                std::string("choose_tokens: expects a temperature above 0, got ") + text +
                    ": for the likeliest token set greedy");
  for (const bool greedy : {false, true})
    for (const Tensor& none : {tensor({{0.0, kNan}}), tensor({{0.0, kInf}}), full({1, 2}, -kInf)})
      check_error([&] { nn::choose_tokens(none, ids, {.greedy = greedy}); },
                  "choose_tokens: expects a finite logit in each row, and no NaN or infinity: the weights "
                  "contain such values or are very large, or every token is excluded");
  CHECK(nn::choose_tokens(tensor({{-kInf, 0.0, -kInf}}), ids, {.temperature = 1e300}).item<int>() == 1);
  check_error(
      [&] {
        nn::choose_tokens(ones({2, 3}), ids, {.repetition_penalty = 2});
      },
      "choose_tokens: repetition_penalty expects the ids so far, [2, T], got [1, 1]");
  check_error([&] { nn::choose_tokens(logits, Tensor(), {.repetition_penalty = 2}); },
              "choose_tokens: repetition_penalty expects the ids so far, [1, T], got an undefined tensor");
  const auto beyond = [&](const Tensor& huge, double penalty) {
    return [=] {
      nn::choose_tokens(huge, tensor({{0, 1}}), {.repetition_penalty = penalty, .greedy = true});
    };
  };
  check_error(beyond(tensor({{1e35, 2e35}}), 1e-6),
              "choose_tokens: a repetition_penalty of 1e-06 makes logits of up to 2e+35 overflow f32: "
              "expects one nearer to 1");
  check_error(beyond(tensor({{-1e35, -2e35, -kInf}}), 1e6),
              "choose_tokens: a repetition_penalty of 1000000 makes logits of up to 2e+35 overflow f32: "
              "expects one nearer to 1");
  CHECK_NOTHROW(beyond(tensor({{-1e35, 2e35}}), 1e6)());  // the first cannot be taken in either case
  check_error([&] { nn::choose_tokens(ones({3}), ids); }, "choose_tokens: expects logits [B, V], got [3]");
  check_error([&] { nn::choose_tokens(Tensor(), ids); },
              "choose_tokens: expects logits [B, V], got an undefined tensor");
}

TEST_CASE("GPT: generate stops at stop tokens, row by row, and reports each token") {
  const nn::GPT gpt = small_gpt();
  const Tensor prompt = tensor({{0, 1}, {3, 2}, {5, 5}});
  const Tensor all = gpt.generate(prompt, 9, {.greedy = true});
  // Every choice of stop tokens gives the same text up to the first of them.
  for (std::int64_t stop = 0; stop < 6; ++stop) {
    std::vector<Tensor> told;
    const Tensor some =
        gpt.generate(prompt, 9, {.greedy = true, .stop = {stop}, .on_token = [&](const Tensor& t) {
                                   told.push_back(t);
                                   return true;
                                 }});
    CHECK(std::ssize(told) == some.size(1) - 2);
    CHECK((stack(told, 1) == some.slice(1, 2)).all());
    std::int64_t longest = 0;
    for (std::int64_t b = 0; b < 3; ++b) {
      std::int64_t length = 0;
      bool ended = false;
      for (std::int64_t t = 2; t < some.size(1); ++t) {
        const auto token = some[b][t].item<std::int64_t>();
        CHECK(token == (ended ? stop : all[b][t].item<std::int64_t>()));
        if (!ended) ++length;
        ended = ended || token == stop;
      }
      longest = std::max(longest, ended ? length : 9);
    }
    CHECK(some.size(1) - 2 == longest);
  }
  int calls = 0;
  const Tensor two = gpt.generate(tensor({0, 1}), 9, {.on_token = [&](const Tensor& t) {
                                    CHECK(t.shape() == Shape{1});
                                    return ++calls < 2;
                                  }});
  CHECK(two.size(0) == 4);
  const auto stops = [&](const auto& model, std::int64_t stop, bool writes) {
    return model.generate(tensor({0, 1}), 9,
                          {.greedy = true, .stop = {stop}, .on_token = [&](const Tensor& t) {
                             if (writes) t.fill_(stop == 5 ? 4 : 5);
                             return true;
                           }});
  };
  const std::int64_t first = all[0][2].item<std::int64_t>();
  CHECK(stops(gpt, first, true).size(0) == 3);  // what is done to its tensor changes nothing
  CHECK(stops(gpt, first, false).size(0) == 3);
  CHECK(gpt.generate(tensor({0, 1}), 9, {.greedy = true, .stop = {1}}).size(0) >
        2);  // the prompt's do not count
}

TEST_CASE("GPT: a cache is as large as the text, not as the context") {
  manual_seed(5);
  nn::LlamaOptions options{.vocab = 6, .context = 12, .layers = 2, .d_model = 8, .heads = 2, .d_ff = 12};
  const nn::GPT small(nn::llama(options));
  options.context = std::int64_t{1} << 40;  // keys and values of all of it fit into no machine
  const nn::GPT large(nn::llama(options));
  large.load_state_dict(small.state_dict());
  CHECK_THROWS_AS(large.new_cache(), Error);
  const Tensor prompt = tensor({1, 2, 3});
  CHECK((large.generate(prompt, 9, {.greedy = true}) == small.generate(prompt, 9, {.greedy = true})).all());
  CHECK(large.beam_search(prompt, {.count = 9})[0].tokens ==
        small.beam_search(prompt, {.count = 9})[0].tokens);
}

TEST_CASE("GPT: beam search finds the results of exhaustive search") {
  const nn::GPT gpt = small_gpt();
  const NoGrad guard;
  const std::vector<std::int64_t> prompt{2, 0};
  const std::int64_t count = 4, stop = 3;
  // Every continuation of up to 4 tokens, with its score.
  std::vector<nn::Hypothesis> every;
  const double penalty = 0.7;
  const std::function<void(std::vector<std::int64_t>, double)> go_on = [&](const std::vector<std::int64_t>&
                                                                               tokens,
                                                                           double log_probability) {
    const auto length = std::ssize(tokens);
    if (length == count || (length > 0 && tokens.back() == stop)) {
      every.push_back({tokens, log_probability / std::pow((5 + static_cast<double>(length)) / 6, penalty)});
      return;
    }
    std::vector<std::int64_t> ids = prompt;
    ids.insert(ids.end(), tokens.begin(), tokens.end());
    const Tensor likely = log_softmax(gpt(from_vector(ids, {1, std::ssize(ids)})).select(1, -1).to(f64), -1);
    for (std::int64_t token = 0; token < 6; ++token) {
      std::vector<std::int64_t> longer = tokens;
      longer.push_back(token);
      go_on(longer, log_probability + likely[0][token].item());
    }
  };
  go_on({}, 0);
  std::stable_sort(every.begin(), every.end(),
                   [](const nn::Hypothesis& a, const nn::Hypothesis& b) { return a.score > b.score; });
  const std::vector<nn::Hypothesis> found = gpt.beam_search(
      from_vector(prompt, {2}), {.beams = 250, .count = count, .stop = {stop}, .length_penalty = penalty});
  REQUIRE(found.size() == 250);
  for (std::size_t i = 0; i < 20; ++i) {
    CHECK(found[i].tokens == every[i].tokens);
    CHECK(found[i].score == doctest::Approx(every[i].score).epsilon(1e-5));
  }
  // One beam is greedy; more find no worse.
  const std::vector<nn::Hypothesis> one =
      gpt.beam_search(from_vector(prompt, {2}), {.beams = 1, .count = 6, .length_penalty = 0});
  const Tensor greedy = gpt.generate(from_vector(prompt, {2}), 6, {.greedy = true});
  CHECK(one[0].tokens == greedy.slice(0, 2).to_vector<std::int64_t>());
  const auto best = [&](std::int64_t beams) {
    return gpt.beam_search(from_vector(prompt, {2}), {.beams = beams, .count = 6, .length_penalty = 0})[0]
        .score;
  };
  CHECK(best(8) >= best(1) - 1e-9);
}

TEST_CASE("beam search: bad calls") {
  const nn::GPT gpt = small_gpt();
  const Tensor prompt = tensor({1, 2});
  check_error(
      [&] {
        nn::beam_search_batch(zeros({2, 0}, i64), {.count = 2},
                              [](const Tensor&, const Tensor&) { return Tensor(); });
      },
      "beam_search: expects prompts [B, T] of at least one token, got [2, 0]");
  check_error([&] { gpt.beam_search(prompt, {.beams = 0, .count = 2}); },
              "beam_search: expects beams of 1 or more, got 0");
  check_error([&] { gpt.beam_search(prompt, {}); }, "beam_search: expects count of 1 or more, got 0");
  check_error([&] { gpt.beam_search(prompt, {.count = 2, .length_penalty = -1}); },
              "beam_search: expects a length_penalty from 0 to 10, got -1");
  check_error([&] { gpt.beam_search(prompt, {.count = 2, .length_penalty = 1e308}); },
              "beam_search: expects a length_penalty from 0 to 10, got 1e+308");
  CHECK(gpt.beam_search(prompt, {.beams = 1, .count = 11})[0].tokens.size() == 11);  // the last is not read
  check_error(
      [&] { gpt.beam_search(prompt, {.count = 12}); },
      "GPT: beam_search expects prompt and count - 1 tokens to fit into its context of 12, got [2] and 12");
  check_error(
      [&] { gpt.beam_search(prompt, {.count = INT64_MAX}); },
      "GPT: beam_search expects prompt and count - 1 tokens to fit into its context of 12, got [2] and "
      "9223372036854775807");
  check_error(
      [&] {
        gpt.beam_search(tensor({{1, 2}}), {.count = 2});
      },
      "beam_search: expects a prompt [T] of at least one token, got [1, 2]");
  check_error(
      [&] {
        nn::beam_search(prompt, {.count = 2}, [](const Tensor&, const Tensor&) { return ones({3, 2}); });
      },
      "beam_search: expects logits [1, V] of each step, got [3, 2]");
  check_error([&] { gpt.beam_search(tensor(1), {.count = 2}); },
              "beam_search: expects a prompt [T] of at least one token, got []");
  check_error([&] { gpt.beam_search(prompt, {.count = INT64_MIN}); },
              "beam_search: expects count of 1 or more, got -9223372036854775808");
  const auto search = [&](const Tensor& logits) {
    return nn::beam_search(prompt, {.count = 2}, [=](const Tensor&, const Tensor&) { return logits; });
  };
  for (const double value : {kNan, kInf})
    check_error(
        [&] {
          search(full({1, 2}, value));
        },
        "beam_search: the logits contain NaN or infinity: so do the weights, or they are very large");
  check_error([&] { search(ones({1, 0})); }, "beam_search: expects logits [1, V] of each step, got [1, 0]");
  CHECK(search(full({1, 2}, -kInf)).empty());  // nothing can follow
  check_error([&] { gpt.new_cache(1).select(tensor({0.5})); },
              "KeyValueCache: select expects the numbers of sequences, i64 [N], got f32 [1]");
}

TEST_CASE("generate and beam search: stop tokens must be tokens") {
  const nn::GPT gpt = small_gpt();
  const Tensor prompt = tensor({1, 2});
  const nn::Seq2SeqTransformer model({.vocab = 6,
                                      .context = 12,
                                      .encoder_layers = 1,
                                      .decoder_layers = 1,
                                      .block = {.d_model = 8, .heads = 2}});
  for (const std::int64_t stop : {std::int64_t{-1}, std::int64_t{6}, INT64_MAX}) {
    const std::string rest = " expects stop tokens in 0 .. 5, its vocabulary, got " + std::to_string(stop);
    check_error([&] { gpt.generate(prompt, 2, {.stop = {3, stop}}); }, "GPT: generate" + rest);
    check_error([&] { gpt.beam_search(prompt, {.count = 2, .stop = {stop}}); }, "GPT: beam_search" + rest);
    check_error([&] { model.generate(prompt, 2, {.stop = {stop}}); }, "Seq2SeqTransformer: generate" + rest);
    check_error([&] { model.beam_search(prompt, {.count = 2, .stop = {stop}}); },
                "Seq2SeqTransformer: beam_search" + rest);
    check_error(
        [&] {
          nn::beam_search(prompt, {.count = 2, .stop = {stop}}, [](const Tensor&, const Tensor&) {
            return ones({1, 6});
          });
        },
        "beam_search:" + rest);
  }
}

TEST_CASE("generate: takes and returns a tokenizer's ids") {
  using Ids = std::vector<std::int64_t>;
  const nn::GPT gpt = small_gpt();
  const Ids prompt{3, 1, 4};
  CHECK(gpt.generate(prompt, 5, {.greedy = true}) ==
        gpt.generate(from_vector(prompt), 5, {.greedy = true}).to_vector<std::int64_t>());
  check_error([&] { gpt.generate(Ids{}, 5); },
              "GPT: generate expects a prompt [T] or [B, T] of at least one token, got [0]");
  const nn::Seq2SeqTransformer model({.vocab = 6,
                                      .context = 12,
                                      .encoder_layers = 1,
                                      .decoder_layers = 1,
                                      .block = {.d_model = 8, .heads = 2}});
  CHECK(model.generate(prompt, 5, {.greedy = true}) ==
        model.generate(from_vector(prompt), 5, {.greedy = true}).to_vector<std::int64_t>());
}

}  // namespace gradus::test
