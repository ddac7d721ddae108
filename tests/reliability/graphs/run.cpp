#include "reliability/graphs/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "gradus/core/error.h"
#include "gradus/core/tape/autocast.h"
#include "gradus/core/tape/grad.h"
#include "gradus/ops/checkpoint.h"
#include "gradus/ops/ops.h"

namespace gradus::test::graphs {

namespace {

constexpr double kSlack = 4;  // the bounds are of first order

bool is_within(double found, Scalar expected, double unit) {
  const ScalarTape::Entry& entry = tape()[expected];
  return std::abs(found - entry.value) <= kSlack * (entry.error + 1e-3 * unit);
}

/// Throws unless x has these numbers.
void compare_numbers(const std::string& what, const Tensor& x, const Shape& shape, DType dtype,
                     const std::vector<Scalar>& numbers) {
  if (x.shape() != shape || x.dtype() != dtype)
    throw Mismatch{fmt::format("{}: expects {} {}, got {} {}", what, name(dtype), to_string(shape),
                               name(x.dtype()), to_string(x.shape()))};
  const std::vector<double> found = x.to_vector<double>();
  for (std::size_t i = 0; i < found.size(); ++i)
    if (!is_within(found[i], numbers[i], rounding_of(dtype)))
      throw Mismatch{fmt::format("{}: element {} of {}: expects {} within {}, got {}", what, i,
                                 to_string(shape), value_of(numbers[i]), kSlack * tape()[numbers[i]].error,
                                 found[i])};
}

/// The message of what f throws, or "".
template <class F>
std::string error_of(F f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

void expect_error(const std::string& message, const Pass& pass, const char* what) {
  if (message.empty() && pass.must_fail)
    throw Mismatch{
        fmt::format("{}: expects an error (a changed or freed node, or a hook of arrays), got none", what)};
  if (!message.empty() && !pass.must_fail && !pass.may_fail)
    throw Mismatch{fmt::format("{}: unexpected error: {}", what, message)};
}

/// The gradients of these numbers, 0 where none arrives.
Line gradients_of(const Pass& pass, const std::vector<Scalar>& numbers) {
  Line gradients;
  for (const Scalar number : numbers) {
    const Scalar g = pass.gradients[sz(number.id)];
    gradients.push_back(g.id < 0 ? constant(0) : g);
  }
  return gradients;
}

/// For a gradient that is undefined.
void expect_zeros(const std::string& what, const Line& expected) {
  for (const Scalar g : expected)
    if (value_of(g) != 0) throw Mismatch{what + " is undefined, and should not be 0"};
}

Tensor from_doubles(const Shape& shape, DType dtype, const std::vector<double>& values) {
  return from_vector(values, shape).to(dtype);
}

double unit_of(const std::vector<Value>& inputs) {
  double unit = 0;
  for (const Value& x : inputs)
    if (x.floating()) unit = std::max(unit, rounding_of(x.dtype));
  return unit > 0 ? unit : rounding_of(default_dtype());
}

}  // namespace

std::vector<Value> Run::inputs_of(const Step& p) const {
  std::vector<Value> inputs;
  for (const Ref ref : p.inputs) inputs.push_back(naive_.at(ref));
  return inputs;
}

Tensors Run::tensors_of(const Step& p) const {
  Tensors xs;
  for (const Ref ref : p.inputs) xs.push_back(tensor(ref));
  return xs;
}

Run::Result Run::step(const Step& p) {
  const std::size_t size = tape().size();
  const std::size_t steps = tensors_.size();
  passed_ = false;
  try {
    switch (p.kind) {
      case Kind::leaf:
        return leaf(p);
      case Kind::op:
        return op(p);
      case Kind::write:
        return write(p);
      case Kind::backward:
      case Kind::gradient:
        return pass(p);
      default:
        return hook(p);
    }
  } catch (const Unstable&) {
    if (passed_) return Result::ended;
    tape().shrink(size);
    tensors_.resize(steps);
    naive_.values.resize(steps);
    return Result::unstable;
  }
}

Run::Result Run::leaf(const Step& p) {
  const Tensor x = from_doubles(p.shape, p.dtype, p.values);
  naive_.values.push_back({naive_.in_new_memory(p.shape, p.dtype, x.to_vector<double>())});
  tensors_.push_back({x});
  return Result::done;
}

Run::Result Run::op(const Step& p) {
  const std::vector<Value> inputs = inputs_of(p);
  const Tensors xs = tensors_of(p);
  Blocks blocks;
  for (const Value& x : inputs) blocks.push_back(naive_.read(x, !p.no_grad));
  tape().unit = unit_of(inputs);
  const Blocks expected = p.op->naive(p, blocks);
  for (const Block& block : expected)
    if (numel(block.shape) != static_cast<std::int64_t>(block.size()) || block.size() > 4000)
      throw Mismatch{fmt::format("{}: the interpreter made a block of {} numbers for {}", p.op->name,
                                 block.size(), to_string(block.shape))};
  Tensors ys;
  const std::string message = error_of([&] {
    std::optional<NoGrad> off;
    if (p.no_grad) off.emplace();
    const Autocast products(p.autocast ? bf16 : f32);
    if (p.checkpoint) {
      const auto again = [p](std::span<const Tensor> x) { return p.op->run(p, {x.begin(), x.end()})[0]; };
      ys = {checkpoint(CheckpointFunction(again), xs)};
    } else {
      ys = p.op->run(p, xs);
    }
  });
  if (!message.empty()) throw Mismatch{"unexpected error: " + message};
  if (ys.size() != expected.size())
    throw Mismatch{fmt::format("{}: expects {} results, got {}", p.op->name, expected.size(), ys.size())};
  for (std::size_t i = 0; i < ys.size(); ++i)
    compare_numbers(p.op->name, ys[i], expected[i].shape, expected[i].dtype, expected[i].numbers);
  adopt(p, inputs, expected, xs, ys);
  return Result::done;
}

/// The values that the library computed, which are right, with the interpreter's memory and tape.
void Run::adopt(const Step& p, const std::vector<Value>& inputs, const Blocks& expected, const Tensors& xs,
                const Tensors& ys) {
  bool wants_tape = false;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    wants_tape |= inputs[i].taped() && p.op->reads.find("c" + std::to_string(i)) == std::string::npos;
  wants_tape &= !p.no_grad;
  std::vector<Value> results;
  for (std::size_t i = 0; i < ys.size(); ++i) {
    const Block& block = expected[i];
    const Tensor& y = ys[i];
    const bool shares = !xs.empty() && y.array().storage() == xs[0].array().storage();
    if (y.numel() > 0 && ((p.op->memory == OpCase::Memory::view && !shares) ||
                          (p.op->memory == OpCase::Memory::fresh && shares)))
      throw Mismatch{fmt::format("{}: expects {}, got {}", p.op->name,
                                 shares ? "memory of its own" : "a view", shares ? "a view" : "a copy")};
    Value result;
    if (!xs.empty() && y.node() && y.node() == xs[0].node() && p.op->memory == OpCase::Memory::either) {
      result = inputs[0];  // the same tensor
    } else {
      if (shares) {
        std::unordered_map<int, int> places;
        // Views read input 0 first, and take its numbers as they are.
        const Block from = naive_.read(inputs[0], !p.no_grad);
        const Block positions = [&] {
          Block marked{from.shape, from.dtype};
          for (std::size_t j = 0; j < from.size(); ++j)
            marked.numbers.push_back(constant(static_cast<double>(j)));
          Blocks all{marked};
          for (std::size_t j = 1; j < inputs.size(); ++j) all.push_back(naive_.read(inputs[j], false));
          return p.op->naive(p, all)[i];
        }();
        std::vector<int> elements;
        for (const Scalar position : positions.numbers)
          elements.push_back(static_cast<int>(value_of(position)));
        result = naive_.view_of(inputs[0], y.shape(), elements);
      } else {
        result = naive_.in_new_memory(y.shape(), y.dtype(), y.to_vector<double>());
      }
      result.contiguous = y.is_contiguous();
      tape().unit = rounding_of(y.dtype());
      const bool taped = wants_tape && is_floating(y.dtype()), leaf = p.op->name == "requires_grad_";
      if (y.requires_grad() != (taped || leaf))
        throw Mismatch{
            fmt::format("{}: expects requires_grad {}, got {}", p.op->name, taped || leaf, !taped)};
      if (taped) {
        naive_.record(result, block, p, inputs, &result);
        handles_.resize(naive_.nodes.size());
        handles_.back() = y;
      }
    }
    if (p.op->name == "requires_grad_" && !result.taped()) {
      result.numbers.clear();
      naive_.make_leaf(result);
      handles_.resize(naive_.nodes.size());
      handles_.back() = y;
    }
    results.push_back(std::move(result));
  }
  naive_.values.push_back(std::move(results));
  tensors_.push_back(ys);
}

Run::Result Run::write(const Step& p) {
  const std::vector<Value> inputs = inputs_of(p);
  const Tensors xs = tensors_of(p);
  Blocks blocks;
  for (const Value& x : inputs) blocks.push_back(naive_.read(x, false));
  tape().unit = rounding_of(inputs[0].dtype);
  const Block expected = p.op->naive(p, blocks)[0];
  // One number may be written to places that share a cell; of a tensor, the library can tell where it is
  // repeated alike.
  const bool shares = naive_.shares_cells(inputs[0]), may_be_refused = shares && p.op->name == "copy_";
  bool refused = shares && p.op->name != "fill_" && p.op->name != "zero_" && !may_be_refused;
  for (const Value& x : inputs) refused |= x.taped() && !p.no_grad;
  const std::string message = error_of([&] {
    std::optional<NoGrad> off;
    if (p.no_grad) off.emplace();
    p.op->run(p, xs);
  });
  if (message.empty() == refused && !(may_be_refused && !message.empty()))
    throw Mismatch{refused ? p.op->text + ": expects an error, got none" : "unexpected error: " + message};
  if (message.empty()) {
    compare_numbers(p.op->text, xs[0], expected.shape, expected.dtype, expected.numbers);
    const std::vector<double> now = xs[0].to_vector<double>();
    for (std::size_t i = 0; i < now.size(); ++i) naive_.set_cell(inputs[0], i, now[i]);
    naive_.written(inputs[0]);
  }
  naive_.values.emplace_back();
  tensors_.emplace_back();
  compare_all();
  return Result::done;
}

Run::Result Run::hook(const Step& p) {
  const Value x = naive_.at(p.inputs[0]);
  // Gradients that one pass returned may be one tensor.
  if (!x.taped() || naive_.nodes[sz(x.node)].pass) throw Unstable{"no gradient"};
  TapeNode& node = naive_.nodes[sz(x.node)];
  const Tensor& t = tensor(p.inputs[0]);
  if (p.kind == Kind::retain) {
    node.retains = true;
    t.retain_grad();
  } else if (p.kind == Kind::zero_grad) {
    if (!node.leaf) throw Unstable{"not a leaf"};
    node.grad.clear();
    t.zero_grad();
  } else {
    const auto kind = static_cast<HookKind>(p.n);
    node.hooks.push_back({kind, p.a});
    if (kind == HookKind::observe) {
      observers_.push_back(std::make_shared<Observer>(Observer{x.node}));
      t.on_grad([seen = observers_.back()](const Array& g) {
        ++seen->calls;
        seen->last = g;
      });
    } else if (kind == HookKind::scale) {
      t.on_grad([a = p.a](const Tensor& g) { return g * a; });
    } else if (kind == HookKind::square) {
      t.on_grad([](const Tensor& g) { return g * g; });
    } else {
      t.on_grad([a = p.a](const Array& g) { return (Tensor(g) * a).array(); });
    }
  }
  naive_.values.emplace_back();
  tensors_.emplace_back();
  return Result::done;
}

Run::Result Run::pass(const Step& p) {
  const std::vector<Value> inputs = inputs_of(p);
  const Tensors xs = tensors_of(p);
  const Value& root = inputs[0];
  const std::size_t first = p.seeded ? 2 : 1;  // of the wanted
  if (!root.taped() || (!p.seeded && root.cells.size() != 1)) throw Unstable{"nothing to pass back"};
  if (p.seeded && (inputs[1].shape != root.shape || inputs[1].dtype != root.dtype))
    throw Unstable{"another shape"};
  std::vector<int> wanted;
  for (std::size_t i = first; i < inputs.size(); ++i) {
    if (!inputs[i].taped() || naive_.nodes[sz(inputs[i].node)].pass) throw Unstable{"no gradient"};
    wanted.push_back(inputs[i].node);
  }
  Pass pass = naive_.predict(root.node, wanted);
  // The derivative of a gradient by an inner result depends on the formula: is it stated in this result, or
  // in what this was made of?
  if (pass.through_pass)
    for (const int i : pass.visited) {
      const TapeNode& node = naive_.nodes[sz(i)];
      if (node.in_formulas &&
          (node.retains || !node.hooks.empty() || std::count(wanted.begin(), wanted.end(), i) > 0))
        throw Unstable{"it depends on the formula"};
    }
  if (p.create_graph)
    for (const int i : pass.visited)
      for (const auto& [kind, factor] : naive_.nodes[sz(i)].hooks)
        if (kind == HookKind::of_arrays) (pass.through_pass ? pass.may_fail : pass.must_fail) = true;
  const std::size_t size = tape().size();
  tape().unit = rounding_of(root.dtype);
  if (!pass.must_fail) {
    Line seed;
    if (p.seeded)
      seed = naive_.read(inputs[1], p.create_graph).numbers;
    else
      seed = {constant(1)};
    naive_.run(pass, root.numbers, seed);
  }
  std::vector<std::size_t> calls;
  for (const auto& observer : observers_) calls.push_back(observer->calls);
  Tensors found;
  const std::string message = error_of([&] {
    if (p.kind == Kind::backward) {
      if (p.seeded)
        xs[0].backward(xs[1], p.retain_graph);
      else
        xs[0].backward(p.retain_graph);
    } else {
      const TensorList gradients = grad(xs[0], {xs.begin() + static_cast<std::ptrdiff_t>(first), xs.end()},
                                        {.grad_output = p.seeded ? xs[1] : Tensor(),
                                         .retain_graph = p.retain_graph,
                                         .create_graph = p.create_graph,
                                         .allow_unused = true});
      found = {gradients.begin(), gradients.end()};
    }
  });
  passed_ = true;
  expect_error(message, pass, p.kind == Kind::backward ? "backward" : "grad");
  naive_.values.emplace_back();
  tensors_.emplace_back();
  if (!message.empty()) {
    tape().shrink(size);
    compare_all();
    return Result::ended;
  }
  if (p.kind == Kind::backward) compare_accumulated(pass);
  for (std::size_t k = 0; k < found.size(); ++k) {
    naive_.values.back().push_back(adopt_gradient(p, pass, inputs[first + k], found[k]));
    tensors_.back().push_back(found[k]);
  }
  compare_observed(pass, calls);
  if (!p.retain_graph && !p.create_graph) naive_.free(pass, root.node, wanted);
  if (!p.create_graph) tape().shrink(size);
  return Result::done;
}

/// The gradients of leaves, and of tensors that retain theirs.
void Run::compare_accumulated(const Pass& pass) {
  for (const int i : pass.visited) {
    TapeNode& node = naive_.nodes[sz(i)];
    if (!node.leaf && !node.retains) continue;
    const Tensor grad = handles_[sz(i)].grad();
    const std::string what = node.leaf ? "the gradient of a leaf" : "the gradient of an inner tensor";
    tape().unit = rounding_of(handles_[sz(i)].dtype());
    Line total = gradients_of(pass, node.numbers);
    if (!node.grad.empty())
      for (std::size_t j = 0; j < total.size(); ++j) total[j] = total[j] + constant(node.grad[j]);
    if (!grad.defined()) {
      expect_zeros(what, total);
      continue;
    }
    compare_numbers(what, grad, handles_[sz(i)].shape(), handles_[sz(i)].dtype(), total);
    node.grad = grad.to_vector<double>();
  }
}

/// A gradient that grad() returned for x, which may be on the tape.
Value Run::adopt_gradient(const Step& p, const Pass& pass, const Value& x, const Tensor& found) {
  const Line expected = gradients_of(pass, x.numbers);
  if (!found.defined()) {
    expect_zeros("grad: a result", expected);
    return {};
  }
  compare_numbers("grad: a result", found, x.shape, x.dtype, expected);
  if (!found.array().owns_exclusively()) throw Mismatch{"grad: a result is not in memory of its own"};
  Value value = naive_.in_new_memory(x.shape, x.dtype, found.to_vector<double>());
  value.contiguous = found.is_contiguous();
  const bool varies = std::any_of(expected.begin(), expected.end(),
                                  [](Scalar g) { return tape()[g].formula != Formula::constant; });
  if (found.requires_grad() && !p.create_graph)
    throw Mismatch{"grad: a result without create_graph requires grad"};
  if (!found.requires_grad() && p.create_graph && varies)
    throw Mismatch{"grad: a result is a constant, and should have gradients"};
  if (!found.requires_grad()) return value;
  value.node = static_cast<int>(naive_.nodes.size());
  tape().unit = rounding_of(x.dtype);
  for (std::size_t j = 0; j < expected.size(); ++j)
    value.numbers.push_back(copy_of(expected[j], naive_.cell(value, j)));
  TapeNode node{.inputs = pass.visited, .numbers = value.numbers, .pass = true};
  for (const int i : pass.passed)  // a gradient may be stated in any of them
    node.inputs.insert(node.inputs.end(), naive_.nodes[sz(i)].inputs.begin(),
                       naive_.nodes[sz(i)].inputs.end());
  if (p.seeded && naive_.at(p.inputs[1]).taped()) node.inputs.push_back(naive_.at(p.inputs[1]).node);
  naive_.nodes.push_back(std::move(node));
  handles_.resize(naive_.nodes.size());
  handles_.back() = found;
  return value;
}

/// What hooks that only observe have seen, and how often; `calls`: before the pass.
void Run::compare_observed(const Pass& pass, const std::vector<std::size_t>& calls) {
  for (std::size_t k = 0; k < observers_.size(); ++k) {
    const Observer& observer = *observers_[k];
    const bool visited = std::count(pass.visited.begin(), pass.visited.end(), observer.node) > 0;
    const TapeNode& node = naive_.nodes[sz(observer.node)];
    if (observer.calls - calls[k] != (visited ? 1U : 0U) && !(pass.through_pass && visited))
      throw Mismatch{
          fmt::format("a hook was called {} times, expects {}", observer.calls - calls[k], visited)};
    if (node.hooks.size() != 1 || observer.calls == calls[k]) continue;
    compare_numbers("the gradient a hook got", Tensor(observer.last), handles_[sz(observer.node)].shape(),
                    handles_[sz(observer.node)].dtype(), gradients_of(pass, node.numbers));
  }
}

void Run::compare_all() {
  for (std::size_t i = 0; i < tensors_.size(); ++i)
    for (std::size_t j = 0; j < tensors_[i].size(); ++j) {
      const Value& value = naive_.values[i][j];
      if (!value.defined) continue;
      const std::vector<double> found = tensors_[i][j].to_vector<double>();
      for (std::size_t k = 0; k < found.size(); ++k)
        if (found[k] != naive_.cell(value, k))
          throw Mismatch{fmt::format("element {} of v{} has changed: expects {}, got {}", k, i,
                                     naive_.cell(value, k), found[k])};
    }
}

void Run::finish() {
  compare_all();
  for (std::size_t i = 0; i < naive_.nodes.size(); ++i) {
    const TapeNode& node = naive_.nodes[i];
    if (!node.leaf) continue;
    const Tensor grad = handles_[i].grad();
    const std::vector<double> found = grad.defined() ? grad.to_vector<double>() : std::vector<double>();
    const bool zero = std::all_of(found.begin(), found.end(), [](double g) { return g == 0; });
    if (found != node.grad && !(node.grad.empty() && zero)) throw Mismatch{"a leaf's gradient has changed"};
  }
}

}  // namespace gradus::test::graphs
