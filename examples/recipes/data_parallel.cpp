// Many ranks: the same bits from one process and from `mpirun -n 4`, or 2 or 8.
#include <cstdio>

#include "gradus/distributed/distributed.h"
#include "gradus/gradus.h"

using namespace gradus;

int main(int argc, char** argv) {
  distributed::Session session(argc, argv);
  return session.run([](const distributed::Communicator& world) {
    manual_seed(0);  // every rank builds the same net and draws the same batches
    const nn::Sequential net(nn::Linear(2, 16), tanh, nn::Dropout(0.1), nn::Linear(16, 1));
    const Tensor x = randn({1000, 2}), y = x.prod(-1, true);
    data::DataLoader loader({x, y}, {.batch_size = 32, .shuffle = true, .drop_last = true});
    optim::AdamW opt(net.parameters(), {.lr = 1e-2});
    distributed::DataParallel parallel(world, net, {.shards = 8});

    for (int step = 1; step <= 200; ++step) {
      const auto batch = loader.next();
      opt.zero_grad();
      const double loss = parallel.backward(32, [&](const distributed::Shard& shard) {
        return mse_loss(net(shard(batch[0])), shard(batch[1]));  // the mean over the shard's rows
      });
      optim::clip_grad_norm(net.parameters(), 1.0);
      opt.step();
      if (step % 100 == 0 && world.rank() == 0) std::printf("step %d: loss %.9g\n", step, loss);
    }
    if (world.rank() == 0)  // all digits of an f32
      std::printf("sum of the first weights %.9g\n", net.parameters()[0].sum().item());
  });
}
