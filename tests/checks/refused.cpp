// What the compiler must refuse, with what it must say: every line below that is marked `refused: TEXT` is an
// error whose message holds TEXT, and no other line is one (refused.sh compiles this file).

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

void temporaries(const Tensor& x) {
  auto a = ones({3}).span<float>();        // refused: name the tensor first
  auto b = (x * 2).mutable_span<float>();  // refused: name the tensor first
  auto c = x.span<int>();                  // refused: see to_vector
  auto d = (x * 2).array().data<float>();  // refused: name the array first
  auto good = x.span<float>();
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
  data::DataLoader a(3, [](std::int64_t i) { return i; });      // refused: returns a Tensor, or a std::array
  data::DataLoader b(3, [](const char*) { return Tensor(); });  // refused: a count and a function of an index
  data::DataLoader c(x, y, {.batch_size = 2});                  // refused: deduction
  data::DataLoader<3> d(3, [&](std::int64_t) { return x; });    // refused: returns N tensors
  data::DataLoader e({x, y});
  data::DataLoader f = e;  // refused: delete
}

// What newcomers meet: docs/from_pytorch.md quotes these regions. The lines after the refused ones are the
// cure.
void newcomers(const nn::Linear& model, const Tensor& a, const Tensor& b, const Tensor& mask) {
  // [condition]
  if (a == b) return;  // refused: bool
  if ((a == b).all()) return;
  // [/condition]
  // [options]
  optim::Adam opt(model, 1e-3);  // refused: no matching
  optim::Adam adam(model.parameters(), {.lr = 1e-3});
  nn::Linear biasless(4, 4, false);  // refused: no matching
  nn::Linear linear(4, 4, {.bias = false});
  // [/options]
  // [order]
  optim::AdamW late(model.parameters(), {.weight_decay = 0.1, .lr = 1e-3});  // refused: declaration order
  optim::AdamW right(model.parameters(), {.lr = 1e-3, .weight_decay = 0.1});
  // [/order]
  // [shape]
  Tensor x = zeros(3, 4);  // refused: Shape
  Tensor y = zeros({3, 4});
  // [/shape]
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
nn::Sequential counting{Counting()};  // refused: a step of Sequential is called by

struct Doubling : nn::Module {
  Tensor operator()(const Tensor& x) const { return x * 2; }
};
nn::Sequential doubling{Doubling()};
// [/const_call]
// [const_norm]
nn::Norm norm = Counting();  // refused: the module needs an operator() const
// [/const_norm]
