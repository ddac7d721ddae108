// What Pipeline says of mistakes, and the order of names of several ranks.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "check_op.h"
#include "distributed/pipeline_models.h"
#include "gradus/distributed/detail/names.h"
#include "gradus/distributed/distributed.h"
#include "gradus/gradus.h"

namespace gradus::test {

using distributed::Communicator;
using distributed::Pipeline;
using distributed::run_threads;

TEST_CASE("pipeline: names of several ranks are in the order of one process") {
  const auto names = [](std::vector<std::vector<std::string>> of_rank) {
    std::string all;
    run_threads(static_cast<int>(of_rank.size()), [&](const Communicator& world) {
      std::string own;
      for (const auto& [name, ranks] :
           distributed::detail::names_of_ranks(world, of_rank[static_cast<std::size_t>(world.rank())])) {
        own += name + ":";
        for (const int rank : ranks) own += std::to_string(rank);
        own += " ";
      }
      world.expect_same("names", own);
      if (world.rank() == 0) all = own;
    });
    return all;
  };
  CHECK(names({{"a", "b"}, {"c"}, {}, {"d", "e"}}) == "a:0 b:0 c:1 d:3 e:3 ");
  // Blocks of parts that all ranks have, one after the other: the order of one process.
  CHECK(names({{"a.0", "a.1", "b", "c.0", "d"}, {"a.2", "a.3", "b", "c.1", "d", "e"}}) ==
        "a.0:0 a.1:0 a.2:1 a.3:1 b:01 c.0:0 c.1:1 d:01 e:1 ");
  CHECK(names({{"e.w.0", "h.w.0"}, {"e.w.1", "h.w.1"}, {"e.w.2", "h.w.2"}, {"e.w.3", "h.w.3"}}) ==
        "e.w.0:0 e.w.1:1 e.w.2:2 e.w.3:3 h.w.0:0 h.w.1:1 h.w.2:2 h.w.3:3 ");
  // Layers of a list that other ranks go on with.
  CHECK(names({{"x.0.w", "x.0.b", "y.w"}, {"z.w", "x.1.w"}}) == "x.0.w:0 x.0.b:0 x.1.w:1 y.w:0 z.w:1 ");
  CHECK(names({{"x.0.w", "x.0.b", "y.w", "z.w", "x.1.w"}}) == "x.0.w:0 x.0.b:0 x.1.w:0 y.w:0 z.w:0 ");
}

TEST_CASE("pipeline: messages") {
  const auto made = [](int ranks, const PipelineModel& model,
                       const distributed::PipelineOptions& options = {.micro_batches = 2}) {
    return pipeline_failure(ranks, [&](const Communicator& world) { Pipeline(world, model, options); });
  };
  const PipelineModel three = linears({{2, 3}, {3, 3}, {3, 1}});
  CHECK(made(4, three) ==
        "Pipeline: 3 layers are too few for 4 ranks, each of which needs one: start fewer ranks");
  CHECK(made(2, three, {.micro_batches = 0}) == "Pipeline: expects micro_batches of 1 or more, got 0");
  CHECK(made(2, three, {.layers = {3}}) == "Pipeline: .layers has 1 numbers for 2 ranks: give one for each");
  CHECK(made(2, three, {.layers = {3, 0}}) ==
        "Pipeline: .layers expects 1 layer or more for each rank, got 0");
  CHECK(made(2, three, {.layers = {1, 1}}) == "Pipeline: .layers has a sum of 2, the model 3 layers");
  PipelineModel model = linears({{2, 2}, {2, 2}});
  model.layers[1].name = "layers.0";
  CHECK(made(2, model) ==
        "Pipeline: rank 0 and rank 1 both have a tensor called layers.0.weight: give the layers different "
        "names");
  model = linears({{2, 3}, {3, 3}});
  model.tied = {{"head.weight", "layers.0.weight"}};
  CHECK(made(2, model) == "Pipeline: .tied names head.weight, which is no tensor of the model");
  model.tied = {{"layers.1.weight", "layers.0.weight"}};
  CHECK(made(2, model) ==
        "Pipeline: layers.1.weight [3, 3] f32 cannot be tied to layers.0.weight [3, 2] f32");
  model = linears({{2, 2}, {2, 2}});
  model.layers[1].make = [] { return distributed::VocabParallelEmbedding(Communicator(), 8, 2); };
  CHECK(made(2, model) ==
        "Pipeline: layers.1 is a VocabParallelEmbedding, whose calls all ranks make, but only rank 1 has "
        "this stage: "
        "use an undivided one");
  CHECK(pipeline_failure(2, [&](const Communicator& world) {
          Pipeline(world, three, {.micro_batches = 1 + world.rank(), .seed = 1});
        }).starts_with("The pipeline's layers and options must be the same on all ranks."));

  const auto step = [](int ranks, const PipelineModel& layers, const Tensor& x, const Tensor& y) {
    return pipeline_failure(ranks, [&](const Communicator& world) {
      Pipeline pipeline(world, layers, {.micro_batches = 2});
      pipeline.backward(x, y);
    });
  };
  CHECK(step(2, three, zeros({4, 2}), zeros({4, 1})) == "no failure");
  CHECK(step(2, three, zeros({5, 2}), zeros({5, 1})) ==
        "Pipeline::backward: a batch of 5 rows cannot be cut into 2 equal micro-batches: choose a batch_size "
        "that "
        ".micro_batches divides, and leave out a smaller last batch with drop_last");
  CHECK(step(2, three, zeros({4, 2}), zeros({2, 1})) ==
        "Pipeline::backward: inputs [4, 2] and targets [2, 1] have different numbers of rows");
  CHECK(step(2, three, Tensor(), zeros({2, 1})) ==
        "Pipeline::backward: expects inputs [rows, ...], got an undefined tensor");
  CHECK(step(3, linears({{2, 3}, {4, 3}, {3, 1}}), zeros({4, 2}), zeros({4, 1})) ==
        "Linear: expects x [..., 4], got [2, 3] (in layers.1)");
  model = linears({{2, 2}, {2, 2}});
  model.loss = [](const Tensor& y, const Tensor&) { return y; };
  CHECK(step(2, model, zeros({4, 2}), zeros({4, 2})) ==
        "Pipeline::backward: expects a loss of one element, got [2, 2]");
  model.layers[0].make = [] { return nn::Sequential([](const Tensor& x) { return x.to(i64); }); };
  CHECK(step(2, model, zeros({4, 2}), zeros({4, 2})) ==
        "Pipeline::backward: the last layer of rank 0 returns i64 [2, 2]: stages pass on f32 or f64, which "
        "have gradients");
  const std::string rows = pipeline_failure(2, [&](const Communicator& world) {
    Pipeline pipeline(world, three, {.micro_batches = 2});
    const Tensor x = zeros({world.rank() == 0 ? 4 : 8, 2});
    pipeline.backward(x, zeros({x.size(0), 1}));
  });
  CHECK(rows.find("Different from rank 0: rank 1.") != std::string::npos);
  CHECK(rows.find("inputs [8, 2] f32") != std::string::npos);
  CHECK(pipeline_failure(2, [&](const Communicator& world) {
          Pipeline pipeline(world, three, {.micro_batches = 2});
          StateDict state = distributed::gather(world, pipeline.state_dict());
          state.set("other", zeros({1}));
          pipeline.load_state_dict(state);
        }) == "Pipeline: the state has a tensor other, which no stage has");
  CHECK(pipeline_failure(2, [&](const Communicator& world) {
          Pipeline pipeline(world, three, {.micro_batches = 2});
          pipeline.load_state_dict({{"layers.0.weight", zeros({3, 2})}});
        }).starts_with("Pipeline: the state has no tensor layers."));
  nn::GPTOptions options = small_gpt(true);
  options.positions = nn::Positions::relative;
  check_error([&] { distributed::gpt_layers(options); },
              "gpt_layers: Positions::relative is one table for all blocks, which are on several ranks: use "
              "rotary or "
              "alibi");
  options = small_gpt(true);
  options.placement = nn::deep_norm();
  check_error(
      [&] { distributed::gpt_layers(options); },
      "gpt_layers: the placement DeepNorm sets initial values that depend on the whole stack: use another");
}

}  // namespace gradus::test
