// Rows of docs/from_pytorch.md: a comment with the PyTorch call, and the line it becomes.

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "docs/from_pytorch/gives.h"
#include "gradus/gradus.h"
#include "gradus/kit/chart/image.h"
#include "gradus/kit/chart/plot.h"
#include "gradus/kit/data/image_files.h"
#include "near.h"
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
  // note: in this order: .lr, .momentum, .dampening, .nesterov, .weight_decay
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
  // here: not here; maximize with `(-gain).backward()`
  // py: opt.zero_grad()
  opt.zero_grad();
  CHECK(!model.weight.grad().defined());
  // py: loss.backward(); opt.step()
  mse_loss(model(x), y).backward();
  opt.step();
  CHECK(opt.steps() == 1);
  // py: torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
  // note: between backward and step; `optim::grad_norm` only measures; if the square overflows or underflows a float, PyTorch gives inf or 0
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
  // py: AveragedModel(model, avg_fn=lambda a, p, n: 0.999 * a + 0.001 * p)
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
  CHECK(opt.lr() == test::near(3e-4 / 400));
  // py: CosineAnnealingLR(opt, 5000), warm-up in front
  opt.set_lr(optim::warmup_cosine(1e-3, 100, 5000));
  CHECK(opt.schedule()(100) == test::near(1e-3));
  // py: LambdaLR(opt, lambda step: 0.99 ** step)
  // note: ExponentialLR too; the rate itself, not a factor
  opt.set_lr([](std::int64_t step) { return std::pow(0.99, step - 1); });
  CHECK(opt.schedule()(3) == test::near(0.9801));
  // py: StepLR(opt, 30, gamma=0.1)
  opt.set_lr([](std::int64_t step) { return std::pow(0.1, (step - 1) / 30); });
  CHECK(opt.schedule()(31) == test::near(0.1));
  // py: ReduceLROnPlateau(opt, factor=0.5, patience=0)
  // note: `plateau.step(validation_loss);` once per epoch
  opt.set_lr(1);
  optim::ReduceLROnPlateau plateau(opt, {.factor = 0.5, .patience = 0});
  plateau.step(1.0);
  plateau.step(2.0);
  CHECK(opt.lr() == 0.5);
  // py: ReduceLROnPlateau(opt, mode="max")
  // note: for an accuracy
  optim::ReduceLROnPlateau rising(opt, {.maximize = true, .patience = 0});
  rising.step(0.9);
  rising.step(0.8);
  CHECK(opt.lr() == test::near(0.05));
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
  // note: the folder always contains a complete one
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
  const Tensor x = arange(10.0).reshape({10, 1}), y = x * 2, ids = arange(20);
  const Tensor logits = tensor({{0.0, 1.0}, {2.0, 0.0}}), target = tensor({1, 1});
  const auto read = [&](std::int64_t i) { return x[i]; };
  const auto length = [](std::int64_t i) { return i % 3 + 1; };
  bool right = true;
  const test::ScratchFolder folder;
  const std::string png = (folder / "x.png").string(), svg = (folder / "x.svg").string();
  kit::image(ones({3, 2, 2})).save(png);
  // [data]
  // py: loader = DataLoader(TensorDataset(x, y), batch_size=4, shuffle=True)
  // note: in this order: .batch_size, .max_tokens, .shuffle, .drop_last, .pad, .length, .bucket, .generator, .read_ahead
  data::DataLoader loader({x, y}, {.batch_size = 4, .shuffle = true});
  CHECK(loader.size() == 3);
  // py: for epoch in range(10): for xb, yb in loader: ...
  // note: `loader.epoch()` is the number of the current epoch; one left early counts, too
  while (loader.epoch() < 10)
    for (const auto& [xb, yb] : loader) right = right && (yb == xb * 2).all();
  CHECK(right);
  // py: xb, yb = next(it)
  // note: continues into the next epoch, for programs that count steps
  const auto [xb, yb] = loader.next();
  CHECK(xb.shape() == Shape{4, 1});
  // py: class Files(Dataset): __len__, __getitem__
  // note: a function of an index, which returns a Tensor or a std::array of them
  data::DataLoader files(10, [&](std::int64_t i) { return std::array{read(i), y[i]}; }, {.batch_size = 4});
  CHECK(files.size() == 3);
  // py: random augmentation in __getitem__
  // note: the same random numbers with read-ahead, and after a restart
  data::DataLoader noisy(10, [&](std::int64_t i) { return x[i] + randn({1}); }, {.batch_size = 4});
  CHECK(!equal(noisy.next()[0], x.slice(0, 0, 4)));
  // py: DataLoader(..., num_workers=4, prefetch_factor=2)
  // note: one thread, which shares the program's memory
  data::DataLoader ahead(10, read, {.batch_size = 4, .read_ahead = 2});
  CHECK(equal(ahead.next()[0], x.slice(0, 0, 4)));
  // py: collate_fn=lambda items: pad_sequence(items, batch_first=True, padding_value=-1)
  data::DataLoader padded(10, [&](std::int64_t i) { return ids.slice(0, 0, length(i)); },
                          {.batch_size = 2, .pad = {-1}});
  CHECK(equal(padded.next()[0], tensor({{0, -1}, {0, 1}})));
  // py: batch_sampler that puts like lengths together
  // note: `.max_tokens = 2000` instead of batch_size limits tokens
  data::DataLoader like({x}, {.batch_size = 2, .shuffle = true, .length = length});
  CHECK(like.size() == 5);
  // py: sampler=WeightedRandomSampler(weights, n)
  // here: not here; `data::DataLoader({x[multinomial(weights, n, true)]})` draws once: create a new loader for each epoch
  // py: StatefulDataLoader(...).state_dict()
  // note: restores the place in the epoch to the bit
  const StateDict place = loader.state_dict();
  loader.load_state_dict(place);
  CHECK(loader.epoch() == 10);
  // py: random_split(data, [0.8, 0.2])
  // note: indices: `x[train]`; also `{0.8, 0.1, 0.1}`, `{8, 2}`
  const auto [train, test] = data::random_split(x.size(0), 0.8);
  CHECK(x[test].size(0) == 2);
  // py: windows of a text, and the tokens after them
  // note: views: `data::DataLoader({inputs, targets})` copies a batch only
  const auto [inputs, targets] = data::text_windows(ids, 8);
  CHECK(equal(targets, inputs + 1));
  // py: default_collate([a, b])
  gives(stack({x[0], x[1]}), "[[0.], [1.]]");
  // py: torchmetrics accuracy(logits, target)
  // note: of one logit each: `data::accuracy(logits.squeeze(-1) > 0, target)`
  gives(data::accuracy(logits, target), "0.5");
  // py: sklearn.metrics.confusion_matrix(target, logits.argmax(-1))
  // note: rows are the truth, columns the predictions; mind the order of the arguments
  gives(data::confusion_matrix(logits, target, 2), "[[0, 0], [1, 1]]");
  // py: torchvision.io.read_image("cat.png") / 255
  // note: [C, H, W], f32 in [0, 1]; PNG, PPM and PGM, see [the kit](kit.md#images)
  const Tensor cat = kit::read_image(png);
  CHECK(equal(cat, ones({3, 2, 2})));
  // py: torchvision.datasets.MNIST("mnist", download=True)
  // here: `kit::read_idx_images` and `kit::read_idx_labels`; you [download the files](kit.md#images)
  // py: plt.imshow(cat.permute(1, 2, 0)); plt.savefig("cat.png")
  // note: [C, H, W] as it is; the range is `.low`, `.high` (vmin, vmax)
  kit::image(cat).save(png);
  // py: torchvision.utils.save_image(torch.stack([cat, cat]), "grid.png", nrow=2)
  // note: an .svg or .html can have a title and names
  kit::image(stack({cat, cat}), {.columns = 2}).save(png);
  // py: plt.imshow(matrix); plt.savefig("matrix.svg")
  kit::heat_map(cat[0], {.numbers = false}).save(svg);
  // py: transforms and models of torchvision; torchtext
  // here: not here
  // [/data]
  CHECK(data::accuracy(tensor({{2.0}, {-1.0}}).squeeze(-1) > 0, target) == 0.5);
  data::DataLoader left({x}, {.batch_size = 4});
  for (const auto& batch : left) {
    CHECK(batch[0].size(0) == 4);
    break;
  }
  for (const auto& batch : left) {
    CHECK(batch[0].size(0) == 4);
    break;
  }
  CHECK(left.epoch() == 1);
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
  gives(std::isnan(mse_loss(model(x), y).item()), "False");
  // [/loops]
}

}  // namespace
