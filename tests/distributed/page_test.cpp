// What docs/many_machines.md quotes.

#include <doctest/doctest.h>

#include <string>

#include "gradus/distributed/distributed.h"
#include "gradus/gradus.h"
#include "support.h"

namespace gradus::test {

namespace {

double train_t5(const distributed::Communicator& world) {
  manual_seed(0);
  const nn::T5 t5(
      {.vocab = 20, .d_model = 16, .d_ff = 32, .heads = 2, .encoder_layers = 1, .decoder_layers = 1});
  distributed::DataParallel parallel(world, t5);
  const Tensor x = randint(2, 20, {8, 6}), lengths = arange(8).reshape({8, 1}) % 5, place = arange(6);
  const Tensor y = where(place < lengths, x, where(place == lengths, tensor(1), tensor(0)));
  const std::int64_t pad = 0;
  // [padding]
  const double loss = parallel.backward(x.size(0), [&](const distributed::Shard& shard) {
    const Tensor targets = shard(y);
    const double tokens = (targets != pad).to(i64).sum().item();
    return distributed::Mean{t5.loss(shard(x), targets), tokens};
  });
  // [/padding]
  return loss;
}

void train_gpt(const distributed::Communicator& world) {
  manual_seed(0);
  const nn::GPT gpt({.vocab = 20, .context = 8, .layers = 1, .block = {.d_model = 16, .heads = 2}});
  const Tensor text = randint(0, 20, {8, 9}), x = text.slice(1, 0, 8), y = text.slice(1, 1);
  const int steps = 2;
  // [sharded]
  distributed::DataParallel parallel(world, gpt, {.shard_gradients = true});
  distributed::Sharded<optim::AdamW> opt(parallel, gpt.parameters(), {.lr = 1e-3});
  for (int step = 0; step < steps; ++step) {
    opt.zero_grad();
    parallel.backward(x.size(0),
                      [&](const distributed::Shard& shard) { return gpt.loss(shard(x), shard(y)); });
    opt.clip_grad_norm(1.0);
    opt.step();
  }
  // [/sharded]
  CHECK(opt.steps() == steps);
}

/// Returns the number of steps done, of which the folder keeps the last ones.
std::int64_t train_on(const distributed::Communicator& world, const std::string& folder) {
  manual_seed(0);
  const nn::GPT gpt({.vocab = 20, .context = 8, .layers = 1, .block = {.d_model = 16, .heads = 2}});
  distributed::DataParallel parallel(world, gpt, {.shard_gradients = true});
  distributed::Sharded<optim::AdamW> opt(parallel, gpt.parameters(), {.lr = 1e-3});
  data::DataLoader loader(randint(0, 20, {24, 9}), {.batch_size = 10, .share = parallel.share()});
  // [resume]
  if (!list_checkpoints(folder).empty()) {
    const StateDict state = distributed::load_checkpoint(world, folder).tensors;
    gpt.load_state_dict(state.with_prefix_removed("model."));
    opt.load_state_dict(state.with_prefix_removed("optimizer."));
    loader.load_state_dict(state.with_prefix_removed("loader."));
    parallel.load_state_dict(state.with_prefix_removed("parallel."));
  }
  // [/resume]
  const Tensor text = loader.next()[0];
  parallel.backward(loader.batch_rows(), [&](const distributed::Shard& shard) {
    const Tensor rows = shard(text);
    return gpt.loss(rows.slice(1, 0, 8), rows.slice(1, 1));
  });
  opt.step();
  // [checkpoint]
  StateDict state;
  state.add_all("model.", gpt.state_dict());
  state.add_all("optimizer.", opt.pieces());  // of another optimizer: state_dict()
  state.add_all("loader.", loader.state_dict());
  state.add_all("parallel.", parallel.state_dict());
  distributed::save_checkpoint(world, folder, state);
  // [/checkpoint]
  return opt.steps();
}

void train_stages(const distributed::Communicator& world) {
  manual_seed(0);
  // [stages]
  const distributed::PipelineModel model{
      .layers = {{"in", [] { return nn::Sequential(nn::Linear(2, 32), tanh); }},
                 {"middle", [] { return nn::Sequential(nn::Linear(32, 32), tanh); }},
                 {"out", [] { return nn::Linear(32, 1); }}},
      .loss = [](const Tensor& y, const Tensor& targets) { return mse_loss(y, targets); }};
  distributed::Pipeline pipeline(world, model, {.micro_batches = 4});
  // [/stages]
  const Tensor x = randn({16, 2});
  CHECK(pipeline.backward(x, x.prod(-1, true)) > 0);
}

// [vocabulary]
struct WideNet : nn::Module {
  explicit WideNet(const distributed::Communicator& world)
      : tokens(add("tokens", distributed::VocabParallelEmbedding(world, 1000, 16))),
        body(add("body", nn::TransformerEncoder(
                             {.layers = 1, .block = {.d_model = 16, .heads = 2, .causal = true}}))),
        head(add("head", distributed::VocabParallelHead(tokens))) {}  // tied

