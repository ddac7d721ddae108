#include "gradus/distributed/data_parallel.h"

#include <bit>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "gradus/core/check.h"
#include "gradus/distributed/detail/buffer_means.h"
#include "gradus/distributed/detail/digests.h"
#include "gradus/distributed/detail/generator_guard.h"
#include "gradus/distributed/detail/gradients.h"
#include "gradus/ops/ops.h"

namespace gradus::distributed {

using namespace detail;

namespace {

double tree_sum(const double* terms, std::size_t n) {
  return n == 1 ? terms[0] : tree_sum(terms, n / 2) + tree_sum(terms + n / 2, n / 2);
}

}  // namespace

struct DataParallel::State {
  DataParallelOptions options;
  std::uint64_t seed;
  std::vector<Tensor> frozen, buffers;
  Gradients gradients;
  std::int64_t steps = 0;
};

Tensor Shard::operator()(const Tensor& batch) const {
  check(batch.defined() && batch.dim() >= 1, "Shard: expects a tensor of the batch, [rows, ...], got {}",
        batch.defined() ? to_string(batch.shape()) : "an undefined tensor");
  if (batch.size(0) == batch_rows) return batch.slice(0, begin, end);
  check(batch.size(0) == rank_end - rank_begin,
        "Shard: expects the {} rows of the batch, or the {} of this rank, got {}", batch_rows,
        rank_end - rank_begin, batch.shape());
  return batch.slice(0, begin - rank_begin, end - rank_begin);
}

DataParallel::DataParallel(Communicator world, const nn::Module& model, const DataParallelOptions& options) {
  const int shards = options.shards;
  expect_power_of_two("DataParallel", world.size());
  check(shards >= 1 && shards < 1 << 24 && std::has_single_bit(static_cast<unsigned>(shards)),
        "DataParallel: expects shards of 1, 2, 4, 8, ..., got {}", shards);
  check(shards >= world.size(),
        "DataParallel: {} ranks need at least {} shards, got {}: set .shards, on which the result depends",
        world.size(), world.size(), shards);
  check(options.bucket_bytes >= 1, "DataParallel: expects bucket_bytes of at least 1, got {}",
        options.bucket_bytes);
  std::vector<Tensor> trained, frozen;
  for (const Tensor& parameter : model.parameters())
    (parameter.requires_grad() ? trained : frozen).push_back(parameter);
  check(!trained.empty(), "DataParallel: the model has no parameter to train");
  const std::uint64_t seed = options.seed ? *options.seed : default_generator().next();
  world.expect_same(
      "DataParallel's options",
      "shards " + std::to_string(shards) + ", seed " + std::to_string(seed) +
          (options.seed ? ""
                        : " (from default_generator(): call manual_seed() with one number on all ranks)") +
          ", bucket_bytes " + std::to_string(options.bucket_bytes) + ", shard_gradients " +
          std::to_string(options.shard_gradients));
  world.expect_same("The model's parameters and buffers",
                    digests(model.named_parameters()) + digests(model.named_buffers()));
  state_ = std::make_unique<State>(
      State{options, seed, std::move(frozen), model.buffers(),
            Gradients(std::move(world), std::move(trained), options.bucket_bytes, options.shard_gradients)});
}

DataParallel::~DataParallel() = default;

const Communicator& DataParallel::world() const { return state_->gradients.world(); }
int DataParallel::shards() const { return state_->options.shards; }
data::Share DataParallel::share() const {
  const int local = shards() / world().size(), begin = world().rank() * local;
  return {.begin = begin, .end = begin + local, .of = shards()};
}
std::int64_t DataParallel::steps() const { return state_->steps; }
Gradients& DataParallel::gradients() const { return state_->gradients; }

namespace {

/// Sums over all shards that every rank needs during a step, in one array of f64: loss, count, rows and steps
/// of each rank, and in how many ranks each buffer has changed.
class Figures {
 public:
  Figures(const Communicator& world, std::size_t buffers)
      : world_(world), values_(zeros({2 + 2 * world.size() + static_cast<std::int64_t>(buffers)}, f64)) {}

  void begin(double loss, double count, std::int64_t rows, std::int64_t steps, const BufferMeans& means) {
    const std::span<double> all = values_.mutable_span<double>();
    const auto rank = static_cast<std::size_t>(world_.rank());
    all[0] = loss, all[1] = count;
    all[2 + 2 * rank] = static_cast<double>(rows), all[3 + 2 * rank] = static_cast<double>(steps);
    for (std::size_t i = first_buffer(); i < all.size(); ++i)
      all[i] = means.changed(i - first_buffer()) ? 1 : 0;
    work_.emplace(world_.all_reduce_async(values_));
  }

  /// Whether they are known.
  bool done() {
    if (checked_) return true;
    if (!work_->done()) return false;
    for (std::size_t r = 0; r < static_cast<std::size_t>(world_.size()); ++r) {
      const auto whole = [&](std::size_t i) { return std::to_string(static_cast<std::int64_t>(value(i))); };
      if (value(2 + 2 * r) != value(2))
        throw CommonError("DataParallel::backward: rank " + std::to_string(r) + " has a batch of " +
                          whole(2 + 2 * r) + " rows, rank 0 one of " + whole(2) +
                          ": every rank passes the same batch");
      if (value(3 + 2 * r) != value(3))
        throw CommonError("DataParallel::backward: rank " + std::to_string(r) + " has done " +
                          whole(3 + 2 * r) + " steps, rank 0 " + whole(3) +
                          ": load the same checkpoint on every rank");
    }
    return checked_ = true;
  }

