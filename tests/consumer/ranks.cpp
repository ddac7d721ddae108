#include <gradus/distributed/distributed.h>
#include <gradus/gradus.h>

#include <cstdio>
using namespace gradus;

int main(int argc, char** argv) {
  distributed::Session session(argc, argv);
  return session.run([](const distributed::Communicator& world) {
    const nn::Linear model(2, 1);
    distributed::DataParallel parallel(world, model);
    distributed::Sharded<optim::SGD> opt(parallel, model.parameters(), {.lr = 0.1});
    const Tensor x = randn({64, 2}), y = x.sum(-1, true) + 3;
    double loss = 0;
    for (int step = 0; step < 100; ++step) {
      opt.zero_grad();
      loss = parallel.backward(
          64, [&](const distributed::Shard& shard) { return mse_loss(model(shard(x)), shard(y)); });
      opt.step();
    }
    if (world.rank() == 0) std::printf("%d ranks: loss %.9f\n", world.size(), loss);
  });
}
