// Pipeline between ranks as threads: against one process without it, its schedule, what it saves, and errors.
// cases.cpp has a training.

#include "gradus/distributed/model_parallel/pipeline.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "check_op.h"
#include "distributed/pipeline_models.h"
#include "gradus/distributed/distributed.h"
#include "gradus/gradus.h"
#include "support.h"
#include "values.h"

namespace gradus::test {

using distributed::Communicator;
using distributed::Pipeline;
using distributed::PipelineModel;
using distributed::run_threads;

namespace {

/// What rank 0 makes of a run on `ranks` ranks.
template <class T>
T of_ranks(int ranks, const std::function<T(const Communicator&)>& compute) {
  T result{};
  run_threads(ranks, [&](const Communicator& world) {
    T own = compute(world);
    if (world.rank() == 0) result = std::move(own);
  });
  return result;
}

/// Texts of 8 rows, whose last targets are padding in some.
std::pair<Tensor, Tensor> texts(Generator& data) {
  const Tensor text = randint(0, 23, {8, 7}, data), y = text.slice(1, 1).contiguous();
  y.slice(0, 0, 3).slice(1, 4, 6).fill_(-100);
  return {text.slice(1, 0, 6), y};
}

/// Losses, norms and then all weights of 4 steps.
Values trained_stages(int ranks, const nn::GPTOptions& options, const StateDict& initial) {
  return of_ranks<Values>(ranks, [&](const Communicator& world) {
    Pipeline pipeline(world, distributed::gpt_layers(options), {.micro_batches = 4, .seed = 1});
    pipeline.load_state_dict(initial);
    optim::AdamW opt(pipeline.stage().parameters(), {.lr = 1e-2});
    Generator data(2);
    Values all;
    for (int step = 0; step < 4; ++step) {
      const auto [x, y] = texts(data);
      opt.zero_grad();
      all.push_back(pipeline.backward(x, y));
      all.push_back(pipeline.clip_grad_norm(0.3));
      opt.step();
    }
    for (const auto& [name, tensor] : distributed::gather(world, pipeline.state_dict()))
      for (const double value : values(tensor)) all.push_back(value);
    return all;
  });
}

/// The same with nn::GPT, without a Pipeline.
Values trained_whole(const nn::GPT& gpt) {
  optim::AdamW opt(gpt.parameters(), {.lr = 1e-2});
  Generator data(2);
  Values all;
  for (int step = 0; step < 4; ++step) {
    const auto [x, y] = texts(data);
    opt.zero_grad();
    double sum = 0, count = 0;
    for (int k = 0; k < 4; ++k) {
      const Tensor targets = y.slice(0, 2 * k, 2 * k + 2);
      const double tokens = (targets != -100).to(i64).sum().item();
      const Tensor loss = gpt.loss(x.slice(0, 2 * k, 2 * k + 2), targets);
      loss.backward(full({}, tokens, f32));
      sum += loss.item() * tokens;
      count += tokens;
    }
    {
      const NoGrad no_grad;
      for (const Tensor& parameter : gpt.parameters()) parameter.grad() *= 1 / count;
    }
    all.push_back(sum / count);
    all.push_back(optim::clip_grad_norm(gpt.parameters(), 0.3));
    opt.step();
  }
  for (const auto& [name, tensor] : gpt.state_dict())
    for (const double value : values(tensor)) all.push_back(value);
  return all;
}

/// y = x w, which counts how many of its outputs wait for their gradients.
struct Counting : nn::Module {
  explicit Counting(std::shared_ptr<std::atomic<int>> now, std::shared_ptr<std::atomic<int>> most)
      : now_(std::move(now)), most_(std::move(most)) {}
  Tensor operator()(const Tensor& x) const {
    Tensor y = x * w;
    *most_ = std::max(most_->load(), ++*now_);
    y.on_grad([now = now_](const Tensor&) { --*now; });
    return y;
  }
  nn::Parameter w = parameter("w", ones({2}));

 private:
  std::shared_ptr<std::atomic<int>> now_, most_;
};

enum class Cut { detaches, ignores, no_grad, some_rows };

/// y = x w, through which no gradient flows, or only one of the first micro-batch.
struct Cutting : nn::Module {
  explicit Cutting(Cut cut) : cut_(cut) {}
  Tensor operator()(const Tensor& x) const {
    if (cut_ == Cut::detaches) return x.detach() * w;
    if (cut_ == Cut::ignores) return w * ones(x.shape());
    if (cut_ == Cut::some_rows) return ++calls_ % 2 == 1 ? x * w : x.detach() * w;
    const NoGrad no_grad;
    return x * w;
  }
  nn::Parameter w = parameter("w", tensor({2.0, 3.0}).to(f32));

