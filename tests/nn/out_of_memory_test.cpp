// Functions that change several tensors change all of them, or none when out of memory.

#include <doctest/doctest.h>

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "failing_new.h"
#include "gradus/core/error.h"
#include "gradus/core/memory/storage.h"
#include "gradus/core/random/random.h"
#include "gradus/core/threads/parallel.h"
#include "gradus/nn/nn.h"
#include "gradus/ops/ops.h"
#include "memory_limit.h"
#include "support.h"

using namespace gradus;
using namespace gradus::test;

namespace {

nn::GPT small_gpt() {
  manual_seed(0);
  const nn::GPT gpt({.vocab = 13, .context = 8, .layers = 3, .block = {.d_model = 8, .heads = 2}});
  for (const Tensor& w : gpt.parameters()) nn::init::normal_(w, 0, 0.5);
  gpt.eval();
  return gpt;
}

/// Logits of the next token for each row; does not change the cache.
std::vector<float> looked_at(const nn::GPT& gpt, nn::KeyValueCache cache) {
  return gpt.next_logits(full({cache.batch(), 1}, 3, i64), cache).to_vector<float>();
}

}  // namespace

TEST_CASE("out of memory: KeyValueCache::select changes all layers or none") {
  const SingleThread alone;
  const nn::GPT gpt = small_gpt();
  nn::KeyValueCache filled = gpt.new_cache(4);
  gpt.next_logits(randint(0, 13, {4, 5}), filled);
  const std::vector<float> before = looked_at(gpt, filled);
  std::optional<nn::KeyValueCache> cache;
  for (const Tensor& rows :
       {tensor({2, 2, 0, 3}), tensor({1, 2, 3, 0}), tensor({3, 1}), tensor({0, 1, 2, 3, 3})})
    CHECK(all_or_nothing([&] { cache.emplace(filled); }, [&] { cache->select(rows); },
                         [&] { must(looked_at(gpt, *cache) == before); }) > 3);
}

// In a separate process: otherwise malloc may have memory left from other tests.
TEST_CASE("child: KeyValueCache::select under limits of memory" * doctest::skip()) {
  const SingleThread alone;
  const NoGrad no_grad;
  const nn::Linear model(1, 1);
  std::vector<nn::KeyValues> layers;
  for (int i = 0; i < 4; ++i) layers.emplace_back(Shape{4, 1, 1024, 128}, model.weight);  // 2 MiB each
  nn::KeyValueCache filled(std::move(layers), model);
  const Tensor numbers = arange(0, 4, 1, f32).reshape({4, 1, 1, 1});
  for (std::size_t i = 0; i < filled.layers(); ++i)
    filled.layer(i).append(numbers.expand({4, 1, 1000, 128}), numbers.expand({4, 1, 1000, 128}) + 10);
  const Tensor rows = tensor({3, 0, 0, 1, 2});
  // What a layer's first row holds: 0 before, 3 after.
  const auto first = [](nn::KeyValues& layer) {
    const Tensor one = zeros({layer.batch(), 1, 1, 128});
    const auto [k, v] = layer.append(one, one);
    layer.truncate(1000);
    return k[0][0][999][7].item() + 10 == v[0][0][999][7].item() ? k[0][0][999][7].item() : -1;
  };
  int right = 0, errors = 0, torn = 0;
  for (std::size_t room = MiB / 2; room < 30 * MiB; room += MiB) {
    nn::KeyValueCache cache = filled;
    empty_cache();
    REQUIRE(limit_memory(room));
    double wanted = 3;
    try {
      cache.select(rows);
      ++right;
    } catch (const Error&) {
      wanted = 0;
      ++errors;
    }
    limit_memory();
    for (std::size_t i = 0; i < cache.layers(); ++i) torn += first(cache.layer(i)) != wanted;
  }
  if (right > 3 && errors > 10 && torn == 0) std::printf("<<good>>");
}

TEST_CASE(
    "out of memory: wherever the system's memory ends, KeyValueCache::select changes all layers or none") {
  CHECK(output_of_child("", "child: KeyValueCache::select under limits*").find("<<good>>") !=
        std::string::npos);
}

TEST_CASE("out of memory: a decoder's cache, which holds memory's keys, selects in all layers or none") {
  const SingleThread alone;
  manual_seed(1);
  const nn::Seq2SeqTransformer model(
      {.vocab = 9, .encoder_layers = 1, .decoder_layers = 2, .block = {.d_model = 8, .heads = 2}});
  model.eval();
  const NoGrad no_grad;
  const nn::EncoderOutput source = model.encode(randint(3, 9, {3, 4}));
  nn::KeyValueCache filled = model.new_cache(3, 6);
  model.next_logits(randint(3, 9, {3, 2}), source, filled);
  const auto look = [&](nn::KeyValueCache copy) {
    return model.next_logits(full({3, 1}, 4, i64), source, copy).to_vector<float>();
  };
  const std::vector<float> before = look(filled);
  std::optional<nn::KeyValueCache> cache;
  CHECK(all_or_nothing([&] { cache.emplace(filled); },
                       [&] {
                         cache->select(tensor({2, 0}));
                       },
                       [&] { must(look(*cache) == before); }) > 3);
}

