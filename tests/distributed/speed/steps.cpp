#include "distributed/speed/steps.h"

#include <nlohmann/json.hpp>

#include "distributed/speed/costs.h"
#include "gradus/core/check.h"
#include "gradus/distributed/data_parallel.h"
#include "gradus/distributed/detail/gradients.h"
#include "gradus/gradus.h"

namespace gradus::speed {

namespace {

using Json = nlohmann::ordered_json;
nn::GPTOptions gpt(std::int64_t vocab, std::int64_t context, std::int64_t layers, std::int64_t width,
                   std::int64_t heads) {
  return {.vocab = vocab,
          .context = context,
          .layers = layers,
          .block = {.d_model = width, .heads = heads, .activation = nn::Activation::gelu}};
}

/// A batch of random tokens, the same on all ranks.
struct Batch {
  Batch(const Case& c, std::int64_t rows)
      : ids(randint(0, c.gpt.vocab, {rows, c.tokens})), targets(randint(0, c.gpt.vocab, {rows, c.tokens})) {}
  Tensor ids, targets;
};

/// Model, optimizer and DataParallel of ranks that share each batch.
class Training {
 public:
  Training(const distributed::Communicator& world, const nn::GPT& model, int shards)
      : model_(model),
        parallel_(world, model, {.shards = shards, .seed = 1}),
        optimizer_(model.parameters(), {.lr = 1e-4, .weight_decay = 0.1}) {}

  void step(const Batch& batch) {
    optimizer_.zero_grad();
    parallel_.backward(batch.ids.size(0), [&](const distributed::Shard& shard) {
      return model_.loss(shard(batch.ids), shard(batch.targets));
    });
    optimizer_.step();
  }
  const distributed::detail::Layout& layout() const { return parallel_.gradients().layout(); }

 private:
  const nn::GPT& model_;
  distributed::DataParallel parallel_;
  optim::AdamW optimizer_;
};

}  // namespace

std::vector<std::string> names_of_cases() { return {"char-gpt", "gpt-11m", "gpt2-124m"}; }

Case case_called(const std::string& name) {
  if (name == "char-gpt") return {name, gpt(65, 64, 4, 128, 4), 12, 64};
  if (name == "gpt-11m") return {name, gpt(65, 256, 6, 384, 6), 8, 256};
  if (name == "gpt2-124m") return {name, gpt(50257, 1024, 12, 768, 12), 4, 64};
  fail_input_with("bench ranks: no model is called '{}'", name);
}

Json measure_step(const distributed::Communicator& world, const Case& c, const Cost& all_reduce, int rounds) {
  manual_seed(0);
  const nn::GPT model(c.gpt);
  const int ranks = world.size();
  const Batch batch(c, c.rows), part(c, c.rows / ranks);
  Training together(world, model, ranks);
  if (ranks == 1)
    return {{"model", c.name},
            {"tokens", c.rows * c.tokens},
            {"step_s", in_turn(world, {[&] { together.step(batch); }}, rounds)[0]}};

  std::vector<Tensor> buckets;
  for (const auto& bucket : together.layout().buckets()) buckets.push_back(zeros({bucket.slices.size()}));
  double predicted = 0;
  Json bytes = Json::array();
  for (const Tensor& bucket : buckets) {
    const double size = 4.0 * static_cast<double>(bucket.numel());
    predicted += all_reduce(size);
    bytes.push_back(size);
  }
  predicted += 2 * all_reduce.latency;  // the losses, and which parameters have gradients

  std::vector<double> seconds;
  {
    // Another model, whose weights and moments are as far from the cache.
    Training alone(distributed::Communicator(), model, 1);
    seconds = in_turn(world, {[&] { together.step(batch); }, [&] { alone.step(part); }}, rounds);
  }
  const std::vector<double> sums = in_turn(world,
                                           {[&] {
                                              for (const Tensor& bucket : buckets) world.all_reduce(bucket);
                                            },
                                            [&] {
                                              for (const Tensor& bucket : buckets)
                                                mpi_all_reduce(world, bucket);
                                            }},
                                           rounds);
  return {{"model", c.name},
          {"tokens", c.rows * c.tokens},
          {"step_s", seconds[0]},
          {"alone_s", seconds[1]},
          {"sums_s", sums[0]},
          {"mpi_sums_s", sums[1]},
          {"predicted_s", seconds[1] + predicted},
          {"bucket_bytes", bytes}};
}

}  // namespace gradus::speed
