// Sums in many orders, one training on 1 to 8 ranks, the best rate for large batches, norms and shards.
// Its chapter: docs/course/38_many_machines/README.md
#include <cstdio>
#include <set>
#include <span>
#include <string>
#include <vector>
#include "gradus/distributed/distributed.h"
#include "gradus/gradus.h"
using namespace gradus;
namespace {
// [tree]
float tree(std::span<const float> x) {
  return x.size() == 1 ? x[0] : tree(x.first(x.size() / 2)) + tree(x.subspan(x.size() / 2));
}
// [/tree]
/// The different sums of x, 2^20 numbers: order k takes every s-th of them, around and around, for an odd s.
std::set<float> in_1000_orders(const std::vector<float>& x) {
  std::set<float> different;
  for (std::uint32_t k = 0; k < 1000; k += 8) {
    float sum[8] = {};  // of 8 orders at a time
    for (std::uint32_t i = 0; i < x.size(); ++i)
      for (std::uint32_t j = 0; j < 8; ++j) sum[j] += x[i * (155554 * (k + j) + 1) % x.size()];
    different.insert(sum, sum + 8);
  }
  return different;
}
// [row]
/// Each rank adds its shards in a row, then all ranks' sums are added in a row.
void backward_in_a_row(const distributed::Communicator& world, const nn::Module& net, const auto& loss) {
  for (int i = 0, count = 8 / world.size(), k = count * world.rank(); i < count; ++i, ++k)
    (loss(distributed::Shard{k, 8, 4 * k, 4 * k + 4, 32}) / 8).backward();  // adds to w.grad()
  for (const Tensor& w : net.parameters()) {
    const Tensor each = world.all_gather(w.grad());  // [ranks, ...]
    w.grad().zero_();
    for (int r = 0; r < world.size(); ++r) w.grad() += each[r];
  }
}
// [/row]
/// The first matrix after 50 steps with 8 shards of 4 examples. Ranks are threads of this process.
Tensor train(int ranks, bool in_tree, double dropout) {
  Tensor first;
  distributed::run_threads(ranks, [&](const distributed::Communicator& world) {
    const nn::Sequential net(nn::Linear(8, 16), tanh, nn::Dropout(dropout), nn::Linear(16, 1));
    optim::Adam adam(net.parameters(), {.lr = 0.01});
    distributed::DataParallel parallel(world, net, {.shards = 8});
    Generator data(1);
    for (int step = 0; step < 50; ++step) {
      const Tensor x = randn({32, 8}, data), y = x.prod(-1, true);
      adam.zero_grad();
      // [parallel]
      const auto loss = [&](const distributed::Shard& shard) { return mse_loss(net(shard(x)), shard(y)); };
      in_tree ? void(parallel.backward(32, loss)) : backward_in_a_row(world, net, loss);
      // [/parallel]
      adam.step();
    }
    if (world.rank() == 0) first = net.parameters()[0].detach();
  });
  return first;
}
void compare_ranks(const char* name, bool in_tree, double dropout) {
  std::printf("\n  %-34s", name);
  for (const int n : {2, 4, 8}) {
    const double far = (train(n, in_tree, dropout) - train(1, in_tree, dropout)).abs().max().item();
    const std::string off = far < 1e-3 ? "rounding" : std::to_string(far).substr(0, 4);
    std::printf("%12s", far == 0 ? "same bits" : off.c_str());
  }
}
// [batch]
/// Steps of SGD, each with a new batch, until the distance from the true weights, squared, is a thousandth.
int steps_to_a_thousandth(int batch, double rate, Generator& data) {
  int step = 0;
  Tensor w = zeros({63, 1});  // the true ones are 1, and the loss is mean(error^2) / 2
  for (; step < 200 && (w - 1).square().mean().item() > 0.001; ++step) {
    const Tensor x = randn({batch, 63}, data), error = matmul(x, w - 1);
    w = w - rate / batch * matmul(x.t(), error);
  }
  return step;
}
void sweep(int batch, Generator data = Generator(2)) {
  std::printf("\n  ranks %2d, batch %3d  ", batch / 4, batch);
  for (int power = 5; power >= 0; --power) {
    int steps = 0;
    for (int run = 0; run < 10; ++run) steps += steps_to_a_thousandth(batch, 1.0 / (1 << power), data);
    steps < 2000 ? std::printf("%6.0f", steps / 10.0) : std::printf("     -");
  }
  const Tensor x = randn({200, batch, 63}, data), g = (x * x.sum(-1, true)).mean(1);  // 200 first gradients
  std::printf("%8.2f", (g.var(0).sum() / 63).item());                                 // |G|^2 = 63
}
// [/batch]
void compare_shards(const char* name, const auto& norm, TensorList g = {}) {
  const nn::Sequential net(nn::Linear(8, 16), norm, tanh, nn::Linear(16, 1));
  const Tensor x = randn({32, 8}), y = randn({32, 1});
  std::printf("\n  %-34s", name);
  for (const int shards : {1, 2, 4, 8}) {
    net.zero_grad();
    distributed::DataParallel parallel({}, net, {.shards = shards});  // {}: this process alone
    parallel.backward(32, [&](const auto& shard) { return mse_loss(net(shard(x)), shard(y)); });
    g.push_back(net.parameters()[0].grad().clone());
    if (shards > 1) std::printf("%10.2f %%", 100 * ((g.back() - g[0]).norm() / g[0].norm()).item());
  }
}
}  // namespace
int main() {
  const Tensor numbers = rand({1 << 20});
  const std::vector<float> x = numbers.to_vector<float>(), four = {0x1p24f, 1, 1, 1};
  const std::set<float> sums = in_1000_orders(x);
  std::printf("2^24 + 1 + 1 + 1: in a row %.0f, in a tree %.0f\n", four[0] + 1 + 1 + 1, tree(four));
  std::printf("2^20 numbers in 1000 orders: %d sums, %.4f to ", int(sums.size()), *sums.begin());
  std::printf("%.4f\n  in a tree %.4f, in f64 %.4f", *sums.rbegin(), tree(x), numbers.to(f64).sum().item());
  std::printf("\n\nFirst matrix, off that of one rank by%12s%12s%12s", "2 ranks", "4", "8");
  compare_ranks("tree, dropout", true, 0.1), compare_ranks("in a row", false, 0);
  compare_ranks("in a row, each rank's own dropout", false, 0.1);
  std::printf("\n\nSteps to a thousandth   2^-5  2^-4  2^-3  2^-2  2^-1   2^0   noise");
  const DefaultDType guard(f64);
  for (const int batch : {4, 16, 64, 256}) sweep(batch);
  std::printf("\n\nIts gradient, off that of 1 shard by%13s%12s%12s", "2 shards", "4", "8");
  compare_shards("batch norm", nn::BatchNorm(16)), compare_shards("layer norm", nn::LayerNorm(16));
  std::printf("\n");
}
