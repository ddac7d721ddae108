#include "gradus/data/mask_tokens.h"

#include <doctest/doctest.h>

#include <cmath>
#include <map>

#include "check_op.h"
#include "gradus/data/data.h"
#include "gradus/ops/ops.h"

using namespace gradus;
using test::check_error;

namespace {

const data::MaskOptions kMasking{.vocab = 40, .mask = 4, .special = {0, 2, 3}};

double share_of(const Tensor& where, double of) {
  return static_cast<double>(where.sum().item<std::int64_t>()) / of;
}

}  // namespace

TEST_CASE("mask_tokens: chosen tokens are the targets, others and special ids do not change") {
  Generator generator(1);
  const Tensor ids = randint(0, 40, {50, 100}, generator);
  const Tensor before = ids.clone();
  const auto [seen, targets] = data::mask_tokens(ids, kMasking, generator);
  CHECK((ids == before).all());
  const Tensor chosen = targets != -100;
  CHECK((targets[chosen] == ids[chosen]).all());
  CHECK((seen[!chosen] == ids[!chosen]).all());
  for (const int special : {0, 2, 3, 4}) {
    CHECK_FALSE((chosen & (ids == special)).any());
    if (special != 4) CHECK_FALSE((seen[chosen] == special).any());
  }
}

TEST_CASE("mask_tokens: chooses 15 of 100, of which it masks 80%, replaces 10% at random and keeps 10%") {
  Generator generator(2);
  const Tensor ids = randint(5, 40, {1000, 200}, generator);
  const auto [seen, targets] = data::mask_tokens(ids, kMasking, generator);
  const Tensor chosen = targets != -100;
  const double n = 200'000, picked = share_of(chosen, 1);
  const auto near = [](double got, double p, double of) {  // within five standard deviations
    CHECK(std::abs(got - p) < 5 * std::sqrt(p * (1 - p) / of));
  };
  near(picked / n, 0.15, n);
  near(share_of(seen[chosen] == 4, picked), 0.8, picked);
  // One of the 36 tokens that are not special, token 1 too, is the token itself.
  near(share_of(seen[chosen] == ids[chosen], picked), 0.1 + 0.1 / 36, picked);
  const Tensor random = chosen & (seen != 4) & (seen != ids);
  std::map<std::int64_t, int> drawn;
  for (const std::int64_t id : seen[random].to_vector<std::int64_t>()) ++drawn[id];
  CHECK(drawn.size() == 36);
  const double all = share_of(random, 1);
  near(all / picked, 0.1 * 35 / 36, picked);
  near(drawn[1] / all, 1.0 / 35, all);  // any of the others; token 1 is never the token itself
  near(drawn[39] / all, 34.0 / 35 / 35, all);
  // By position: the first and the last are as likely as any.
  near(share_of(chosen.select(1, 0), 1000), 0.15, 1000);
  near(share_of(chosen.select(1, 199), 1000), 0.15, 1000);
}

TEST_CASE("mask_tokens: depends only on ids, options and generator; extreme shares") {
  Generator a(3), b(3);
  const Tensor ids = arange(5, 40, 1, i64);
  const auto first = data::mask_tokens(ids, kMasking, a), second = data::mask_tokens(ids, kMasking, b);
  CHECK((first.ids == second.ids).all());
  CHECK((first.targets == second.targets).all());
  CHECK((data::mask_tokens(ids, kMasking, a).targets != first.targets).any());
  data::MaskOptions all = kMasking;
  all.share = 1, all.masked = 1, all.random = 0;
  CHECK((data::mask_tokens(ids, all).ids == 4).all());
  all.masked = 0;
  CHECK((data::mask_tokens(ids, all).ids == ids).all());
  CHECK((data::mask_tokens(ids, all).targets == ids).all());
  all.share = 0;
  CHECK((data::mask_tokens(ids, all).targets == -100).all());
  CHECK(data::mask_tokens(zeros({0, 3}, i64), kMasking).ids.shape() == Shape{0, 3});
  CHECK((data::mask_tokens(ids.reshape({5, 7}).t(), all).ids == ids.reshape({5, 7}).t()).all());
}

TEST_CASE("mask_tokens: chooses other tokens in each epoch as the function of a loader") {
  const Tensor rows = arange(5, 35, 1, i64).reshape({3, 10});
  data::DataLoader loader(
      3,
      [&](std::int64_t i, Generator& generator) { return data::mask_tokens(rows[i], kMasking, generator); },
      {.batch_size = 3, .generator = Generator(1)});
  const auto first = loader.next(), second = loader.next();
  CHECK(first[0].shape() == Shape{3, 10});
  CHECK((first[1] != second[1]).any());
  const Tensor chosen = first[1] != -100;
  CHECK((first[1][chosen] == rows[chosen]).all());
  CHECK((first[0][!chosen] == rows[!chosen]).all());
}

TEST_CASE("mask_tokens: vocabularies of any size") {
  Generator generator(5);
  const Tensor ids = full({1000}, INT64_MAX - 1);
  const auto [seen, targets] = data::mask_tokens(
      ids, {.vocab = INT64_MAX, .mask = 0, .share = 1, .masked = 0, .random = 1}, generator);
  CHECK((targets == ids).all());
  CHECK((seen > 0).all());
  CHECK((seen < INT64_MAX).all());
  CHECK((seen > (INT64_MAX / 2)).any());
}

TEST_CASE("mask_tokens: errors") {
  const Tensor ids = tensor({5, 6});
  const auto call = [&](const auto& change) {
    data::MaskOptions options = kMasking;
    change(options);
    data::mask_tokens(ids, options);
  };
  using Options = data::MaskOptions;
  check_error([] { data::mask_tokens(Tensor(), kMasking); },
              "mask_tokens: expects ids of i64, got an undefined tensor");
  check_error([] { data::mask_tokens(zeros({2}), kMasking); },
              "mask_tokens: expects ids of i64, got f32 [2]");
  check_error([] { data::mask_tokens(tensor({40}), kMasking); },
              "mask_tokens: expects ids in 0 .. 39, got 40");
  check_error([] { data::mask_tokens(tensor({-1}), kMasking); },
              "mask_tokens: expects ids in 0 .. 39, got -1");
  check_error([&] { call([](Options& o) { o.vocab = 0; }); },
              "mask_tokens: expects vocab of 1 or more, got 0");
  check_error([&] { call([](Options& o) { o.mask = -1; }); },
              "mask_tokens: expects mask, the id of [MASK], in 0 .. 39, got -1");
  check_error([&] { call([](Options& o) { o.mask = 40; }); },
              "mask_tokens: expects mask, the id of [MASK], in 0 .. 39, got 40");
  check_error([&] { call([](Options& o) { o.special = {40}; }); },
              "mask_tokens: expects special ids in 0 .. 39, got 40");
  check_error([&] { call([](Options& o) { o.special = {-1}; }); },
              "mask_tokens: expects special ids in 0 .. 39, got -1");
  check_error([&] { call([](Options& o) { o.share = 1.5; }); },
              "mask_tokens: expects share from 0 to 1, got 1.5");
  check_error([&] { call([](Options& o) { o.masked = -0.5; }); },
              "mask_tokens: expects masked from 0 to 1, got -0.5");
  check_error([&] { call([](Options& o) { o.random = 0.3; }); },
              "mask_tokens: expects masked and random to add up to at most 1, got 0.8 and 0.3");
  check_error([&] { call([](Options& o) { o.vocab = 7, o.special = {0, 1, 2, 3, 5, 6}; }); },
              "mask_tokens: all 7 ids are special: no token can be chosen");
}
