#include "gradus/core/profile/profile.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <optional>
#include <sstream>
#include <thread>

#include "check_op.h"
#include "gradus/core/detail/units.h"
#include "gradus/core/memory/storage.h"
#include "gradus/core/tape/record.h"
#include "gradus/core/tape/scope.h"
#include "gradus/core/threads/parallel.h"
#include "gradus/nn/models/gpt.h"
#include "gradus/ops/ops.h"
#include "gradus/optim/adam.h"
#include "gradus/optim/clip.h"

using namespace gradus;
using gradus::test::check_error;

namespace {

/// The sum of an op's rows; empty if it was not recorded.
ProfileEntry find(const Profile& profile, const std::string& name) {
  ProfileEntry found;
  for (const ProfileEntry& entry : profile.entries()) {
    if (entry.name != name) continue;
    found.name = name;
    found.module = entry.module;
    found.is_op = entry.is_op;
    found.calls += entry.calls;
    found.backward_calls += entry.backward_calls;
    found.forward_seconds += entry.forward_seconds;
    found.backward_seconds += entry.backward_seconds;
    found.range_seconds += entry.range_seconds;
    found.flops += entry.flops;
    found.bytes += entry.bytes;
    found.bytes_at_peak += entry.bytes_at_peak;
    found.backward_bytes_at_peak += entry.backward_bytes_at_peak;
    found.live_bytes += entry.live_bytes;
    found.live_blocks += entry.live_blocks;
  }
  return found;
}

Tensor leaf(const Shape& shape) { return randn(shape).requires_grad_(); }

void wait(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

double all_seconds(const Profile& profile) {
  double total = 0;
  for (const ProfileEntry& entry : profile.entries()) total += entry.seconds();
  return total;
}

}  // namespace

TEST_CASE("Profile counts calls forward and backward, and nothing after its destruction") {
  const Tensor x = leaf({8, 8}), w = leaf({8, 8});
  {
    const Profile profile;
    for (int i = 0; i < 3; ++i) (matmul(x, w) + x).relu().sum().backward();
    {
      const NoGrad guard;
      x.relu();
    }
    CHECK(find(profile, "matmul").calls == 3);
    CHECK(find(profile, "matmul").backward_calls == 3);
    CHECK(find(profile, "add").calls == 3);
    CHECK(find(profile, "relu").calls == 4);
    CHECK(find(profile, "relu").backward_calls == 3);
    CHECK(find(profile, "accumulate").calls == 3);
    CHECK(find(profile, "accumulate").range_seconds > 0);
    CHECK(find(profile, "relu").is_op);
    CHECK_FALSE(find(profile, "accumulate").is_op);
    CHECK(find(profile, "softmax").calls == 0);
  }
  const Profile later;
  CHECK(find(later, "matmul").calls == 0);
}

TEST_CASE("Profile: what did not happen since clear() is no entry") {
  Profile profile;
  { const Tensor y = leaf({2, 3}).exp(); }
  CHECK(find(profile, "exp").name == "exp");
  profile.clear();
  { const Tensor y = leaf({2, 3}).relu(); }
  CHECK(find(profile, "relu").name == "relu");
  CHECK(find(profile, "exp").name.empty());
}

TEST_CASE("Profile: ops without a gradient are seen too") {
  const Tensor x = leaf({4, 4});
  const Profile profile;
  const Tensor mask = (!((x > 0.0) & (x <= x))) | (x == 0.0);
  multinomial(softmax(x.detach(), -1), 1);
  x.argmax(-1);
  x.to(i64);
  for (const char* op :
       {"gt", "operator&", "le", "operator!", "operator|", "eq", "multinomial", "argmax", "to"})
    CHECK(find(profile, op).calls == 1);
  CHECK(mask.dtype() == boolean);
}

TEST_CASE("Profile: laps have no gaps, and each has one owner") {
  const Tensor x = randn({32, 32});
  const Profile profile;
  wait(5);
  {
    const ProfileRange range("batch");
    wait(5);
    const ProfileRange inner("decode");
    wait(5);
  }
  matmul(x, x);
  wait(5);
  const double before = profile.seconds(), sum = all_seconds(profile), after = profile.seconds();
  CHECK(sum >= before - 1e-9);
  CHECK(sum <= after + 1e-9);
  CHECK(find(profile, "batch").range_seconds >= 0.005);
  CHECK(find(profile, "decode").range_seconds >= 0.005);
  CHECK(find(profile, "(outside ops)").range_seconds >= 0.010);  // before the range, after the last op
  CHECK(find(profile, "batch").calls == 1);
}

TEST_CASE("Profile: time before a model is not attributed to its first op") {
  const nn::Linear fc(4, 4);
  const nn::Linear named = nn::Module("Model").add("fc", fc);
  const Tensor x = randn({2, 4});
  const Profile profile;
  wait(20);
  named(x);
  CHECK(find(profile, "(outside ops)").range_seconds >= 0.020);
  CHECK(find(profile, "linear").module == "fc");
}

TEST_CASE("Profile: an op made of recorded ops gets only the remaining time") {
  const auto slow = [](const Tensor& x) {
    const Tensor y = x.detach() * 2.0;
    wait(5);
    return record("slow", y.array().clone(), {&x}, [](const Array& dy, Needs) -> Grads {
      wait(5);
      return {dy};
    });
  };
  const Tensor x = leaf({4});
  const Profile profile;
  slow(x).sum().backward();
  CHECK(find(profile, "mul").calls == 1);
  CHECK(find(profile, "slow").forward_seconds >= 0.005);
  CHECK(find(profile, "slow").backward_seconds >= 0.005);
  const double sum = all_seconds(profile), watched = profile.seconds();
  CHECK(sum <= watched + 1e-9);  // nothing counts twice
}

TEST_CASE("Profile: floating-point operations of known ops") {
  const auto flops = [](const char* op, auto run) {
    const Profile profile;
    run();
    return find(profile, op).flops;
  };
  const Tensor a = randn({3, 5, 7}), b = randn({3, 7, 11}), w = leaf({11, 7}), bias = leaf({11});
  CHECK(flops("matmul", [&] { matmul(a, b); }) == 2.0 * 3 * 5 * 7 * 11);
  CHECK(flops("linear", [&] { linear(a, w, bias); }) == 2.0 * 15 * 7 * 11);
  CHECK(flops("linear", [&] { linear(a, w, bias).sum().backward(); }) == 2 * 2.0 * 15 * 7 * 11);  // no dx
  CHECK(flops("relu", [&] { a.relu(); }) == 0);

  const Tensor q = leaf({2, 3, 5, 4}), k = leaf({2, 3, 7, 4}), v = leaf({2, 3, 7, 6});
  const char* const attention = "scaled_dot_product_attention";
  const double forward = 2.0 * 6 * 5 * 7 * (4 + 6), backward = 2.0 * 6 * 5 * 7 * (3 * 4 + 2 * 6);
  CHECK(flops(attention, [&] { scaled_dot_product_attention(q, k, v); }) == forward);
  CHECK(flops(attention, [&] { scaled_dot_product_attention(q, k, v).sum().backward(); }) ==
        forward + backward);
  // Causal, 5 queries, 7 keys: the first query sees 3 keys, the last all 7.
  CHECK(flops(attention, [&] { scaled_dot_product_attention(q, k, v, {.causal = true}); }) ==
        2.0 * 6 * (3 + 4 + 5 + 6 + 7) * (4 + 6));
  CHECK(flops(attention, [&] { scaled_dot_product_attention(q, k, v, {.causal = true, .window = 4}); }) ==
        2.0 * 6 * (3 + 4 + 4 + 4 + 4) * (4 + 6));
}

TEST_CASE("Profile: attention of a padded batch multiplies only its texts") {
  const nn::TransformerEncoder model({.layers = 1, .block = {.d_model = 8, .heads = 2}});
  const Tensor padding = tensor({{false, false, false, false}, {false, false, true, true}});
  const Profile profile;
  model(randn({2, 4, 8}), {.key_padding_mask = padding});
  double flops = 0;
  for (const ProfileEntry& entry : profile.entries())
    if (entry.name.find("attention") != std::string::npos) flops += entry.flops;
  CHECK(flops == 2.0 * 2 * (4 * 4 + 2 * 2) * (4 + 4));
}

TEST_CASE("Profile: bytes are those of inputs and output; views move none") {
  const auto bytes = [](const char* op, auto run) {
    const Profile profile;
    run();
    return find(profile, op).bytes;
  };
  const Tensor x = leaf({10, 20}), row = leaf({20});
  CHECK(bytes("add", [&] { x + row; }) == 4 * (200 + 20 + 200));
  CHECK(bytes("add", [&] { x + row.expand({10, 20}); }) == 4 * (200 + 20 + 200));
  CHECK(bytes("relu", [&] { x.relu().backward(ones({10, 20})); }) == 4 * (200 + 200) * 2);
  CHECK(bytes("transpose", [&] { x.transpose(0, 1).backward(ones({20, 10})); }) == 0);
  CHECK(bytes("reshape", [&] { x.reshape({200}); }) == 0);
  CHECK(bytes("embedding", [&] { embedding(tensor({1, 3}), x); }) == 4 * 2 * 20 * 2);  // two rows, not x
  CHECK(bytes("custom", [&] {
          count_bytes(100);
          count_bytes(23);
          count_flops(1e9);
          record("custom", x.array().clone(), {&x}, [](const Array& dy, Needs) -> Grads { return {dy}; });
        }) == 123);
}

TEST_CASE("Profile: a training step of a GPT is accounted for") {
  const nn::GPT model(
      {.vocab = 50, .context = 32, .layers = 2, .block = {.d_model = 32, .heads = 2, .dropout = 0.1}});
  optim::AdamW opt(model.parameters(), {.lr = 1e-3});
  const Tensor ids = randint(0, 50, {4, 32}), targets = randint(0, 50, {4, 32});
  const auto step = [&] {
    opt.zero_grad();
    model.loss(ids, targets).backward();
    optim::clip_grad_norm(model.parameters(), 1.0);
    opt.step();
  };
  step();
  Profile profile;
  step();
  profile.clear();
  for (int i = 0; i < 5; ++i) step();

  CHECK(find(profile, "linear").calls == 5 * 2 * 4);
  CHECK(find(profile, "linear").backward_calls == 5 * 2 * 4);
  CHECK(find(profile, "AdamW step").calls == 5);
  CHECK(find(profile, "zero_grad").calls == 5);
  CHECK(find(profile, "clip_grad_norm").calls == 5);
  // Read for the norm, which is not above the limit.
  CHECK(find(profile, "clip_grad_norm").bytes == 5 * 4.0 * static_cast<double>(model.num_parameters()));
  CHECK(find(profile, "AdamW step").bytes == 5 * 7.0 * 4 * static_cast<double>(model.num_parameters()));

  const auto calls_in = [&](const std::string& module) {
    std::int64_t calls = 0;
    for (const ProfileEntry& entry : profile.entries())
      if (entry.module == module) calls += entry.calls;
    return calls;
  };
  CHECK(calls_in("layers.1.linear1") == 10);    // the product and its activation
  CHECK(calls_in("layers.1.self_attn") == 10);  // the projection and attention
  CHECK(calls_in("token_embedding") == 5);

  for (const ProfileTableOptions& options :
       {ProfileTableOptions{}, {.by = ProfileBy::module}, {.by = ProfileBy::module, .merge_layers = true}})
    for (const std::string& text : {profile.table(options), profile.memory_table(options)})
      for (const std::string& line : lines_of(text)) CHECK(line.size() <= 110);
  const std::string merged = profile.table({.by = ProfileBy::module, .merge_layers = true});
  CHECK(merged.find("layers.*.self_attn.out_proj ") != std::string::npos);
  CHECK(merged.find("layers.0") == std::string::npos);
  CHECK(profile.table({.by = ProfileBy::module, .depth = 1}).find("layers ") != std::string::npos);
  const std::vector<std::string> few = lines_of(profile.table({.rows = 3}));
  CHECK(few.size() == 6);  // a header, three, the others, the total
  CHECK(few[4].find("others)") != std::string::npos);
  CHECK(few[5].starts_with("total "));
  CHECK(few[5].find("100.0%") != std::string::npos);
  CHECK(lines_of(profile.table())[0].starts_with("op "));
  CHECK(lines_of(profile.table({.by = ProfileBy::module}))[0].starts_with("module "));
}

TEST_CASE("Profile: tables put the largest first and shorten long names") {
  const Profile profile;
  {
    const ProfileRange range("a range with a name that is much longer than a column is wide");
    wait(10);
  }
  { const ProfileRange range("short"); }
  const std::vector<std::string> lines = lines_of(profile.table());
  CHECK(lines[1].starts_with("a range wi..."));
  CHECK(lines[1].substr(0, 37).ends_with("column is wide"));
  CHECK(lines[1].size() == lines[0].size());
  REQUIRE(lines.size() == 5);  // with "(outside ops)" and the total
  CHECK(profile.table({.rows = 2}).find("others") == std::string::npos);  // it would be no shorter
  CHECK(lines_of(profile.table({.rows = 1})).at(2).starts_with("(2 others)"));
  check_error([&] { profile.table({.depth = -1}); },
              "Profile: expects a depth and rows of 0 or more, got -1 and 0");
  check_error([&] { profile.memory_table({.rows = -2}); },
              "Profile: expects a depth and rows of 0 or more, got 0 and -2");
  check_error([] { const Profile refused({.trace_events = -1}); },
              "Profile: expects trace_events of 0 or more, got -1");
}

/// The fields of the line that begins with a name, which are at least two spaces apart.
std::vector<std::string> fields_of(const std::string& table, const std::string& name) {
  std::vector<std::string> fields;
  for (const std::string& line : lines_of(table))
    if (line.starts_with(name + "  "))
      for (std::size_t at = 0; at < line.size();) {
        const std::size_t end = std::min(line.find("  ", at), line.size());
        fields.push_back(line.substr(at, end - at));
        at = std::min(line.find_first_not_of(' ', end), line.size());
      }
  return fields;
}

TEST_CASE("Profile: tables show the entries' values, each in its column") {
  const Tensor x = leaf({256, 256}), w = leaf({256, 256});
  const Profile profile;
  const Tensor y = matmul(x, w);
  y.sum().backward();
  const ProfileEntry product = find(profile, "matmul");
  const auto seconds = [](double amount) { return human_seconds(amount); };
  const auto bytes = [](std::int64_t amount) { return human_bytes(static_cast<double>(amount)); };

  const std::vector<std::string> times = fields_of(profile.table(), "matmul");
  REQUIRE(times.size() == 8);
  CHECK(times[1] == "1");
  CHECK(times[2] == seconds(product.forward_seconds));
  CHECK(times[3] == seconds(product.backward_seconds));
  CHECK(times[4] == seconds(product.seconds()));
  CHECK(times[6] == human_rate(product.flops / product.seconds()));
  CHECK(times[7] == human_rate(product.bytes / product.seconds()));
  double forward = 0, backward = 0;
  for (const ProfileEntry& entry : profile.entries())
    forward += entry.forward_seconds, backward += entry.backward_seconds;
  const std::vector<std::string> all = fields_of(profile.table(), "total");
  REQUIRE(all.size() == 8);
  CHECK(all[2] == seconds(forward));
  CHECK(all[3] == seconds(backward));

  const std::vector<std::string> memory = fields_of(profile.memory_table(), "matmul");
  REQUIRE(memory.size() == 6);
  CHECK(memory[1] == bytes(product.bytes_at_peak));
  CHECK(memory[3] == bytes(product.backward_bytes_at_peak));
  CHECK(memory[4] == bytes(product.live_bytes));
  CHECK(memory[5] == std::to_string(product.live_blocks));
}

TEST_CASE("Profile: of two nested ones the inner one records; a range may outlive its profile") {
  const Tensor x = randn({4});
  const Profile outer;
  x.relu();
  {
    const Profile inner;
    x.relu();
    x.relu();
    CHECK(find(inner, "relu").calls == 2);
  }
  x.relu();
  CHECK(find(outer, "relu").calls == 2);

  std::optional<Profile> brief(std::in_place);
  std::optional<ProfileRange> range(std::in_place, "late");
  brief.reset();
  range.reset();
  CHECK(find(outer, "late").calls == 0);
}

TEST_CASE("Profile: threads do not see each other") {
  const auto watch = [](int n, std::int64_t* calls) {
    const Tensor x = leaf({64, 64});
    const Profile profile;
    for (int i = 0; i < n; ++i) matmul(x, x).sum().backward();
    *calls = find(profile, "matmul").calls + 1000 * find(profile, "matmul").backward_calls;
  };
  std::int64_t first = 0, second = 0;
  std::thread a(watch, 20, &first), b(watch, 30, &second);
  const Tensor x = randn({64, 64});
  const Profile here;
  for (int i = 0; i < 10; ++i) matmul(x, x);
  a.join();
  b.join();
  CHECK(first == 20020);
  CHECK(second == 30030);
  CHECK(find(here, "matmul").calls == 10);
}

TEST_CASE("Profile: memory belongs to the op that made it, at the peak and now") {
  const Tensor x = leaf({256, 1024});  // 1 MiB
  constexpr std::int64_t kMiB = 1 << 20;
  const Profile profile;
  const std::int64_t before = memory_stats().live_bytes;
  std::vector<Tensor> kept;
  for (int i = 0; i < 3; ++i) kept.push_back(x + 1.0);
  CHECK(find(profile, "add").live_bytes == 3 * kMiB);
  CHECK(find(profile, "add").live_blocks == 3);
  {
    const Tensor y = x.exp(), z = y.exp();
    CHECK(find(profile, "exp").live_blocks == 2);
  }
  CHECK(find(profile, "exp").live_blocks == 0);
  CHECK(find(profile, "exp").live_bytes == 0);
  CHECK(find(profile, "exp").bytes_at_peak == 2 * kMiB);
  CHECK(find(profile, "add").bytes_at_peak == 3 * kMiB);
  CHECK(find(profile, "(not watched)").bytes_at_peak == before);

  kept.pop_back();
  std::thread([&] { kept.clear(); }).join();  // given back by another thread
  CHECK(find(profile, "add").live_blocks == 0);
  CHECK(find(profile, "add").bytes_at_peak == 3 * kMiB);

  std::int64_t at_peak = 0, alive = 0;
  for (const ProfileEntry& entry : profile.entries()) {
    at_peak += entry.bytes_at_peak;
    alive += entry.live_bytes;
  }
  CHECK(at_peak == before + 5 * kMiB);
  CHECK(alive == memory_stats().live_bytes);
  CHECK(profile.memory_table().find("add ") != std::string::npos);
}

TEST_CASE("Profile: temporary memory of an op is attributed to it at the peak") {
  const Tensor x = leaf({256, 1024});
  const auto wasteful = [](const Tensor& input) {
    Array y = input.array().clone();
    { const Array scratch = Array::empty({4, 256, 1024}, f32); }
    return record("wasteful", y, {&input}, [](const Array& dy, Needs) -> Grads { return {dy.clone()}; });
  };
  Profile profile;
  const Tensor y = wasteful(x);
  CHECK(find(profile, "wasteful").bytes_at_peak == 5 << 20);
  CHECK(find(profile, "wasteful").live_bytes == 1 << 20);
  profile.clear();
  y.backward(ones({256, 1024}));
  const ProfileEntry entry = find(profile, "wasteful");
  CHECK(entry.bytes_at_peak == 2 << 20);  // y, and dx
  CHECK(entry.backward_bytes_at_peak == 1 << 20);
}

TEST_CASE("Profile: memory made under it may outlive it") {
  Tensor y;
  {
    const Profile profile;
    y = randn({100}) * 2.0;
  }
  const Profile other;
  const std::int64_t before = memory_stats().live_bytes;
  y = Tensor();
  CHECK(memory_stats().live_bytes < before);
  CHECK(find(other, "mul").live_blocks == 0);
}
