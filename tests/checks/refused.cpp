// What the compiler must refuse, with what it must say: every line below that is marked `refused: TEXT` is an
// error whose message holds TEXT, and no other line is one (refused.sh compiles this file).

#include <iostream>

#include "gradus/gradus.h"

using namespace gradus;

void guards(const nn::Linear& layer) {
  NoGrad();             // refused: give it a name: it works until the end of its scope
  EnableGrad();         // refused: give it a name
  DetectAnomaly();      // refused: give it a name
  SingleThread();       // refused: give it a name
  Scope(layer.path());  // refused: give it a name
  Profile();            // refused: give it a name
  DefaultDType{f64};    // refused: give it a name
  const NoGrad good;
}

void messages(const Tensor& x) {
  check(x.dim() == 2, "expects [B, C], got {}");        // refused: the message needs one {} for each
  check(x.dim() == 2, "expects [B, C], got {}", 1, 2);  // refused: the message needs one {} for each
  fail_with("{} {}", x.shape());                        // refused: the message needs one {} for each
  check(x.dim() == 2, "expects [B, C], got {}", x.shape());
}

void temporaries(const Tensor& x) {
  auto a = ones({3}).span<float>();        // refused: name the tensor first
  auto b = (x * 2).mutable_span<float>();  // refused: name the tensor first
  auto c = x.span<int>();                  // refused: see to_vector
  auto d = (x * 2).array().data<float>();  // refused: name the array first
  auto good = x.span<float>();
}

void temporary_lists(const nn::Linear& layer, const Tensor& x) {
  auto& [b, c] = layer.named_parameters()[0];  // refused: lvalue reference
  Tensor& d = grad(x, {x})[0];                 // refused: lvalue reference
  auto f = unbind(x).end();                    // refused: NAME_THE_LIST_FIRST
  auto g = unbind(x).data();                   // refused: NAME_THE_LIST_FIRST
  auto h = layer.state_dict().begin();         // refused: name the StateDict first
  const auto& [name, values] = layer.named_parameters()[0];
  (void)values;
}

void lists(const nn::Linear& model, bool frozen) {
  // [lists]
  auto& w = model.parameters()[0];  // refused: lvalue reference
  const Tensor& weight = model.parameters()[0];
  auto first = model.parameters().begin();  // refused: NAME_THE_LIST_FIRST
  const TensorList parameters = model.parameters();
  auto begin = parameters.begin();
  for (Tensor& p : model.parameters()) p = zeros_like(p);  // refused: const
  for (const Tensor& p : model.parameters()) p.zero_();
  auto some = frozen ? model.parameters() : std::vector<Tensor>{};  // refused: operand
  auto chosen = frozen ? model.parameters() : TensorList{};
  // [/lists]
}

void habits(const Tensor& x, const Tensor& y) {
  (void)x.sum(true);       // refused: keepdim comes second: x.sum(-1, true)
  (void)x.sum(1.5);        // refused: axes are integers
  (void)x.var(-1, false);  // refused: say which: x.var(-1, {.unbiased = false})
  (void)x[1.5];            // refused: integer
  (void)x.argmax(true);    // refused: the axis is an integer
  (void)from_vector(std::vector<std::string>{"a"}, {1});  // refused: of float, double, bool or integers
  x.on_grad([](const Array& dx) { return dx.numel(); });  // refused: a hook gets the gradient, and returns
  if (x == y) return;                                     // refused: bool
  x.backward({.create_graph = true});                     // refused: {x}, {.create_graph = true}
  x.backward(true, true);                                 // refused: {x}, {.create_graph = true}
  x.backward(y, true, true);                              // refused: {x}, {.create_graph = true}
  grad(x, {y}, {.create_graph = true})[0].backward(y, true);
  grad(x, y);                              // refused: in braces: grad(y, {x})
  hvp([&] { return x; }, y, y);            // refused: in braces: hvp(f, {x}, {v})
  hvp([&] { return x; }, {y}, {y}, 1e-3);  // refused: products are exact: without eps
  jacobian([&] { return x; }, y);          // refused: in braces: jacobian(f, {x})
  hessian([&] { return x; }, y);           // refused: in braces: hessian(f, {x})
  vjp([&] { return x; }, y, y);            // refused: in braces: vjp(f, {x}, {v})
  jvp([&] { return x; }, {y}, y);          // refused: jvp(f, {x}, {v})
  sharpness([&] { return x; }, y);         // refused: in braces: sharpness(f, {x})
  hvp([&] { return x; }, {y}, {y});
  jacobian([&] { return x; }, {y});
}

void gradients(const Tensor& loss, const nn::Linear& model, const Tensor& w, const Tensor& b,
               const Tensor& v) {
  // [gradients]
  auto [dw, db] = grad(loss, {w, b});       // refused: decomposes into
  const TensorList d = grad(loss, {w, b});  // d[0], d[1]
  grad(loss, {w}, true);                    // refused: {.create_graph = true}
  grad(loss, {w}, {.create_graph = true});
  grad(loss, {w}, v);  // refused: {.grad_output = v}
  grad(loss, {w}, {.grad_output = v});
  sharpness(loss, model.parameters());  // refused: a function: [&] { return model.loss(x, y); }
  sharpness([&] { return model(v).sum(); }, model.parameters());
  // [/gradients]
}

