#include "distributed/cases.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <optional>

#include "gradus/distributed/distributed.h"
#include "gradus/gradus.h"

namespace gradus::test {

namespace {

using distributed::DataParallel;
using distributed::Shard;

class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new()) { EVP_DigestInit_ex(context_, EVP_sha256(), nullptr); }
  ~Sha256() { EVP_MD_CTX_free(context_); }
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void add(const void* data, std::size_t bytes) { EVP_DigestUpdate(context_, data, bytes); }
  void add(const StateDict& dict) {
    for (const auto& [name, tensor] : dict) {
      add(name.data(), name.size());
      const Array dense = tensor.array().contiguous();
      add(dense.raw(), static_cast<std::size_t>(dense.numel()) * size_of(dense.dtype()));
    }
  }
  std::string hex() {
    std::array<unsigned char, 32> digest{};
    EVP_DigestFinal_ex(context_, digest.data(), nullptr);
    std::string text;
    for (const unsigned char byte : digest) {
      char two[3];
      std::snprintf(two, sizeof two, "%02x", byte);
      text += two;
    }
    return text;
  }

 private:
  EVP_MD_CTX* context_;
};

TrainingHashes hashes(const distributed::Communicator& world, const StateDict& weights,
                      const StateDict& optimizer, const std::vector<double>& losses) {
  Sha256 of_weights, of_optimizer, of_losses;
  of_weights.add(weights);
  of_optimizer.add(optimizer);
  of_losses.add(losses.data(), losses.size() * sizeof(double));
  const TrainingHashes all{of_weights.hex(), of_optimizer.hex(), of_losses.hex()};
  world.expect_same("The result", all.weights + all.optimizer + all.losses);
  return all;
}