  Tensor loss(const Tensor& ids, const Tensor& next) const { return head.loss(body(tokens(ids)), next); }

  distributed::VocabParallelEmbedding tokens;
  nn::TransformerEncoder body;
  distributed::VocabParallelHead head;
};

double wide_step(const distributed::Communicator& world, const WideNet& net, optim::Optimizer& opt,
                 const Tensor& ids, const Tensor& next) {
  opt.zero_grad();
  const Tensor loss = net.loss(ids, next);
  loss.backward();
  distributed::clip_grad_norm(world, net.named_parameters(), 1.0);
  opt.step();
  return loss.item();
}
// [/vocabulary]

/// The loss after a step, which a checkpoint keeps.
double go_on_in_stages(const distributed::Communicator& world, const std::string& folder) {
  manual_seed(0);
  distributed::Pipeline pipeline(
      world,
      distributed::gpt_layers({.vocab = 20, .context = 8, .layers = 3, .block = {.d_model = 16, .heads = 2}}),
      {.micro_batches = 4});
  optim::AdamW opt(pipeline.stage().parameters(), {.lr = 1e-2});
  const Tensor text = randint(0, 20, {8, 9});
  // [stage_resume]
  if (!list_checkpoints(folder).empty()) {
    const StateDict state = distributed::load_checkpoint(world, folder).tensors;
    pipeline.load_state_dict(state.with_prefix_removed("model."));
    opt.load_state_dict(state.with_prefix_removed("optimizer." + std::to_string(world.rank()) + "."));
    pipeline.set_steps(opt.steps());
  }
  // [/stage_resume]
  opt.zero_grad();
  const double loss = pipeline.backward(text.slice(1, 0, 8), text.slice(1, 1));
  opt.step();
  // [stage_checkpoint]
  StateDict state;
  state.add_all("model.", pipeline.state_dict());
  state.add_all("optimizer." + std::to_string(world.rank()) + ".", opt.state_dict());
  distributed::save_checkpoint(world, folder, distributed::pieces(world, state));
  // [/stage_checkpoint]
  return loss;
}

}  // namespace

TEST_CASE("many machines: a model in parts") {
  distributed::run_threads(3, train_stages);
  for (const int ranks : {1, 2})
    distributed::run_threads(ranks, [](const distributed::Communicator& world) {
      manual_seed(0);
      const WideNet net(world);
      optim::AdamW opt(net.parameters(), {.lr = 1e-2});
      const Tensor text = randint(0, 1000, {4, 9}), ids = text.slice(1, 0, 8), next = text.slice(1, 1);
      const double first = wide_step(world, net, opt, ids, next);
      CHECK(wide_step(world, net, opt, ids, next) < first);
    });
  const ScratchFolder scratch;
  distributed::run_threads(4, [&](const distributed::Communicator& world) {
    const double first = go_on_in_stages(world, scratch / "checkpoints");
    CHECK(go_on_in_stages(world, scratch / "checkpoints") < first);
  });
}

TEST_CASE("many machines: what the page quotes") {
  double whole = train_t5(distributed::Communicator());
  CHECK(whole > 0);
  // [threads]
  distributed::run_threads(4, [&](const distributed::Communicator& world) {
    const double loss = train_t5(world);
    CHECK(loss == whole);  // on every rank
  });
  // [/threads]
  distributed::run_threads(2, train_gpt);
  const ScratchFolder scratch;
  const std::string folder = scratch / "checkpoints";
  for (const int ranks : {2, 1, 4})
    distributed::run_threads(ranks, [&](const distributed::Communicator& world) { train_on(world, folder); });
  distributed::run_threads(
      2, [&](const distributed::Communicator& world) { CHECK(train_on(world, folder) == 4); });
}

}  // namespace gradus::test