TEST_CASE("KeyValueCache: select keeps any choice of rows, in the old memory unless there are more") {
  const nn::GPT gpt = small_gpt();
  nn::KeyValueCache filled = gpt.new_cache(4);
  gpt.next_logits(randint(0, 13, {4, 5}), filled);
  const auto rows_of = [&](const nn::KeyValueCache& cache) {
    return from_vector(looked_at(gpt, cache), {cache.batch(), 13});
  };
  const Tensor all = rows_of(filled);
  for (std::int64_t size = 1; size <= 5; ++size) {
    std::int64_t choices = 1;
    for (std::int64_t i = 0; i < size; ++i) choices *= 4;
    for (std::int64_t choice = 0; choice < choices; choice += size == 5 ? 37 : 1) {
      std::vector<std::int64_t> rows;
      for (std::int64_t i = 0, rest = choice; i < size; ++i, rest /= 4) rows.push_back(rest % 4);
      nn::KeyValueCache cache = filled;
      const Tensor wanted = from_vector(rows, {size});
      const std::int64_t live = memory_stats().live_bytes;
      cache.select(wanted);
      if (size <= 4) REQUIRE(memory_stats().live_bytes == live);
      REQUIRE(allclose(rows_of(cache), index_select(all, 0, wanted), 1e-5, 1e-5));
    }
  }
}

TEST_CASE("out of memory: a cache is assigned completely or not at all") {
  const SingleThread alone;
  const nn::GPT gpt = small_gpt();
  nn::KeyValueCache a = gpt.new_cache(2), b = gpt.new_cache(2);
  gpt.next_logits(randint(0, 13, {2, 3}), a);
  gpt.next_logits(randint(0, 13, {2, 3}), b);
  const std::vector<float> before = looked_at(gpt, a);
  std::optional<nn::KeyValueCache> cache;
  CHECK(all_or_nothing([&] { cache.emplace(a); }, [&] { *cache = b; },
                       [&] { must(looked_at(gpt, *cache) == before); }) > 3);
  CHECK(looked_at(gpt, *cache) == looked_at(gpt, b));
}

TEST_CASE("out of memory: load_state_dict, also of another dtype, loads all tensors or none") {
  const SingleThread alone;
  const nn::GPT gpt = small_gpt();
  StateDict other, doubles;
  for (const auto& [name, values] : gpt.state_dict()) {
    other.set(name, values.detach().transpose(0, -1).contiguous().transpose(0, -1) + 1);
    doubles.set(name, values.detach().to(f64) + 1);
  }
  const StateDict before = gpt.state_dict().clone();
  const auto unchanged = [&] {
    for (const auto& [name, values] : gpt.state_dict()) must(equal(values.detach(), before.at(name)));
  };
  for (const StateDict* const state : {&other, &doubles})
    CHECK(all_or_nothing([&] { gpt.load_state_dict(before); }, [&] { gpt.load_state_dict(*state); },
                         unchanged) > 10);
  CHECK((gpt.token_embedding.weight == before.at("token_embedding.weight") + 1).all());
}

TEST_CASE("out of memory: train, eval and requires_grad_ change all modules or none") {
  const SingleThread alone;
  const nn::GPT gpt = small_gpt();
  const auto modes = [&] {
    std::vector<bool> all;
    for (const auto& [name, module] : gpt.named_modules()) all.push_back(module.is_training());
    for (const Tensor& w : gpt.parameters()) all.push_back(w.requires_grad());
    return all;
  };
  const std::vector<bool> before = modes();
  const auto reset = [&] { gpt.eval(), gpt.requires_grad_(true); };
  const auto unchanged = [&] { must(modes() == before); };
  CHECK(all_or_nothing(
            reset, [&] { gpt.train(); }, unchanged) > 3);
  CHECK(all_or_nothing(
            reset, [&] { gpt.requires_grad_(false); }, unchanged) > 3);
}

TEST_CASE("out of memory: a BatchNorm that fails does not update its statistics") {
  const SingleThread alone;
  const nn::BatchNorm norm(5);
  const Tensor x = randn({7, 5}) * 3 + 1;
  const StateDict before = norm.state_dict().clone();
  CHECK(all_or_nothing([&] { norm.load_state_dict(before); }, [&] { norm(x); },
                       [&] {
                         for (const auto& [name, values] : norm.state_dict())
                           must(equal(values.detach(), before.at(name)));
                       }) > 2);
}
