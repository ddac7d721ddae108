// A run that resumes as if never stopped, operation counts, the same bits.
// Its chapter: docs/course/37_saving/README.md
#include <cstdio>
#include <filesystem>
#include "gradus/gradus.h"
using namespace gradus;
namespace {
struct Net : nn::Module {
  explicit Net(std::int64_t width = 8, const std::string& last = "fc2")
      : fc1(add("fc1", nn::Linear(2, width))), fc2(add(last, nn::Linear(width, 1))) {}
  Tensor operator()(const Tensor& x) const { return fc2(tanh(fc1(x))); }
  nn::Linear fc1, fc2;
};

void weights(const std::string& path) {
  const Net net, other;
  save_safetensors(path, net.state_dict()), other.load_state_dict(load_safetensors(path));
  std::printf("The file contains, by PyTorch's names:\n");
  for (const auto& [name, tensor] : load_safetensors(path))
    std::printf("  %-12s %s\n", name.c_str(), to_string(tensor.shape()).c_str());
  const Tensor x = randn({5, 2});
  std::printf("The two nets agree to the last bit: %s\n", (net(x) == other(x)).all() ? "yes" : "no");
  std::printf("\nA file for another model is refused, with all mismatches:\n");
  try {
    Net(16, "head").load_state_dict(load_safetensors(path));
  } catch (const Error& error) {
    std::printf("  %s\n", error.what());
  }
}

/// 160 points and the squares of their distances from 0.
std::array<Tensor, 2> points(Generator generator = Generator(7)) {
  const Tensor x = randn({160, 2}, generator);
  return {x, x.square().sum(-1, true)};
}

/// A training run: everything on which its next step depends.
struct Run {
  Net net;
  optim::Adam opt{net.parameters(), {.lr = optim::warmup_linear(0.05, 10)}};
  data::DataLoader<2> loader{points(), {.batch_size = 16, .shuffle = true, .generator = Generator(7)}};
  void train(int steps) {
    for (int i = 0; i < steps; ++i) {
      const auto [x, y] = loader.next();
      opt.zero_grad();
      mse_loss(net(x), y).backward();
      opt.step();
    }
  }
};

// [checkpoint]
StateDict state_of(const Run& run) {
  StateDict state;
  state.add_all("model.", run.net.state_dict());
  state.add_all("optimizer.", run.opt.state_dict());
  state.add_all("loader.", run.loader.state_dict());  // which batches of the epoch are left
  return state;
}

void resume(Run& run, const StateDict& state, const std::string& kept) {
  run.net.load_state_dict(state.with_prefix_removed("model."));
  if (kept.find("opt") != kept.npos) run.opt.load_state_dict(state.with_prefix_removed("optimizer."));
  if (kept.find("loader") != kept.npos) run.loader.load_state_dict(state.with_prefix_removed("loader."));
}
// [/checkpoint]

void checkpoints(const std::string& folder) {
  Run unbroken;
  unbroken.train(55);
  save_checkpoint(folder, state_of(unbroken));
  const int left = int(unbroken.loader.size() - 55 % unbroken.loader.size());
  unbroken.train(45);
  std::printf("\nStopped after 55 of 100 steps, %d batches left of an epoch. Distance at the end:\n", left);
  for (const char* kept : {"weights", "weights, optimizer", "weights, optimizer, loader"}) {
    Run run;
    resume(run, load_checkpoint(folder).tensors, kept);
    run.train(45);
    double far = 0;
    for (const auto& [name, w] : run.net.state_dict())
      far = std::max(far, (w - unbroken.net.state_dict().at(name)).abs().max().item());
    std::printf("  with %-27s %.4f%s\n", kept, far, far == 0 ? ": the same bits" : "");
  }
}

void same_bits() {
  float left = 0, right = 0;
  const std::vector<float> x = (randn({64'000}, f32) * 3).exp().to_vector<float>();
  for (std::size_t i = 0; i < x.size(); ++i) left += x[i], right += x[x.size() - 1 - i];
  std::printf("\n64,000 numbers added from left and right, the same: %s\n", left == right ? "yes" : "no");
  // [bits]
  const Tensor input = randn({512, 256}, f32), weight = randn({256, 256}, f32).requires_grad_();
  std::vector<Tensor> dw;
  const Profile profile;
  for (const int threads : {1, 2, 7}) {
    set_num_threads(threads);
    weight.zero_grad();
    linear(input, weight).square().mean().backward();
    dw.push_back(weight.grad().clone());
  }
  // [/bits]
  const bool same = (dw[0] == dw[1]).all() && (dw[0] == dw[2]).all();
  std::printf("A gradient with 1, 2 and 7 threads, the same: %s\n", same ? "yes" : "no");
  for (const ProfileEntry& e : profile.entries())
    if (e.flops > 0) std::printf("%s: %d calls, %.0f MFLOP\n", e.name.c_str(), int(e.calls), e.flops / 1e6);
}
}  // namespace
int main() try {
  const DefaultDType guard(f64);
  manual_seed(0);
  const std::string folder = "37_saving_files";  // removed at the end
  std::filesystem::create_directory(folder);
  weights(folder + "/model.safetensors");
  checkpoints(folder + "/checkpoints");
  std::filesystem::remove_all(folder);
  same_bits();
} catch (const std::exception& error) {  // the folder cannot be written, the disk is full, ...
  std::fprintf(stderr, "37_saving: %s\n", error.what());
  return 1;
}
