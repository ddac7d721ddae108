// Rows of docs/from_pytorch.md: a comment with the PyTorch call, and the line it becomes.

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "docs/from_pytorch/gives.h"
#include "gradus/gradus.h"
#include "support.h"

namespace {

using docs::gives;

TEST_CASE("from PyTorch: optim") {
  using namespace gradus;
  const nn::Linear model(2, 1), head(2, 1);
  const Tensor x = randn({8, 2}), y = randn({8, 1});
  const auto parameters = model.parameters();
  // [optim]
  // py: opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
  // note: also .nesterov, .dampening, .weight_decay
  optim::SGD sgd(model.parameters(), {.lr = 0.1, .momentum = 0.9});
  CHECK(sgd.lr() == 0.1);
  // py: opt = torch.optim.Adam(model.parameters(), lr=1e-3)
  optim::Adam adam(model.parameters(), {.lr = 1e-3});
  CHECK(adam.lr() == 1e-3);
  // py: opt = torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.95))
  optim::AdamW opt(model.parameters(), {.lr = 1e-3, .betas = {0.9, 0.95}});
  CHECK(opt.groups() == 1);
  // py: opt = torch.optim.RMSprop(model.parameters(), lr=1e-3)
  optim::RMSprop rmsprop(model.parameters(), {.lr = 1e-3});
  CHECK(rmsprop.lr() == 1e-3);
  // py: opt = torch.optim.RAdam(model.parameters(), lr=1e-3)
  optim::RAdam radam(model.parameters(), {.lr = 1e-3});
  CHECK(radam.lr() == 1e-3);
  // py: torch.optim.SGD([{"params": a, "lr": 0.1}, {"params": b}], lr=1)
  optim::SGD two({{.parameters = {model.weight}, .lr = 0.1}, {.parameters = {model.bias}}}, {.lr = 1});
  CHECK(two.lr(0) == 0.1);
  CHECK(two.lr(1) == 1);
  // py: torch.optim.LBFGS, Adagrad, Adadelta, amsgrad, maximize
  // here: not here; maximise by `(-gain).backward()`
  // py: opt.zero_grad()
  opt.zero_grad();
  CHECK(!model.weight.grad().defined());
  // py: loss.backward(); opt.step()
  mse_loss(model(x), y).backward();
  opt.step();
  CHECK(opt.steps() == 1);
  // py: torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
  // note: between backward and step; `optim::grad_norm` only looks
  const double norm = optim::clip_grad_norm(model.parameters(), 1.0);
  CHECK(norm > 0);
  CHECK(optim::grad_norm(parameters) < 1.001);
  // py: torch.nn.utils.clip_grad_value_(model.parameters(), 0.5)
  optim::clip_grad_value(model.parameters(), 0.5);
  CHECK(model.weight.grad().abs().max().item() <= 0.5);
  // py: for g in opt.param_groups: g["lr"] = 1e-4
  // note: one group: `opt.set_lr(1e-4, 0)`
  opt.set_lr(1e-4);
  CHECK(opt.lr() == 1e-4);
  // py: opt.param_groups[0]["lr"]
  gives(opt.lr(0), "0.0001");
  // py: opt.add_param_group({"params": head.parameters()})
  opt.add_group({head.parameters()});
  CHECK(opt.groups() == 2);
  // py: torch.optim.swa_utils.AveragedModel(model, decay 0.999)
  // note: `{ const optim::EMA::Use averages(ema); ... }` to evaluate
  optim::EMA ema(model.parameters(), 0.999);
  ema.update();
  CHECK(ema.updates() == 1);
  // [/optim]
}

TEST_CASE("from PyTorch: schedules") {
  using namespace gradus;
  const nn::Linear model(2, 1);
  optim::SGD opt(model.parameters(), {.lr = 1.0});
  // [schedules]
  // py: scheduler.step()
  // here: not here: a rate may be a function of the step, which the optimizer counts from 1
  // py: LinearLR(opt, ...) as warm-up
  opt.set_lr(optim::warmup_linear(3e-4, 400));
  CHECK(opt.lr() == doctest::Approx(3e-4 / 400));
  // py: CosineAnnealingLR(opt, 5000), warm-up in front
  opt.set_lr(optim::warmup_cosine(1e-3, 100, 5000));
  CHECK(opt.schedule()(100) == doctest::Approx(1e-3));
  // py: LambdaLR(opt, lambda step: 0.99 ** step)
  // note: ExponentialLR too; the rate itself, not a factor
  opt.set_lr([](std::int64_t step) { return std::pow(0.99, step - 1); });
  CHECK(opt.schedule()(3) == doctest::Approx(0.9801));
  // py: StepLR(opt, 30, gamma=0.1)
  opt.set_lr([](std::int64_t step) { return std::pow(0.1, (step - 1) / 30); });
  CHECK(opt.schedule()(31) == doctest::Approx(0.1));
  // py: ReduceLROnPlateau(opt, factor=0.5, patience=0)
  // note: `plateau.step(validation_loss);` once per epoch
  opt.set_lr(1);
  optim::ReduceLROnPlateau plateau(opt, {.factor = 0.5, .patience = 0});
  plateau.step(1.0);
  plateau.step(2.0);
  CHECK(opt.lr() == 0.5);
  // [/schedules]
}

TEST_CASE("from PyTorch: saving") {
  using namespace gradus;
  const test::ScratchFolder folder;
  const std::string file = folder / "model.safetensors", npy = folder / "x.npy", run = folder / "run";
  const nn::Linear model(2, 1), other(2, 1);
  optim::Adam opt(model.parameters(), {.lr = 1e-3});
  const Tensor x = tensor({1.0, 2.0});
  model(x).sum().backward();
  opt.step();
  // [saving]
  // py: sd = model.state_dict()
  // note: shares the weights; to keep them `.clone()`
  const StateDict sd = model.state_dict();
  CHECK(sd.size() == 2);
  // py: sd["weight"].shape
  gives(sd.at("weight").shape(), "[1, 2]");
  // py: torch.save(model.state_dict(), file)
  // note: safetensors, which Python reads too; no pickle
  save_safetensors(file, model.state_dict());
  CHECK(load_safetensors(file).size() == 2);
  // py: model.load_state_dict(torch.load(file))
  other.load_state_dict(load_safetensors(file));
  CHECK(allclose(other(x), model(x)));
  // py: model.load_state_dict(sd, strict=False)
  // note: returns the missing and unexpected keys
  other.load_state_dict(sd, {.strict = false});
  CHECK(allclose(other(x), model(x)));
  // py: opt.state_dict()
  const StateDict momenta = opt.state_dict();
  CHECK(momenta.contains("steps"));
  // py: opt.load_state_dict(d)
  opt.load_state_dict(momenta);
  CHECK(opt.steps() == 1);
  // py: torch.save({"model": ..., "opt": ...}, file)
  // note: a folder that always holds a whole one
  StateDict all;
  all.add_all("model.", sd);
  all.add_all("opt.", momenta);
  save_checkpoint(run, all);
  CHECK(list_checkpoints(run).size() == 1);
  // py: d = torch.load(file); model.load_state_dict(d["model"])
  const Checkpoint last = load_checkpoint(run);
  model.load_state_dict(last.tensors.with_prefix_removed("model."));
  CHECK(last.tensors.contains("opt.steps"));
  // py: np.save(path, x.numpy())
  save_npy(npy, x);
  CHECK(allclose(load_npy(npy), x));
  // py: torch.from_numpy(np.load(path))
  const Tensor loaded = load_npy(npy);
  gives(loaded, "[1., 2.]");
  // [/saving]
}

TEST_CASE("from PyTorch: data") {
  using namespace gradus;
  const Tensor x = arange(10.0).reshape({10, 1}), y = x * 2;
  bool right = true;
  // [data]
  // py: TensorDataset(x, y), DataLoader(data, batch_size=4, shuffle=True)
  // here: the next three rows, in a loop
  // py: one shuffled epoch
  // note: the last batch is smaller; drop_last: `batches.pop_back()`
  const std::vector<Tensor> batches = split(randperm(x.size(0)), 4);
  CHECK(batches.size() == 3);
  CHECK(batches[2].numel() == 2);
  // py: for xb, yb in loader:
  for (const Tensor& batch : batches) {
    const Tensor xb = x[batch], yb = y[batch];
    right = right && (yb == xb * 2).all();
  }
  CHECK(right);
  // py: random_split(data, [8, 2])
  const auto parts = split(randperm(x.size(0)), {8, 2});
  CHECK(x[parts[1]].size(0) == 2);
  // py: default_collate([a, b])
  gives(stack({x[0], x[1]}), "[[0.], [1.]]");
  // py: pad_sequence([a, b], batch_first=True)
  gives(stack({x.flatten().slice(0, 0, 3), pad(x.flatten().slice(0, 3, 5), {0, 1})}),
        "[[0., 1., 2.], [3., 4., 0.]]");
  // py: torchvision, torchtext, num_workers
  // here: not here
  // [/data]
}

TEST_CASE("from PyTorch: loops") {
  using namespace gradus;
  const nn::Linear model(1, 1);
  optim::SGD opt(model.parameters(), {.lr = 0.1});
  const Tensor x = randn({16, 1}), y = 3 * x;
  double total = 0;
  // [loops]
  // py: for epoch in range(100): opt.zero_grad(); loss.backward(); opt.step()
  for (int epoch = 0; epoch < 100; ++epoch) {
    const Tensor loss = mse_loss(model(x), y);
    opt.zero_grad();
    loss.backward();
    opt.step();
    total += loss.item();
  }
  CHECK(total > 0);
  CHECK(mse_loss(model(x), y).item() < 1e-2);
  // py: model.eval(); with torch.no_grad(): loss = f(model(x), y)
  {
    const nn::EvalMode eval(model);
    const NoGrad no_grad;
    total = mse_loss(model(x), y).item();
  }
  CHECK(model.is_training());
  // py: accumulation: (loss / 2).backward() twice, then opt.step()
  opt.zero_grad();
  for (const Tensor& part : split(arange(16), 8)) (mse_loss(model(x[part]), y[part]) / 2).backward();
  opt.step();
  CHECK(opt.steps() == 101);
  // py: freezing: for p in model.parameters(): p.requires_grad = False
  model.requires_grad_(false);
  CHECK(!model(x).requires_grad());
  // py: best = copy.deepcopy(model.state_dict())
  const StateDict best = model.state_dict().clone();
  CHECK(best.size() == 2);
  // py: if torch.isnan(loss): stop
  gives(mse_loss(model(x), y).isnan().item<bool>(), "False");
  // [/loops]
}

}  // namespace
