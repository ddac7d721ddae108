// Saving and loading: weights that travel, and a run that goes on as if it had never stopped.
//
//   weights      a state_dict in a safetensors file, which Python reads too
//   checkpoint   all that the next step depends on: weights, optimizer, place in the data

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <filesystem>

#include "gradus/gradus.h"

using namespace gradus;

namespace {

struct Net : nn::Module {
  nn::Linear fc1 = add("fc1", nn::Linear(2, 8));
  nn::Linear fc2 = add("fc2", nn::Linear(8, 1));
  Tensor operator()(const Tensor& x) const { return fc2(tanh(fc1(x))); }
};

struct WiderNet : nn::Module {
  nn::Linear fc1 = add("fc1", nn::Linear(2, 16));
  nn::Linear head = add("head", nn::Linear(16, 1));
};

void weights(const std::string& path) {
  // [weights]
  const Net net, other;
  save_safetensors(path, net.state_dict());
  other.load_state_dict(load_safetensors(path));
  // [/weights]
  std::printf("The file holds, by PyTorch's names:\n");
  for (const auto& [name, tensor] : load_safetensors(path))
    std::printf("  %-12s %s\n", name.c_str(), to_string(tensor.shape()).c_str());
  const Tensor x = randn({5, 2});
  std::printf("The two nets agree to the last bit: %s\n", (net(x) == other(x)).all() ? "yes" : "no");

  std::printf("\nA file for another model is refused, with all that does not fit:\n");
  try {
    WiderNet().load_state_dict(load_safetensors(path));
  } catch (const Error& error) {
    std::printf("  %s\n", error.what());
  }
}

/// 160 points and the squares of their distances from 0.
std::array<Tensor, 2> points() {
  Generator generator(7);
  const Tensor x = randn({160, 2}, generator);
  return {x, x.square().sum(-1, true)};
}

// [run]
/// A training run: everything its next step depends on.
struct Run {
  Net net;
  optim::Adam opt{net.parameters(), {.lr = optim::warmup_linear(0.05, 10)}};
  data::DataLoader<2> loader{points(), {.batch_size = 16, .shuffle = true, .generator = Generator(7)}};

  void train(int steps) {
    for (int i = 0; i < steps; ++i) {
      const auto [x, y] = loader.next();
      const Tensor loss = mse_loss(net(x), y);
      opt.zero_grad();
      loss.backward();
      opt.step();
    }
  }
};
// [/run]

// [checkpoint]
StateDict state_of(const Run& run) {
  StateDict state;
  state.add_all("model.", run.net.state_dict());
  state.add_all("optimizer.", run.opt.state_dict());
  state.add_all("loader.", run.loader.state_dict());  // which batches of the epoch are left
  return state;
}

enum Parts { weights_only, with_optimizer, with_loader };
void resume(Run& run, const StateDict& state, Parts parts) {
  run.net.load_state_dict(state.with_prefix_removed("model."));
  if (parts >= with_optimizer) run.opt.load_state_dict(state.with_prefix_removed("optimizer."));
  if (parts >= with_loader) run.loader.load_state_dict(state.with_prefix_removed("loader."));
}
// [/checkpoint]

double distance(const nn::Module& a, const nn::Module& b) {
  double worst = 0;
  for (const auto& [name, w] : a.state_dict())
    worst = std::max(worst, (w - b.state_dict().at(name)).abs().max().item());
  return worst;
}

void checkpoints(const std::string& folder) {
  Run unbroken;
  unbroken.train(55);
  save_checkpoint(folder, state_of(unbroken));
  unbroken.train(45);
  std::printf(
      "\nStopped in the middle of an epoch, resumed, trained to step 100. Distance from the unbroken run:\n");
  for (const Parts parts : {weights_only, with_optimizer, with_loader}) {
    // [resume]
    Run run;
    resume(run, load_checkpoint(folder).tensors, parts);
    run.train(45);
    // [/resume]
    const double far = distance(run.net, unbroken.net);
    const char* const names[] = {"weights", "weights, optimizer", "weights, optimizer, loader"};
    std::printf("  with %-27s %.4f%s\n", names[parts], far, far == 0 ? ": the same bits" : "");
  }
}

}  // namespace

int main() try {
  const DefaultDType guard(f64);
  manual_seed(0);
  const std::string folder = "29_saving_files";  // gone at the end
  std::filesystem::create_directory(folder);
  weights(folder + "/model.safetensors");
  checkpoints(folder + "/checkpoints");
  std::filesystem::remove_all(folder);
} catch (const std::exception& error) {  // the folder cannot be written, the disk is full, ...
  std::fprintf(stderr, "29_saving: %s\n", error.what());
  return 1;
}
