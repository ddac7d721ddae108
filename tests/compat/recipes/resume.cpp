// Resuming: run it, stop it with Ctrl-C, run it again: same bits as an uninterrupted run.
#include <cstdio>
#include <string>

#include "gradus/gradus.h"

using namespace gradus;

int main(int argc, char** argv) {  // resume [FOLDER [LAST_STEP]]
  const std::string folder = argc > 1 ? argv[1] : "resume_checkpoints";
  manual_seed(0);
  const nn::Sequential net(nn::Linear(2, 16), tanh, nn::Dropout(0.1), nn::Linear(16, 1));
  const Tensor x = randn({1000, 2}), y = x.prod(-1, true);
  data::DataLoader loader({x, y}, {.batch_size = 32, .shuffle = true});  // 32 batches per epoch
  optim::AdamW opt(net.parameters(), {.lr = optim::warmup_cosine(1e-2, 20, 200)});

  if (!list_checkpoints(folder).empty()) {
    const StateDict state = load_checkpoint(folder).tensors;
    net.load_state_dict(state.with_prefix_removed("model."));
    opt.load_state_dict(state.with_prefix_removed("optimizer."));
    loader.load_state_dict(state.with_prefix_removed("loader."));  // its place within the epoch
    default_generator().set_state(state.at("random").array());     // dropout draws from it
    std::printf("resumed after step %lld\n", static_cast<long long>(opt.steps()));
  }
  while (opt.steps() < (argc > 2 ? std::stoi(argv[2]) : 200)) {
    const auto [xb, yb] = loader.next();
    opt.zero_grad();
    mse_loss(net(xb), yb).backward();
    opt.step();
    if (opt.steps() % 50 != 0) continue;
    StateDict state;
    state.add_all("model.", net.state_dict());
    state.add_all("optimizer.", opt.state_dict());
    state.add_all("loader.", loader.state_dict());
    state.set("random", Tensor(default_generator().get_state()));
    save_checkpoint(folder, state);
  }
  std::printf("sum of the first weights %.9g\n", net.parameters()[0].sum().item());  // all digits of an f32
}
