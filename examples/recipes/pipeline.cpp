// A GPT in stages: each rank has some of its layers, and the weights are those of one process.
#include <cstdio>

#include "gradus/distributed/distributed.h"
#include "gradus/gradus.h"

using namespace gradus;

int main(int argc, char** argv) {
  distributed::Session session(argc, argv);
  return session.run([](const distributed::Communicator& world) {
    manual_seed(0);  // every rank has the same seed and draws the same batches
    const nn::GPTOptions options{
        .vocab = 10, .context = 16, .layers = 3, .block = {.d_model = 32, .heads = 4, .dropout = 0.1}};
    distributed::Pipeline pipeline(world, distributed::gpt_layers(options), {.micro_batches = 8});
    optim::AdamW opt(pipeline.stage().parameters(), {.lr = 3e-3});  // of this rank's layers

    for (int step = 1; step <= 150; ++step) {
      const Tensor digits = randint(0, 10, {32, 8}), text = cat({digits, digits}, 1);  // each row twice
      const Tensor x = text.slice(1, 0, 15), y = text.slice(1, 1).contiguous();
      y.slice(1, 0, 7).fill_(-100);  // only the repetition can be known
      opt.zero_grad();
      const double loss = pipeline.backward(x, y);
      pipeline.clip_grad_norm(1.0);
      opt.step();
      if (step % 50 == 0 && world.rank() == 0) std::printf("step %d: loss %.9g\n", step, loss);
    }
  });
}