  double loss() const { return value(0); }
  double count() const { return value(1); }
  std::vector<bool> changed() const {
    std::vector<bool> result;
    for (auto i = first_buffer(); i < static_cast<std::size_t>(values_.numel()); ++i)
      result.push_back(value(i) > 0);
    return result;
  }

 private:
  std::size_t first_buffer() const { return 2 + 2 * static_cast<std::size_t>(world_.size()); }
  double value(std::size_t i) const { return values_.span<double>()[i]; }

  const Communicator& world_;
  Tensor values_;
  std::optional<Work> work_;
  bool checked_ = false;
};

}  // namespace

double DataParallel::backward(std::int64_t rows, const std::function<ShardLoss(const Shard&)>& loss) {
  check(rows >= 1, "DataParallel::backward: expects a batch of at least one row, got {}", rows);
  for (const Tensor& parameter : state_->frozen)
    check(!parameter.requires_grad(),
          "DataParallel: {} was frozen when DataParallel was made: make a new one after requires_grad_()",
          parameter.shape());
  const data::Share share = this->share();
  const auto n = static_cast<std::size_t>(share.end - share.begin);
  const GeneratorGuard guard;
  GradientStep gradients(state_->gradients);
  BufferMeans buffers(state_->buffers, n);
  Figures figures(world(), state_->buffers.size());
  std::vector<double> losses(n), counts(n);
  std::vector<std::int64_t> shard_rows(n);

  for (std::size_t k = 0; k < n; ++k) {
    Shard shard{.index = share.begin + static_cast<int>(k), .count = share.of, .batch_rows = rows};
    shard.begin = share.first_row(shard.index, rows);
    shard.end = share.first_row(shard.index + 1, rows);
    shard.rank_begin = share.first_row(share.begin, rows);
    shard.rank_end = share.first_row(share.end, rows);
    shard_rows[k] = shard.rows();
    Tensor result;
    double seed = 0;
    if (shard.rows() > 0) {
      const auto stream =
          static_cast<std::uint64_t>((state_->steps + 1) << 24) + static_cast<std::uint64_t>(shard.index);
      default_generator() = Generator(state_->seed, stream);
      buffers.begin_shard();
      const ShardLoss of = loss(shard);
      buffers.end_shard(k);
      check(of.loss.defined() && of.loss.numel() == 1,
            "DataParallel::backward: expects a loss of one element, got {}",
            of.loss.defined() ? to_string(of.loss.shape()) : "an undefined tensor");
      const double count = of.count ? *of.count : static_cast<double>(shard.rows());
      check(count >= 0 && std::isfinite(count),
            "DataParallel::backward: expects a count of 0 or more, got {}", count);
      seed = of.is_sum ? 1 : count;
      counts[k] = count;
      if (count > 0)
        result = of.loss,
        losses[k] = result.item() * seed;  // 0 terms cost nothing, even if their mean is NaN
    }
    const bool last = k + 1 == n;
    if (last) {
      figures.begin(tree_sum(losses.data(), n), tree_sum(counts.data(), n), rows, state_->steps, buffers);
      gradients.begin_last([&](const Array& slice) {
        if (!figures.done()) return false;
        const NoGrad no_grad;
        Tensor values(slice);
        if (figures.count() > 0 && figures.count() != 1) values *= 1 / figures.count();
        return true;
      });
    }
    if (result.defined()) {
      std::optional<EarlyGrads> early;
      if (last) early.emplace([&](Node& leaf) { gradients.arrive(leaf); });
      result.backward(full(result.shape(), seed, result.dtype()));
    }
    if (!last) gradients.end_shard();
  }
  gradients.finish();
  buffers.finish(world(), figures.changed(), shard_rows, rows);
  ++state_->steps;
  return figures.count() > 0 ? figures.loss() / figures.count() : 0;
}

StateDict DataParallel::state_dict() const {
  return {{"steps", tensor(state_->steps)},
          {"shards", tensor(std::int64_t{shards()})},
          {"seed", tensor(static_cast<std::int64_t>(state_->seed))}};
}

void DataParallel::load_state_dict(const StateDict& dict) {
  const auto number = [&](const char* name) {
    const Tensor* const value = dict.find(name);
    check(value && value->defined() && value->dtype() == i64 && value->numel() == 1,
          "DataParallel: the state has no number '{}': it belongs to something else", name);
    return value->to_vector<std::int64_t>()[0];
  };
  const std::int64_t steps = number("steps"), saved = number("shards"), seed = number("seed");
  check(steps >= 0, "DataParallel: expects steps of 0 or more, got {}", steps);
  check(saved == shards(),
        "DataParallel: the state is of {} shards, this one has {}: with .shards = {} it goes on as before",
        saved, shards(), saved);
  state_->steps = steps;
  state_->seed = static_cast<std::uint64_t>(seed);
}

}  // namespace gradus::distributed
