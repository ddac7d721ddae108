#include "distributed/speed/steps.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "distributed/speed/costs.h"
#include "gradus/core/check.h"
#include "gradus/distributed/data_parallel.h"
#include "gradus/distributed/detail/gradients.h"
#include "gradus/gradus.h"

namespace gradus::speed {

namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

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

std::vector<std::string> names_of_cases() { return {"char-gpt", "gpt-11m", "gpt2-124m", "gpt2-1.5b"}; }

Case case_called(const std::string& name) {
  if (name == "char-gpt") return {name, gpt(65, 64, 4, 128, 4), 12, 64};
  if (name == "gpt-11m") return {name, gpt(65, 256, 6, 384, 6), 8, 256};
  if (name == "gpt2-124m") return {name, gpt(50257, 1024, 12, 768, 12), 4, 64};
  if (name == "gpt2-1.5b") return {name, gpt(50257, 1024, 48, 1600, 25), 4, 64};
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

namespace {

/// Times of one rank's step, and of the gradients of its backward.
struct Timeline {
  std::vector<double> forward, backward, rest;
  std::vector<std::vector<double>> arrivals;  // of each gradient in order, in all rounds
  std::vector<std::size_t> order;             // their parameters
  std::vector<std::int64_t> sizes;            // of all parameters
};

Timeline measure_timeline(const Case& c, std::int64_t layers, int rounds) {
  nn::GPTOptions options = c.gpt;
  options.layers = layers;
  manual_seed(0);
  const nn::GPT model(options);
  const std::vector<Tensor> parameters = model.parameters();
  optim::AdamW optimizer(parameters, {.lr = 1e-4, .weight_decay = 0.1});
  Timeline line;
  for (const Tensor& parameter : parameters) line.sizes.push_back(parameter.numel());
  for (int round = -1; round < rounds; ++round) {
    const Batch batch(c, c.rows);
    optimizer.zero_grad();
    auto start = Clock::now();
    const Tensor loss = model.loss(batch.ids, batch.targets);
    const double forward = since(start);
    std::vector<double> times;
    std::vector<std::size_t> order;
    start = Clock::now();
    {
      const EarlyGrads early([&](Node& leaf) {
        for (std::size_t i = 0; i < parameters.size(); ++i)
          if (parameters[i].node().get() == &leaf) {
            times.push_back(since(start));
            order.push_back(i);
          }
      });
      loss.backward();
    }
    const double backward = since(start);
    start = Clock::now();
    optimizer.step();
    const double rest = since(start);
    if (round < 0) continue;
    line.forward.push_back(forward);
    line.backward.push_back(backward);
    line.rest.push_back(rest);
    line.arrivals.resize(times.size());
    for (std::size_t i = 0; i < times.size(); ++i) line.arrivals[i].push_back(times[i]);
    line.order = order;
  }
  return line;
}

/// Bytes per second that an addition of large arrays reads and writes.
double measure_memory() {
  const Tensor x = zeros({1 << 24}), y = zeros({1 << 24});
  std::vector<double> seconds;
  for (int round = 0; round < 7; ++round) {
    const auto start = Clock::now();
    x.array().add_(y.array());
    seconds.push_back(since(start));
  }
  return 3.0 * 4 * (1 << 24) / median(seconds);
}

/// Of a GPT, whose first two parameters are the embeddings: as if it had so many layers more, each like its
/// lowest one, of `per_layer` parameters.
void add_layers(Profile& profile, std::size_t per_layer, std::size_t more, double forward) {
  constexpr std::size_t kEmbeddings = 2;
  const auto lowest = profile.sizes.begin() + kEmbeddings;
  const std::vector<std::int64_t> layer(lowest, lowest + static_cast<std::ptrdiff_t>(per_layer));
  const double elements = profile.elements();
  for (std::size_t k = 0; k < more; ++k)
    profile.sizes.insert(profile.sizes.begin() + kEmbeddings, layer.begin(), layer.end());
  profile.rest *= profile.elements() / elements;  // an optimizer's time is that of its parameters
  profile.forward += static_cast<double>(more) * forward;

  std::vector<Profile::Arrival> above, lowest_layer, embeddings;
  for (Profile::Arrival arrival : profile.arrivals)
    if (arrival.parameter < kEmbeddings) {
      embeddings.push_back(arrival);
    } else if (arrival.parameter < kEmbeddings + per_layer) {
      lowest_layer.push_back(arrival);
    } else {
      arrival.parameter += more * per_layer;
      above.push_back(arrival);
    }
  const double one = lowest_layer.back().seconds - above.back().seconds;
  profile.arrivals = above;
  for (std::size_t k = 0; k <= more; ++k)
    for (Profile::Arrival arrival : lowest_layer) {
      arrival.parameter += (more - k) * per_layer;
      arrival.seconds += static_cast<double>(k) * one;
      profile.arrivals.push_back(arrival);
    }
  for (Profile::Arrival arrival : embeddings) {
    arrival.seconds += static_cast<double>(more) * one;
    profile.arrivals.push_back(arrival);
  }
  profile.backward += static_cast<double>(more) * one;
}

}  // namespace

Json measure_profile(const Case& c, std::int64_t measured, int rounds) {
  measured = std::min(measured, c.gpt.layers);
  const Timeline line = measure_timeline(c, measured, rounds);
  Profile profile{.model = c.name,
                  .tokens = static_cast<double>(c.rows * c.tokens),
                  .forward = median(line.forward),
                  .backward = median(line.backward),
                  .rest = median(line.rest),
                  .memory_speed = measure_memory(),
                  .sizes = line.sizes};
  for (std::size_t i = 0; i < line.order.size(); ++i)
    profile.arrivals.push_back({line.order[i], median(line.arrivals[i])});
  if (measured < c.gpt.layers) {
    const Timeline less = measure_timeline(c, measured - 1, rounds);
    add_layers(profile, line.sizes.size() - less.sizes.size(),
               static_cast<std::size_t>(c.gpt.layers - measured), profile.forward - median(less.forward));
  }
  Json arrivals = Json::array();
  for (const Profile::Arrival& arrival : profile.arrivals)
    arrivals.push_back({arrival.parameter, arrival.seconds});
  return {{"model", c.name},
          {"tokens", c.rows * c.tokens},
          {"layers_measured", measured},
          {"forward_s", profile.forward},
          {"backward_s", profile.backward},
          {"rest_s", profile.rest},
          {"memory_bytes_per_s", profile.memory_speed},
          {"sizes", profile.sizes},
          {"arrivals", arrivals}};
}

}  // namespace gradus::speed