/// The same small buckets everywhere, so that there are many.
distributed::DataParallelOptions options(bool sliced = false) {
  return {.shards = 8, .seed = 7, .bucket_bytes = 10'000, .shard_gradients = sliced};
}

TrainingHashes gpt(std::string_view name, const distributed::Communicator& world, int steps) {
  manual_seed(1);
  const nn::GPT model(
      {.vocab = 60, .context = 12, .layers = 2, .block = {.d_model = 24, .heads = 2, .dropout = 0.1}});
  const bool sliced = name == "gpt-sliced", sharded = sliced || name == "gpt-sharded";
  DataParallel parallel(world, model, options(sliced));
  const optim::AdamWOptions of_adam{.lr = optim::warmup_cosine(3e-3, 10, 100), .weight_decay = 0.1};
  std::optional<optim::AdamW> plain;
  std::optional<distributed::Sharded<optim::AdamW>> divided;
  if (sharded)
    divided.emplace(parallel, model.parameters(), of_adam);
  else
    plain.emplace(model.parameters(), of_adam);
  Generator data(3);
  std::vector<double> losses;
  for (int step = 0; step < steps; ++step) {
    const Tensor text(random_integers({12, 13}, 0, 60, data));
    const Tensor x = text.slice(1, 0, 12), y = text.slice(1, 1, 13);
    sharded ? divided->zero_grad() : plain->zero_grad();
    losses.push_back(
        parallel.backward(x.size(0), [&](const Shard& shard) { return model.loss(shard(x), shard(y)); }));
    losses.push_back(sharded ? divided->clip_grad_norm(0.5) : optim::clip_grad_norm(model.parameters(), 0.5));
    sharded ? divided->step() : plain->step();
  }
  return hashes(world, model.state_dict(), sharded ? divided->state_dict() : plain->state_dict(), losses);
}

TrainingHashes t5(const distributed::Communicator& world, int steps) {
  manual_seed(2);
  const nn::T5 model({.vocab = 30,
                      .d_model = 16,
                      .d_kv = 8,
                      .d_ff = 32,
                      .heads = 2,
                      .encoder_layers = 1,
                      .decoder_layers = 1});
  DataParallel parallel(world, model, options());
  optim::Adam opt(model.parameters(), {.lr = 1e-2});
  Generator data(4);
  std::vector<double> losses;
  for (int step = 0; step < steps; ++step) {
    const auto padded = [&](std::int64_t length) {  // rows of 1 to `length` tokens and, in targets, the end
      const Tensor ids(random_integers({16, length + 1}, 2, 30, data)),
          lengths(random_integers({16, 1}, 1, length + 1, data));
      const Tensor place = arange(length + 1);
      return where(place < lengths, ids, where(place == lengths, tensor(1), tensor(0)));
    };
    const Tensor source = padded(9), target = padded(7);
    opt.zero_grad();
    losses.push_back(parallel.backward(16, [&](const Shard& shard) {
      return distributed::Mean{model.loss(shard(source), shard(target)),
                               (shard(target) != 0).to(i64).sum().item()};
    }));
    opt.step();
  }
  return hashes(world, model.state_dict(), opt.state_dict(), losses);
}

TrainingHashes batch_norm(const distributed::Communicator& world, int steps) {
  manual_seed(3);
  const nn::Sequential model(nn::Linear(5, 12), nn::BatchNorm(12), relu, nn::Dropout(0.2), nn::Linear(12, 3));
  DataParallel parallel(world, model, options());
  optim::SGD opt(model.parameters(), {.lr = 0.05, .momentum = 0.9});
  Generator data(5);
  std::vector<double> losses;
  for (int step = 0; step < steps; ++step) {
    const Tensor x = randn({28, 5}, data), y = randint(0, 3, {28}, data);
    opt.zero_grad();
    losses.push_back(parallel.backward(28, [&](const Shard& shard) {
      return distributed::Sum{cross_entropy(model(shard(x)), shard(y), {.reduction = Reduction::sum}),
                              static_cast<double>(shard.rows())};
    }));
    opt.step();
  }
  return hashes(world, model.state_dict(), opt.state_dict(), losses);
}

/// With `average`, of the weights; else two batches to a step. Batches come from a loader, which makes only
/// this rank's share; the last one of an epoch has 4 rows, fewer than there are shards.
TrainingHashes net(bool average, const distributed::Communicator& world, int steps) {
  manual_seed(4);
  const nn::Sequential model(nn::Linear(6, 20), tanh, nn::Dropout(0.1), nn::Linear(20, 1));
  DataParallel parallel(world, model, options());
  optim::RMSprop opt(model.parameters(), {.lr = 1e-2});
  optim::EMA ema(model.parameters(), 0.9);
  const Tensor x = randn({64, 6}), y = x.prod(-1, true);
  data::DataLoader loader({x, y}, {.batch_size = 10, .shuffle = true, .share = parallel.share()});
  world.expect_same("The data", loader.fingerprint());
  std::vector<double> losses;
  for (int step = 0; step < steps; ++step) {
    opt.zero_grad();
    for (int part = 0; part < (average ? 1 : 2); ++part) {
      const auto batch = loader.next();
      losses.push_back(parallel.backward(loader.batch_rows(), [&](const Shard& shard) {
        return mse_loss(model(shard(batch[0])), shard(batch[1]));
      }));
    }
    opt.step();
    ema.update();
  }
  StateDict weights = model.state_dict();
  if (average) weights.add_all("ema.", ema.state_dict());
  return hashes(world, weights, opt.state_dict(), losses);
}

/// The state of each rank's optimizer of its `parameters`, on all ranks, by their names.
StateDict optimizer_by_names(const distributed::Communicator& world, const optim::Optimizer& opt,
                             const std::vector<StateDict::Entry>& parameters) {
  const StateDict state = opt.state_dict();
  StateDict named;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    named.add_all(parameters[i].first + ".", state.with_prefix_removed(std::to_string(i) + "."));
  return distributed::gather(world, named);
}

/// Eight layers: the embedding and seven blocks.
TrainingHashes pipeline(const distributed::Communicator& world, int steps) {
  distributed::Pipeline model(
      world,
      distributed::gpt_layers(
          {.vocab = 30, .context = 8, .layers = 7, .block = {.d_model = 8, .heads = 2, .dropout = 0.1}}),
      {.micro_batches = 4, .seed = 6});
  optim::AdamW opt(model.stage().parameters(), {.lr = 1e-2});
  Generator data(6);
  std::vector<double> losses;
  for (int step = 0; step < steps; ++step) {
    const Tensor text(random_integers({8, 9}, 0, 30, data));
    opt.zero_grad();
    losses.push_back(model.backward(text.slice(1, 0, 8), text.slice(1, 1)));
    losses.push_back(model.clip_grad_norm(0.5));
    opt.step();
  }
  return hashes(world, distributed::gather(world, model.state_dict()),
                optimizer_by_names(world, opt, model.stage().named_parameters()), losses);
}

struct DividedNet : nn::Module {
  explicit DividedNet(const distributed::Communicator& world)
      : tokens(add("tokens", distributed::VocabParallelEmbedding(world, 37, 12))),
        body(add("body",
                 nn::TransformerEncoder(
                     {.layers = 1, .block = {.d_model = 12, .heads = 2, .causal = true, .dropout = 0.1}}))),
        head(add("head", distributed::VocabParallelHead(tokens))) {}

  distributed::VocabParallelEmbedding tokens;
  nn::TransformerEncoder body;
  distributed::VocabParallelHead head;
};

TrainingHashes vocab_parallel(const distributed::Communicator& world, int steps) {
  manual_seed(7);
  const DividedNet model(world);
  optim::AdamW opt(model.parameters(), {.lr = 1e-2});
  Generator data(7);
  std::vector<double> losses;
  for (int step = 0; step < steps; ++step) {
    const Tensor text(random_integers({4, 9}, 0, 37, data));
    opt.zero_grad();
    const Tensor loss = model.head.loss(model.body(model.tokens(text.slice(1, 0, 8))), text.slice(1, 1));
    loss.backward();
    losses.push_back(loss.item());
    losses.push_back(distributed::clip_grad_norm(world, model.named_parameters(), 0.5));
    opt.step();
  }
  StateDict parameters;
  for (const auto& [name, parameter] : model.named_parameters()) parameters.set(name, parameter);
  return hashes(world, distributed::gather(world, parameters),
                optimizer_by_names(world, opt, model.named_parameters()), losses);
}

}  // namespace