void habits_of_numbers(Tensor x, const nn::Linear& model) {
  (void)ones(3, 4, 5);                      // refused: ones({3, 4})
  (void)full(3, 4, 7.0);                    // refused: full({3, 4}, 7.0)
  (void)empty(3, 4);                        // refused: empty({3, 4})
  (void)rand(3, 4);                         // refused: rand({3, 4})
  (void)randn(3, 4);                        // refused: randn({3, 4})
  (void)randn(3);                           // refused: a shape goes in braces
  (void)x.view(3, 4);                       // refused: x.view({3, 4})
  (void)x.reshape(12);                      // refused: x.reshape({3, 4})
  (void)x.permute(1, 0);                    // refused: x.permute({2, 0, 1})
  (void)x.expand(2, -1);                    // refused: x.expand({2, -1})
  (void)x.repeat(2, 3);                     // refused: x.repeat({2, 3})
  (void)Tensor(5.0);                        // refused: tensor(5.0)
  (void)(1 <= x);                           // refused: x >= 0; between
  (void)(1 > x);                            // refused: x < 0
  (void)(1 >= x);                           // refused: x <= 0
  (void)min(x, x);                          // refused: minimum(a, b)
  nn::GRU gru({8, 16});                     // refused: by name: {.input_size = 8, .hidden_size = 16}
  nn::LSTM listed({8, 16});                 // refused: by name: {.input_size = 8, .hidden_size = 16}
  nn::LSTM lstm(8, 16, 2);                  // refused: nn::LSTM({.input_size = 8, .hidden_size = 16})
  nn::MultiheadAttention attention(64, 4);  // refused: {.d_model = 64, .heads = 4}
  optim::Adam halves(model.parameters(), {.lr = 1e-3, .betas = 0.9});  // refused: no matching
  optim::SGD sgd(model.parameters(), 0.1);                             // refused: {.lr = 1e-3}
  optim::AdamW adamw(model.parameters(), 0.1);                         // refused: {.lr = 1e-3}
  optim::RAdam radam(model.parameters(), 0.1);                         // refused: {.lr = 1e-3}
  optim::RMSprop rmsprop(model.parameters(), 0.1);                     // refused: {.lr = 1e-3}
  nn::Sequential steep(relu, leaky_relu);                              // refused: a step of Sequential needs
}

void picked(const Tensor& x, const Tensor& mask) {
  auto a = x[mask];
  a = x;                // refused: give it a type: Tensor y = x[mask]
  a = x[mask];          // refused: give it a type: Tensor y = x[mask]
  x[mask][0] = 1.0;     // refused: const gradus::
  x[mask][mask] = 1.0;  // refused: const gradus::
  Tensor good = x[mask];
  good = x[mask];
}

struct Net : nn::Module {
  nn::Linear fc = add("fc", nn::Linear(2, 3));
  Tensor scale = parameter("scale", ones({3}));  // refused: declare it as nn::Parameter
  nn::Parameter shift = parameter("shift", ones({3}));
};

void parts(Net& net, const Tensor& x) {
  net.fc.weight = x;            // refused: weight.copy_(x)
  net.fc.weight = net.fc.bias;  // refused: nn::Linear(other.weight)
  net.shift = x;                // refused: weight.copy_(x)
  net.fc = nn::Linear(2, 3);    // refused: build with the right part (emplace)
  nn::EvalMode{net};            // refused: nodiscard
}

void loaders(const Tensor& x, const Tensor& y) {
  data::DataLoader a(3, [](std::int64_t i) { return i; });      // refused: returns a Tensor, a std::array
  data::DataLoader b(3, [](const char*) { return Tensor(); });  // refused: a count and a function of an index
  data::DataLoader c(x, y, {.batch_size = 2});                  // refused: in braces: ({x, y})
  data::DataLoader<3> d(3, [&](std::int64_t) { return x; });    // refused: returns N tensors
  data::DataLoader e({x, y});
  data::DataLoader f = e;                         // refused: delete
  data::DataLoader g({x, y}, 32);                 // refused: options by name
  data::DataLoader h(std::vector<Tensor>{x, y});  // refused: the type needs their number
  data::DataLoader<2> i(x, {.batch_size = 2});    // refused: a DataLoader<N> takes N tensors
  struct Three {
    Tensor a, b, c;
  };
  data::DataLoader j(3, [&](std::int64_t) { return Three{x, x, x}; });  // refused: or a struct of two
  struct Two {
    Tensor a, b;
  };
  data::DataLoader two(3, [&](std::int64_t) { return Two{x, x}; });
  data::DataLoader k(unbind(x));  // refused: the type needs their number
  data::DataLoader alone(x, {.batch_size = 2}), braces({x}, {.batch_size = 2});
  const data::DataLoader still({x, y});
  for (const auto& batch : still) (void)batch;    // refused: a loop moves the loader's place
  const auto parts = data::random_split(x, 0.8);  // refused: random_split(x.size(0), 0.8)
}