 private:
  Cut cut_;
  mutable int calls_ = 0;
};

}  // namespace

TEST_CASE("pipeline: losses, norms and weights of a GPT without it, bit for bit, on any number of ranks") {
  manual_seed(0);
  const nn::GPT gpt(small_gpt(false));
  const StateDict initial = gpt.state_dict().clone();
  const Values whole = trained_whole(gpt);
  for (const int ranks : {1, 2, 3, 4}) CHECK(trained_stages(ranks, small_gpt(false), initial) == whole);
}

TEST_CASE("pipeline: with a tied head, the same on any number of ranks, and a GPT's to rounding") {
  manual_seed(0);
  const nn::GPT gpt(small_gpt(true));
  const StateDict initial = gpt.state_dict().clone();
  const Values whole = trained_whole(gpt), one = trained_stages(1, small_gpt(true), initial);
  REQUIRE(one.size() == whole.size());
  CHECK(allclose(from_vector(one), from_vector(whole), 1e-3, 1e-4));
  for (const int ranks : {2, 3, 4}) CHECK(trained_stages(ranks, small_gpt(true), initial) == one);
}

TEST_CASE("pipeline: rank r of n has the activations of at most n - r micro-batches") {
  for (const int ranks : {1, 2, 4})
    for (const int micro_batches : {2, 8})
      run_threads(ranks, [&](const Communicator& world) {
        const auto now = std::make_shared<std::atomic<int>>(0), most = std::make_shared<std::atomic<int>>(0);
        PipelineModel model{.layers = {}, .loss = squares};
        for (int i = 0; i < 4; ++i)
          model.layers.push_back({std::to_string(i), [=] { return Counting(now, most); }});
        Pipeline pipeline(world, model, {.micro_batches = micro_batches});
        pipeline.backward(ones({8, 2}), zeros({8, 2}));
        CHECK(*now == 0);
        const int own = 4 / world.size();  // layers
        CHECK(*most == own * std::min(world.size() - world.rank(), micro_batches));
      });
}

TEST_CASE("pipeline: initial values and dropout do not depend on the ranks") {
  const auto run = [](int ranks) {
    return of_ranks<Values>(ranks, [](const Communicator& world) {
      manual_seed(3);
      nn::GPTOptions options = small_gpt(true);
      options.block.dropout = 0.2;
      options.checkpoint = true;
      Pipeline pipeline(world, distributed::gpt_layers(options), {.micro_batches = 2});
      Generator data(4);
      const auto [x, y] = texts(data);
      const double first = pipeline.backward(x, y), second = pipeline.backward(x, y);
      CHECK(first != second);  // another mask
      pipeline.stage().eval();
      const double evaluated = pipeline.loss(x, y);
      CHECK(pipeline.loss(x, y) == evaluated);
      CHECK(pipeline.steps() == 2);
      return Values{first, second, evaluated, pipeline.clip_grad_norm(1), randn({1}).item()};
    });
  };
  const Values one = run(1);
  for (const int ranks : {2, 4}) CHECK(run(ranks) == one);
}

TEST_CASE("pipeline: calls of backward add their gradients, and so do shards of no terms") {
  for (const int ranks : {1, 2})
    run_threads(ranks, [](const Communicator& world) {
      PipelineModel model = linears({{2, 3}, {3, 1}});
      model.loss = [](const Tensor& y, const Tensor& targets) {
        const double count = (targets != 0).to(i64).sum().item();
        return distributed::Sum{(y * targets).sum(), count};
      };
      Pipeline pipeline(
          world, model,
          {.micro_batches = 2, .layers = world.size() == 1 ? std::vector{2} : std::vector{1, 1}, .seed = 1});
      const Tensor x = arange(8.0).reshape({4, 2}), y = tensor({{0.0}, {0.0}, {3.0}, {2.0}});
      const double loss = pipeline.backward(x, y);
      CHECK(loss == pipeline.loss(x, y));
      std::vector<Values> once;
      for (const Tensor& w : pipeline.stage().parameters()) once.push_back(values(w.grad()));
      pipeline.backward(x, y);
      for (std::size_t i = 0; i < once.size(); ++i)
        CHECK(allclose(pipeline.stage().parameters()[i].grad(),
                       from_vector(once[i], pipeline.stage().parameters()[i].shape()).to(f32) * 2));
      CHECK(pipeline.backward(x, zeros({4, 1})) == 0);
    });
}

TEST_CASE("pipeline: a batch of no terms gives no weight a gradient, on any number of ranks") {
  for (const bool tied : {false, true})
    for (const int ranks : {1, 2, 3, 4})
      run_threads(ranks, [&](const Communicator& world) {
        Pipeline pipeline(world, distributed::gpt_layers(small_gpt(tied)), {.micro_batches = 4, .seed = 1});
        Generator data(2);
        const auto [x, y] = texts(data);
        CHECK(pipeline.backward(x, full({8, 6}, -100, i64)) == 0);
        for (const Tensor& w : pipeline.stage().parameters()) CHECK(!w.grad().defined());
        pipeline.backward(x, y);
        std::vector<Values> gradients;
        for (const Tensor& w : pipeline.stage().parameters()) gradients.push_back(values(w.grad()));
        pipeline.backward(x, full({8, 6}, -100, i64));  // leaves those of the call before
        for (std::size_t i = 0; i < gradients.size(); ++i)
          CHECK(values(pipeline.stage().parameters()[i].grad()) == gradients[i]);
      });
}

TEST_CASE("pipeline: infinite activations of a micro-batch without terms do not reach the gradients") {
  const auto run = [](int ranks) {
    return of_ranks<Values>(ranks, [](const Communicator& world) {
      PipelineModel model = linears({{2, 3}, {3, 3}, {3, 1}});
      model.loss = [](const Tensor& y, const Tensor& targets) {
        const double count = (targets != 0).to(i64).sum().item();
        return distributed::Sum{(y * targets).sum(), count};
      };
      Pipeline pipeline(world, model, {.micro_batches = 2, .seed = 1});
      const Tensor x = tensor({{kInf, 1.0}, {2.0, kInf}, {1.0, 2.0}, {3.0, 4.0}}).to(f32);
      const Tensor y = tensor({{0.0}, {0.0}, {3.0}, {2.0}}).to(f32);
      Values all{pipeline.backward(x, y), pipeline.clip_grad_norm(1)};
      StateDict gradients;
      for (const auto& [name, w] : pipeline.stage().named_parameters()) gradients.set(name, w.grad());
      for (const auto& [name, gradient] : distributed::gather(world, gradients))
        for (const double value : values(gradient)) all.push_back(value);
      return all;
    });
  };
  const Values one = run(1);
  for (const double value : one) CHECK(std::isfinite(value));
  for (const int ranks : {2, 3}) CHECK(run(ranks) == one);
}

TEST_CASE(
    "pipeline: layers that cut the tape leave the same weights without a gradient on any number of ranks") {
  // Losses, and all weights after 2 steps with weight decay; a 0 or 1 for each that has a gradient.
  const auto run = [](int ranks, Cut cut, bool tied) {
    return of_ranks<Values>(ranks, [&](const Communicator& world) {
      PipelineModel model = linears({{2, 2}, {2, 2}, {2, 2}});
      model.layers[1].make = [cut] { return Cutting(cut); };
      if (tied) model.tied = {{"layers.2.weight", "layers.0.weight"}};
      Pipeline pipeline(world, model, {.micro_batches = 2, .seed = 1});
      optim::AdamW opt(pipeline.stage().parameters(), {.lr = 0.1, .weight_decay = 0.1});
      Values all;
      for (int step = 0; step < 2; ++step) {
        opt.zero_grad();
        all.push_back(pipeline.backward(arange(8.0).to(f32).reshape({4, 2}), ones({4, 2})));
        const TensorList weights = pipeline.stage().parameters();
        if (std::any_of(weights.begin(), weights.end(), [](const Tensor& w) { return w.grad().defined(); }))
          opt.step();
      }
      StateDict state;
      for (const auto& [name, w] : pipeline.stage().named_parameters()) {
        state.set(name, w);
        state.set(name + ".has", tensor({w.grad().defined() ? 1.0 : 0.0}));
      }
      for (const auto& [name, tensor] : distributed::gather(world, state))
        for (const double value : values(tensor)) all.push_back(value);
      return all;
    });
  };
  for (const Cut cut : {Cut::detaches, Cut::ignores, Cut::no_grad, Cut::some_rows})
    for (const bool tied : {false, true}) {
      const Values one = run(1, cut, tied);
      if (cut != Cut::some_rows) CHECK(std::count(one.begin(), one.end(), 0.0) > 0);
      for (const int ranks : {2, 3}) CHECK(run(ranks, cut, tied) == one);
    }
}

TEST_CASE("pipeline: several copies of one weight have the sum of all gradients") {
  const auto run = [](int ranks) {
    return of_ranks<Values>(ranks, [](const Communicator& world) {
      PipelineModel model = linears({{2, 2}, {2, 2}, {2, 2}});
      model.tied = {{"layers.1.weight", "layers.0.weight"}, {"layers.2.weight", "layers.0.weight"}};
      Pipeline pipeline(world, model, {.micro_batches = 2, .seed = 1});
      pipeline.backward(arange(8.0).to(f32).reshape({4, 2}), ones({4, 2}));
      StateDict gradients;
      for (const auto& [name, w] : pipeline.stage().named_parameters()) gradients.set(name, w.grad());
      const StateDict all = distributed::gather(world, gradients);
      for (const std::string copy : {"layers.1.weight", "layers.2.weight"})
        CHECK(values(*all.find(copy)) == values(*all.find("layers.0.weight")));
      return values(*all.find("layers.0.weight"));
    });
  };
  const Values one = run(1);
  for (const int ranks : {2, 3}) CHECK(run(ranks) == one);
}

TEST_CASE("pipeline: another call, step, input or target on a rank is a common error") {
  const auto differs = [](int ranks, const std::function<void(Pipeline&, int rank)>& call) {
    std::atomic<int> common = 0;
    const std::string message = pipeline_failure(ranks, [&](const Communicator& world) {
      Pipeline pipeline(world, linears({{2, 3}, {3, 3}, {3, 1}}), {.micro_batches = 2, .seed = 1});
      try {
        call(pipeline, world.rank());
      } catch (const distributed::CommonError&) {
        ++common;
        throw;
      }
    });
    CHECK(common > 0);
    return message;
  };
  const std::string start =
      "A Pipeline's call, steps and batch (shape, dtype, checksum) must be the same on all ranks. Different "
      "from rank 0: rank ";
  for (const int ranks : {2, 3})
    for (int other = 1; other < ranks; ++other) {
      const std::string from = start + std::to_string(other) + ". ";
      const Tensor x = ones({4, 2}), y = ones({4, 1}), x2 = cat({x.slice(0, 0, 3), zeros({1, 2})}, 0);
      const auto call = differs(ranks, [&](Pipeline& pipeline, int rank) {
        rank == other ? pipeline.loss(x, y) : pipeline.backward(x, y);
      });
      CHECK(call.starts_with(from));
      CHECK(call.find("\"Pipeline::loss after 0 steps") != std::string::npos);
      CHECK(differs(ranks, [&](Pipeline& pipeline, int rank) {
              pipeline.backward(rank == other ? x2 : x, y);
            }).starts_with(from));
      CHECK(differs(ranks, [&](Pipeline& pipeline, int rank) {
              pipeline.loss(x, rank == other ? y * 2 : y);
            }).starts_with(from));
      CHECK(differs(ranks, [&](Pipeline& pipeline, int rank) {
              if (rank == other) pipeline.set_steps(7);
              pipeline.backward(x, y);
            }).starts_with(from));
    }
}

TEST_CASE("pipeline: checkpoints of 4 ranks go on with the same bits, and are those of a GPT") {
  const ScratchFolder scratch;
  const std::string folder = scratch / "checkpoints";
  const auto train = [&](const Communicator& world, int from, int to) {
    Pipeline pipeline(world, distributed::gpt_layers(small_gpt(true)), {.micro_batches = 2, .seed = 5});
    optim::SGD opt(pipeline.stage().parameters(), {.lr = 0.1, .momentum = 0.9});
    const std::string of_rank = "optimizer." + std::to_string(world.rank()) + ".";
    if (from > 0) {
      const StateDict state = distributed::load_checkpoint(world, folder).tensors;
      pipeline.load_state_dict(state.with_prefix_removed("model."));
      opt.load_state_dict(state.with_prefix_removed(of_rank));
      pipeline.set_steps(from);
    }
    for (int step = from; step < to; ++step) {
      Generator data(static_cast<std::uint64_t>(step));
      const auto [x, y] = texts(data);
      opt.zero_grad();
      pipeline.backward(x, y);
      opt.step();
    }
    StateDict state;
    state.add_all("model.", pipeline.state_dict());
    state.add_all(of_rank, opt.state_dict());
    if (from == 0) distributed::save_checkpoint(world, folder, distributed::pieces(world, state));
    Values all;
    for (const auto& [name, tensor] : distributed::gather(world, pipeline.state_dict()))
      for (const double value : values(tensor)) all.push_back(value);
    return all;
  };
  const auto on = [&](int ranks, int from, int to) {
    return of_ranks<Values>(ranks, [&](const Communicator& world) { return train(world, from, to); });
  };
  const Values saved = on(4, 0, 3);
  const nn::GPT gpt(small_gpt(true));
  gpt.load_state_dict(load_checkpoint(folder).tensors.with_prefix_removed("model."));
  Values of_gpt;
  for (const auto& [name, tensor] : gpt.state_dict())
    for (const double value : values(tensor)) of_gpt.push_back(value);
  CHECK(of_gpt == saved);
  const Values resumed = on(4, 3, 6);
  CHECK(resumed == on(4, 3, 6));
  std::filesystem::remove_all(folder);
  CHECK(on(4, 0, 6) == resumed);
}

}  // namespace gradus::test