std::string resumable_training(const distributed::Communicator& world, const std::string& folder, int steps,
                               int every) {
  manual_seed(5);
  const nn::GPT model(
      {.vocab = 40, .context = 12, .layers = 2, .block = {.d_model = 24, .heads = 2, .dropout = 0.1}});
  DataParallel parallel(world, model, options(true));
  distributed::Sharded<optim::AdamW> opt(parallel, model.parameters(), {.lr = 3e-3});
  const Tensor text = randint(0, 40, {100, 13});
  data::DataLoader loader(text, {.batch_size = 12, .shuffle = true, .share = parallel.share()});
  if (!list_checkpoints(folder).empty()) {
    const StateDict state = distributed::load_checkpoint(world, folder).tensors;
    model.load_state_dict(state.with_prefix_removed("model."));
    opt.load_state_dict(state.with_prefix_removed("optimizer."));
    loader.load_state_dict(state.with_prefix_removed("loader."));
    parallel.load_state_dict(state.with_prefix_removed("parallel."));
  }
  while (opt.steps() < steps) {
    const Tensor batch = loader.next()[0];
    opt.zero_grad();
    parallel.backward(loader.batch_rows(), [&](const Shard& shard) {
      const Tensor rows = shard(batch);
      return model.loss(rows.slice(1, 0, 12), rows.slice(1, 1, 13));
    });
    opt.clip_grad_norm(0.5);
    opt.step();
    if (opt.steps() % every != 0) continue;
    StateDict state;
    state.add_all("model.", model.state_dict());
    state.add_all("optimizer.", opt.pieces());
    state.add_all("loader.", loader.state_dict());
    state.add_all("parallel.", parallel.state_dict());
    distributed::save_checkpoint(world, folder, state);
  }
  const TrainingHashes all = hashes(world, model.state_dict(), opt.state_dict(), {});
  return all.weights + " " + all.optimizer;
}

const std::vector<std::string>& training_cases() {
  static const std::vector<std::string> names{"gpt", "gpt-sharded", "gpt-sliced",
                                              "t5",  "batch-norm",  "accumulation",
                                              "ema", "pipeline",    "vocab-parallel"};
  return names;
}

TrainingHashes train_case(std::string_view name, const distributed::Communicator& world, int steps) {
  if (name.starts_with("gpt")) return gpt(name, world, steps);
  if (name == "t5") return t5(world, steps);
  if (name == "batch-norm") return batch_norm(world, steps);
  if (name == "pipeline") return pipeline(world, steps);
  if (name == "vocab-parallel") return vocab_parallel(world, steps);
  return net(name == "ema", world, steps);
}

}  // namespace gradus::test