void lists(const Tensor& x) {
  (void)cat(x, x);                  // refused: cat({a, b}, 0)
  (void)stack(x, x, 1);             // refused: stack({a, b}, 0)
  (void)einsum("ij,jk->ik", x, x);  // refused: {a, b}
  (void)einsum("ii", {x}), (void)cat({x}), (void)cat({x, x}, 1), (void)stack({x}, 0);
}

void steps_of_a_net() {
  nn::Sequential net(nn::Linear(2, 3), nn::Sequential(relu));
  (void)net[0];                                                         // refused: net.parameter("0.weight")
  nn::Sequential flat(softmax);                                         // refused: softmax
  nn::Sequential states{nn::GRU({.input_size = 2, .hidden_size = 3})};  // refused: gru(x).y
}

// What newcomers meet: docs/from_pytorch.md quotes these regions. The lines after the refused ones are the
// cure.
void newcomers(const nn::Linear& model, const Tensor& a, const Tensor& b, const Tensor& mask) {
  // [condition]
  if (a == b) return;  // refused: (a == b).all(); of one number
  if ((a == b).all()) return;
  Tensor both = (a > 0) && (b > 0);  // refused: (a == b).all(); of one number
  Tensor each = (a > 0) & (b > 0);
  Tensor between = 0 < a < 1;  // refused: between: (x > 0) & (x < 1)
  Tensor inside = (a > 0) & (a < 1);
  // [/condition]
  // [options]
  optim::Adam opt(model.parameters(), 1e-3);  // refused: (model.parameters(), {.lr = 1e-3})
  optim::Adam adam(model.parameters(), {.lr = 1e-3});
  nn::Linear biasless(4, 4, false);  // refused: nn::Linear(4, 4, {.bias = false})
  nn::Linear linear(4, 4, {.bias = false});
  nn::GRU layer(8, 16);  // refused: nn::GRU({.input_size = 8, .hidden_size = 16})
  nn::GRU gru({.input_size = 8, .hidden_size = 16});
  Tensor lost = cross_entropy(a, b, mask);  // refused: {.weight = weight}
  Tensor loss = cross_entropy(a, b, {.weight = mask});
  // [/options]
  // [order]
  optim::AdamW late(model.parameters(), {.weight_decay = 0.1, .lr = 1e-3});  // refused: declaration order
  optim::AdamW right(model.parameters(), {.lr = 1e-3, .weight_decay = 0.1});
  // [/order]
  // [misspelt]
  nn::GRU cell({.input_size = 8, .hidden = 16});              // refused: no matching
  nn::RecurrentOptions named{.input_size = 8, .hidden = 16};  // refused: hidden
  nn::GRU right_cell({.input_size = 8, .hidden_size = 16});
  data::DataLoader lost_batches({a, b}, {.batchsize = 32});  // refused: options by name
  data::DataLoader batches({a, b}, {.batch_size = 32});
  // [/misspelt]
  // [shape]
  Tensor x = zeros(3, 4);  // refused: zeros({3, 4})
  Tensor y = zeros({3, 4});
  Tensor u = y.reshape(2, -1);  // refused: x.reshape({3, 4})
  Tensor v = y.reshape({2, -1});
  // [/shape]
  // [index]
  Tensor second = x[0, 1];  // refused: comma
  Tensor element = x[0][1];
  Tensor neither = x[{0, 1}];  // refused: rows: x[tensor({0, 1})]
  Tensor rows = x[tensor({0, 1})];
  // [/index]
  // [number]
  x = 5;  // refused: x.fill_(5) writes; x = tensor(5)
  x.fill_(5);
  // [/number]
  // [habits]
  Tensor called = model.forward(x);  // refused: call the module: model(x)
  Tensor result = model(x);
  Tensor larger = max(a, b);  // refused: maximum(a, b)
  Tensor largest = maximum(a, b);
  for (Tensor row : x) row.zero_();  // refused: unbind(x)
  for (Tensor row : unbind(x)) row.zero_();
  auto [values, indices] = x.max(1);  // refused: x.max_with_indices(1)
  auto [maxima, places] = x.max_with_indices(1);
  std::cout << x.shape;  // refused: function
  std::cout << x.shape();
  // [/habits]
  // [picked]
  auto z = a[mask];
  z = b;  // refused: give it a type: Tensor y = x[mask]
  Tensor w = a[mask];
  w = b;
  // [/picked]
}

// [const_call]
struct Counting : nn::Module {
  Tensor operator()(const Tensor& x) { return x * 2; }
};
nn::Sequential counting{Counting()};  // refused: a step of Sequential needs

struct Doubling : nn::Module {
  Tensor operator()(const Tensor& x) const { return x * 2; }
};
nn::Sequential doubling{Doubling()};
// [/const_call]
// [const_norm]
nn::Norm norm = Counting();  // refused: the module needs an operator() const
// [/const_norm]
