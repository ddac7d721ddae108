// Rows of docs/from_pytorch.md: a comment with the PyTorch call, and the line it becomes.

#include <doctest/doctest.h>

#include <cmath>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "docs/from_pytorch/gives.h"
#include "gradus/gradus.h"

namespace {

using docs::gives;

TEST_CASE("from PyTorch: modules") {
  using namespace gradus;
  // [net]
  struct Net : nn::Module {
    nn::Linear fc1 = add("fc1", nn::Linear(2, 16));
    nn::Linear fc2 = add("fc2", nn::Linear(16, 1));
    nn::Parameter scale = parameter("scale", ones({1}));
    nn::Buffer seen = buffer("seen", zeros({1}));
    std::vector<nn::Linear> more = add_list("more", 2, [](int) { return nn::Linear(16, 16); });
    Tensor operator()(const Tensor& x) const { return fc2(tanh(fc1(x))) * scale; }
  };
  // [/net]
  const Net model;
  const Tensor x = randn({5, 2});
  const nn::Sequential net(nn::Linear(2, 4), tanh);
  std::string names;
  std::ostringstream out;
  // [modules]
  // py: self.fc1 = nn.Linear(2, 16)
  // here: as `fc1`
  // py: self.scale = nn.Parameter(torch.ones(1))
  // here: as `scale`
  // py: self.register_buffer("seen", torch.zeros(1))
  // here: as `seen`
  // py: nn.ModuleList([nn.Linear(16, 16) for _ in range(2)])
  // here: as `more`
  // py: def forward(self, x):
  // here: `Tensor operator()(const Tensor& x) const`
  // py: model(x).shape
  gives(model(x).shape(), "[5, 1]");
  // py: model.parameters(), model.named_parameters()
  // note: `named_parameters()` gives pairs of name and tensor
  const TensorList parameters = model.parameters();
  CHECK(parameters.size() == 9);
  CHECK(model.named_parameters()[0].first == "scale");
  // py: for name, module in model.named_modules():
  for (const auto& [name, module] : model.named_modules()) names += name + " ";
  CHECK(names == " fc1 fc2 more more.0 more.1 ");
  // py: sum(p.numel() for p in model.parameters())
  gives(model.num_parameters(), "610");
  // py: model.fc1.weight.shape
  gives(model.fc1.weight.shape(), "[16, 2]");
  // py: dict(model.named_parameters())["fc1.weight"].shape
  gives(model.parameter("fc1.weight").shape(), "[16, 2]");
  // py: net[0].weight.shape
  // note: in a Sequential, parts have numbers
  gives(net.parameter("0.weight").shape(), "[4, 2]");
  // py: self.seen.copy_(x.mean())
  // note: a buffer is written without a tape, also in operator()
  {
    const NoGrad guard;
    model.seen.copy_(x.mean());
  }
  CHECK(model.seen.item() == x.mean().item());
  // py: self.training
  // note: in operator(): `if (is_training())`
  gives(model.is_training(), "True");
  // py: model.train()
  model.train();
  CHECK(model.is_training());
  // py: model.eval()
  // note: for a scope `const nn::EvalMode guard(model);`; it does not turn off gradients: `NoGrad`
  model.eval();
  CHECK(!model.is_training());
  // py: model.zero_grad()
  model.zero_grad();
  CHECK(!model.fc1.weight.grad().defined());
  // py: model.requires_grad_(False)
  // note: one layer: `model.fc1.requires_grad_(false);`
  model.requires_grad_(false);
  CHECK(!model.fc1.weight.requires_grad());
  // py: model.apply(f)
  model.apply([](const nn::Module& m) {
    if (m.kind() == "Linear") nn::init::zeros_(m.parameter("bias"));
  });
  CHECK(!model.fc1.bias.any());
  // py: nn.init.xavier_uniform_(layer.weight)
  // note: also normal_, uniform_, constant_, zeros_, ones_, trunc_normal_, kaiming_normal_, ...
  nn::init::xavier_uniform_(model.fc1.weight);
  CHECK(model.fc1.weight.abs().max().item() <= std::sqrt(6.0 / 18));
  // py: nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
  nn::init::kaiming_normal_(model.fc1.weight, {.nonlinearity = nn::init::Nonlinearity::relu});
  CHECK(model.fc1.weight.isfinite().all());
  // py: copy.deepcopy(model)
  // note: a second model from the same arguments (of a GPT `nn::GPT copy(gpt.options());`) takes the parameters and saved buffers, not the mode, frozen flags or other buffers. There is no `clone()`: Module does not know a struct's members, and they are handles, so that `Net b = model;` shares all
  const Net copy;
  copy.copy_parameters_from(model);
  CHECK(allclose(copy(x), model(x)));
  // py: print(model)
  // note: `std::cout << model`; as text: `summary(model)`
  out << model;
  CHECK(out.str().find("fc1") != std::string::npos);
  // py: torchinfo.summary(model, input_data=x)
  const std::string shapes = summary(model, x);
  CHECK(shapes.find("fc1") != std::string::npos);
  // py: fc.register_forward_hook(f)
  // note: until the handle is destroyed
  const auto hook = model.fc1.on_forward([](const nn::Module&, const Tensor& y) { std::cout << y; });
  // py: model.to(device), nn.DataParallel
  // here: not here: everything runs on the CPU, on all its cores
  // py: DistributedDataParallel(model), torchrun
  // here: with MPI, `distributed::DataParallel`: [many machines](many_machines.md#a-program); the same bits on any number of ranks
  // py: ZeroRedundancyOptimizer, torch.distributed.pipelining
  // here: `distributed::Sharded<optim::AdamW>`, `distributed::Pipeline`: [many machines](many_machines.md)
  // [/modules]
}

TEST_CASE("from PyTorch: layers") {
  using namespace gradus;
  const Tensor x = randn({2, 5, 8}), image = randn({2, 3, 8, 8}), signal = randn({2, 8, 10});
  const Tensor ids = tensor({{1, 0}, {3, 2}});
  const Tensor hidden = arange(5) > arange(5).unsqueeze(1), padding = arange(5).expand({2, 5}) > 3;
  // [layers]
  // py: nn.Linear(8, 4)(x).shape
  gives(nn::Linear(8, 4)(x).shape(), "[2, 5, 4]");
  // py: nn.Linear(8, 4, bias=False)(x).shape
  gives(nn::Linear(8, 4, {.bias = false})(x).shape(), "[2, 5, 4]");
  // py: nn.Embedding(10, 6)(ids).shape
  gives(nn::Embedding(10, 6)(ids).shape(), "[2, 2, 6]");
  // py: nn.Embedding(10, 6, padding_idx=0)(ids)[0, 1]
  gives(nn::Embedding(10, 6, {.padding_idx = 0})(ids)[0][1], "[0., 0., 0., 0., 0., 0.]");
  // py: nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 1))(x).shape
  gives(nn::Sequential(nn::Linear(8, 4), nn::ReLU(), nn::Linear(4, 1))(x).shape(), "[2, 5, 1]");
  // py: nn.Sequential(nn.Linear(8, 4), nn.Tanh())(x).shape
  // note: ops are passed by name; any function of a tensor is a step
  gives(nn::Sequential(nn::Linear(8, 4), tanh)(x).shape(), "[2, 5, 4]");
  // py: nn.GELU()(x).shape
  // note: also ReLU, SiLU, Tanh, Sigmoid; the functions are shorter
  gives(nn::GELU()(x).shape(), "[2, 5, 8]");
  // py: nn.LeakyReLU(0.2)(x).shape
  gives(leaky_relu(x, 0.2).shape(), "[2, 5, 8]");
  // py: nn.Softmax(dim=-1)(x).shape
  gives(softmax(x, -1).shape(), "[2, 5, 8]");
  // py: nn.Dropout(0.1)(x).shape
  gives(nn::Dropout(0.1)(x).shape(), "[2, 5, 8]");
  // py: nn.Flatten()(image).shape
  gives(nn::Flatten()(image).shape(), "[2, 192]");
  // py: nn.Identity()(x).shape
  gives(nn::Identity()(x).shape(), "[2, 5, 8]");
  // py: nn.LayerNorm(8, eps=1e-6)(x).shape
  // note: over the last axis
  gives(nn::LayerNorm(8, {.eps = 1e-6})(x).shape(), "[2, 5, 8]");
  // py: nn.RMSNorm(8)(x).shape
  gives(nn::RMSNorm(8)(x).shape(), "[2, 5, 8]");
  // py: nn.BatchNorm1d(8)(signal).shape
  // note: the same for 1d and 2d; works for channels whose variance overflows, where PyTorch gives 0
  gives(nn::BatchNorm(8)(signal).shape(), "[2, 8, 10]");
  // py: nn.BatchNorm2d(3)(image).shape
  gives(nn::BatchNorm(3)(image).shape(), "[2, 3, 8, 8]");
  // py: nn.GroupNorm(4, 8)(signal).shape
  gives(nn::GroupNorm(4, 8)(signal).shape(), "[2, 8, 10]");
  // py: nn.Conv1d(8, 16, 3, padding=1)(signal).shape
  // note: neither dilation nor groups
  gives(nn::Conv1d(8, 16, 3, {.padding = 1})(signal).shape(), "[2, 16, 10]");
  // py: nn.Conv2d(3, 16, 5, stride=2)(image).shape
  gives(nn::Conv2d(3, 16, 5, {.stride = 2})(image).shape(), "[2, 16, 2, 2]");
  // py: nn.Conv2d(3, 16, (3, 5))(image).shape
  gives(nn::Conv2d(3, 16, {3, 5})(image).shape(), "[2, 16, 6, 4]");
  // py: nn.MaxPool2d(2)(image).shape
  gives(nn::MaxPool2d(2)(image).shape(), "[2, 3, 4, 4]");
  // py: nn.MaxPool1d(3, stride=1)(signal).shape
  gives(nn::MaxPool1d(3, {.stride = 1})(signal).shape(), "[2, 8, 8]");
  // py: nn.AvgPool2d(2)(image).shape
  gives(nn::AvgPool2d(2)(image).shape(), "[2, 3, 4, 4]");
  // py: nn.AdaptiveAvgPool2d(1)(image).flatten(1).shape
  gives(image.mean({-2, -1}).shape(), "[2, 3]");
  // py: y, h = nn.GRU(8, 16, batch_first=True)(x)
  // note: batch first, always
  const auto [y, h] = nn::GRU({.input_size = 8, .hidden_size = 16})(x);
  gives(y.shape(), "[2, 5, 16]");
  gives(h.shape(), "[1, 2, 16]");
  // py: y, (h, c) = nn.LSTM(8, 16, 2, batch_first=True)(x)
  // note: `state.h`, `state.c`
  const auto [out, state] = nn::LSTM({.input_size = 8, .hidden_size = 16, .layers = 2})(x);
  gives(out.shape(), "[2, 5, 16]");
  gives(state.c.shape(), "[2, 2, 16]");
  // py: bidirectional=True, nn.ConvTranspose2d, nn.Bilinear
  // here: not here
  // py: nn.MultiheadAttention(8, 2, batch_first=True)(x, x, x)[0].shape
  // note: `attn(x, memory)` for cross-attention; weights: `with_weights`
  gives(nn::MultiheadAttention({.d_model = 8, .heads = 2})(x).shape(), "[2, 5, 8]");
  // py: nn.MultiheadAttention(8, 2, batch_first=True)(x, x, x, attn_mask=hidden)[0].shape
  // note: bool: true where the query may see the key, the inverse of attn_mask; floats: `.score_bias`
  gives(nn::MultiheadAttention({.d_model = 8, .heads = 2})(x, {.visible = !hidden}).shape(), "[2, 5, 8]");
  // py: nn.TransformerEncoderLayer(8, 2, norm_first=True, batch_first=True)(x).shape
  // note: `norm_first=False` is `nn::PostLNBlock`; keys are the same
  gives(nn::PreLNBlock({.d_model = 8, .heads = 2})(x).shape(), "[2, 5, 8]");
  // py: nn.TransformerEncoder(layer, 3)(x).shape
  // note: PyTorch's default, norm_first=False: `.placement = nn::post_ln()`
  gives(nn::TransformerEncoder({.layers = 3, .block = {.d_model = 8, .heads = 2}})(x).shape(), "[2, 5, 8]");
  // py: nn.TransformerEncoder(layer, 3)(x, mask=hidden, src_key_padding_mask=padding).shape
  // note: `encoder(x, masks)`; `padding` is true where there is padding, as there; `visible` is the inverse of mask
  const nn::AttentionMasks masks{.key_padding_mask = padding, .visible = !hidden};
  gives(nn::TransformerEncoder({.layers = 1, .block = {.d_model = 8, .heads = 2}})(x, masks).shape(),
        "[2, 5, 8]");
  // py: nn.TransformerDecoder(layer, 3)(x, memory, tgt_mask=causal_mask).shape
  // note: causal by default; `.block = {..., .causal = false}` without tgt_mask
  gives(nn::TransformerDecoder({.layers = 3, .block = {.d_model = 8, .heads = 2}})(x, x).shape(),
        "[2, 5, 8]");
  // [/layers]
  const auto keys = [](const nn::TransformerOptions& options) {
    return nn::TransformerEncoder(options).state_dict();
  };
  CHECK(keys({.layers = 2, .block = {.d_model = 8, .heads = 2}}).contains("norm.weight"));
  CHECK(!keys({.layers = 2, .placement = nn::post_ln(), .block = {.d_model = 8, .heads = 2}})
             .contains("norm.weight"));
  CHECK(
      !keys({.layers = 2, .block = {.d_model = 8, .heads = 2}, .final_norm = false}).contains("norm.weight"));
  const nn::TransformerDecoder decoder({.layers = 1, .block = {.d_model = 8, .heads = 2}});
  const nn::TransformerDecoder open({.layers = 1, .block = {.d_model = 8, .heads = 2, .causal = false}});
  open.copy_parameters_from(decoder);
  const Tensor later = x.clone();
  later.select(1, -1) = 0;  // another last token, which the first must not see
  CHECK(allclose(decoder(later, x).select(1, 0), decoder(x, x).select(1, 0)));
  CHECK(!allclose(open(later, x).select(1, 0), open(x, x).select(1, 0)));
}

TEST_CASE("from PyTorch: functional") {
  using namespace gradus;
  const Tensor x = tensor({{1.0, 2.0, 3.0}, {0.0, -1.0, 1.0}}),
               w = tensor({{1.0, 0.0, 1.0}, {0.0, 1.0, 0.0}});
  const Tensor b = tensor({0.5, -0.5}), q = arange(12.0).reshape({1, 1, 4, 3}) / 12, ids = tensor({1, 0});
  // [functional]
  // py: F.relu(x)
  gives(relu(x), "[[1., 2., 3.], [0., 0., 1.]]");
  // py: F.gelu(x)
  gives(gelu(x), "[[0.8413, 1.9545, 2.9960], [0.0000, -0.1587, 0.8413]]");
  // py: F.silu(x)
  gives(silu(x), "[[0.7311, 1.7616, 2.8577], [0.0000, -0.2689, 0.7311]]");
  // py: F.leaky_relu(x, 0.1)
  gives(leaky_relu(x, 0.1), "[[1.0000, 2.0000, 3.0000], [0.0000, -0.1000, 1.0000]]");
  // py: F.softplus(x)
  gives(softplus(x), "[[1.3133, 2.1269, 3.0486], [0.6931, 0.3133, 1.3133]]");
  // py: F.elu(x)
  gives(where(x > 0, x, expm1(x.clamp({}, 0))), "[[1.0000, 2.0000, 3.0000], [0.0000, -0.6321, 1.0000]]");
  // py: F.logsigmoid(x)
  gives(-softplus(-x), "[[-0.3133, -0.1269, -0.0486], [-0.6931, -1.3133, -0.3133]]");
  // py: F.softmax(x, dim=-1)
  // note: the axis has no default
  gives(softmax(x, -1), "[[0.0900, 0.2447, 0.6652], [0.2447, 0.0900, 0.6652]]");
  // py: F.log_softmax(x, dim=-1)
  gives(log_softmax(x, -1), "[[-2.4076, -1.4076, -0.4076], [-1.4076, -2.4076, -0.4076]]");
  // py: F.linear(x, w, b)
  gives(linear(x, w, b), "[[4.5000, 1.5000], [1.5000, -1.5000]]");
  // py: F.embedding(ids, w)
  gives(embedding(ids, w), "[[0., 1., 0.], [1., 0., 1.]]");
  // py: F.layer_norm(x, (3,))
  // note: works for rows whose squares overflow, where PyTorch gives NaN
  gives(layer_norm(x), "[[-1.2247, 0.0000, 1.2247], [0.0000, -1.2247, 1.2247]]");
  // py: F.normalize(x, dim=-1)
  gives(normalize(x, 2, -1), "[[0.2673, 0.5345, 0.8018], [0.0000, -0.7071, 0.7071]]");
  // py: F.cosine_similarity(x, w)
  gives(cosine_similarity(x, w, 1), "[0.7559, -0.7071]");
  // py: F.dropout(x, 0.5, training=False)
  gives(dropout(x, 0.5, false), "[[1., 2., 3.], [0., -1., 1.]]");
  // py: F.scaled_dot_product_attention(q, q, q, is_causal=True).shape
  // note: also `.mask`, as attn_mask there (opposite to MultiheadAttention's): true where the query may see the key
  gives(scaled_dot_product_attention(q, q, q, {.causal = true}).shape(), "[1, 1, 4, 3]");
  // [/functional]
  const Tensor far = tensor({100.0, -1.0}).requires_grad_();
  where(far > 0, far, expm1(far.clamp({}, 0))).sum().backward();
  CHECK(allclose(far.grad(), tensor({1.0, 0.36787944})));  // torch 1.13: F.elu
}

}  // namespace
