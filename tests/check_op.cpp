#include "check_op.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "check_layouts.h"
#include "check_numbers.h"
#include "check_second.h"
#include "gradus/core/detail/format.h"
#include "gradus/core/memory/storage.h"
#include "gradus/core/threads/parallel.h"
#include "gradus/ops/kernels/kernels.h"
#include "isas.h"
#include "threads_guard.h"

namespace gradus::test {

namespace {

/// What one run of the op gave: its outputs, and the gradient of every input that wanted one.
struct Outcome {
  std::vector<Shape> shapes;
  std::vector<Values> outputs, gradients;
};

class Checker : Checks {
 public:
  Checker(const std::string& name, const Op& op, const std::vector<Input>& inputs,
          const CheckOptions& options)
      : Checks(name, options, inputs.size() + name.size() + options.seed), op_(op) {
    for (const Input& input : inputs) {
      values_.push_back(input.given.defined() ? input.given.array().contiguous() : draw(input));
      wanted_.push_back(input.wants_grad);
    }
  }

  std::vector<std::string> run() {
    context_ = "f64";
    reference_ = outcome(values_, f64);
    check_derivatives();
    if (options_.gradients_only) return std::move(problems_);
    check_instruction_sets();
    check_threads(f32);
    check_threads(f64);
    check_layouts(f32);
    check_layouts(f64);
    check_needs();
    check_tape();
    check_second_derivatives();
    return std::move(problems_);
  }

 private:
  Outcome outcome(const std::vector<Array>& values, DType dtype, Layout layout = Layout::contiguous) {
    return outcome(values, dtype, layout, wanted_, 1);
  }

  /// Runs the op on `values`, converted to `dtype` and laid out as asked, and `passes` times backward.
  Outcome outcome(const std::vector<Array>& values, DType dtype, Layout layout,
                  const std::vector<bool>& wanted, int passes) {
    const std::int64_t nodes = live_nodes();
    Outcome result;
    {
      Tensors inputs;
      std::vector<std::uint32_t> versions;
      for (std::size_t i = 0; i < values.size(); ++i) {
        const Array& x = values[i];
        inputs.emplace_back(lay_out(is_floating(x.dtype()) ? x.to(dtype) : x, layout, i));
        versions.push_back(inputs[i].array().storage().version());
        if (wanted[i]) inputs[i].requires_grad_();
      }
      const Tensors outputs = op_(inputs);
      for (std::size_t k = 0; k < outputs.size(); ++k) {
        result.shapes.push_back(outputs[k].shape());
        result.outputs.push_back(outputs[k].to_vector<double>());
        if (outputs[k].requires_grad()) go_back(outputs[k], k, layout, passes);
      }
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        keep_gradient(result, inputs[i], wanted[i]);
        if (inputs[i].array().storage().version() != versions[i]) complain("input {} was written", i);
        if (is_floating(values[i].dtype()))
          compare("input", i, inputs[i].to_vector<double>(), Tensor(values[i]).to_vector<double>(), 0, 0);
      }
    }
    if (live_nodes() != nodes) complain("{} nodes leaked", live_nodes() - nodes);
    return result;
  }

  void go_back(const Tensor& y, std::size_t k, Layout layout, int passes) {
    const Array dy = lay_out(seed(k, y.shape()).to(y.dtype()), layout, k);
    const std::uint32_t version = dy.storage().version();
    const Values before = Tensor(dy).to_vector<double>();
    for (int pass = 0; pass < passes; ++pass) run_backward(y, dy, /*retain_graph=*/true);
    if (dy.storage().version() != version) complain("backward wrote into the incoming gradient");
    compare("incoming gradient", k, Tensor(dy).to_vector<double>(), before, 0, 0);
  }

  void keep_gradient(Outcome& result, const Tensor& input, bool wanted) {
    const Tensor gradient = input.grad();
    if (!wanted) return result.gradients.emplace_back(), void();
    result.gradients.push_back(gradient.defined() ? gradient.to_vector<double>()
                                                  : Values(static_cast<std::size_t>(input.numel()), 0.0));
  }

  using Checks::compare;
  void compare(const Outcome& got, const Outcome& want, double rtol) {
    if (got.shapes != want.shapes) return complain("the shapes of the outputs differ");
    for (std::size_t k = 0; k < want.outputs.size(); ++k)
      compare("output", k, got.outputs[k], want.outputs[k], rtol, rtol * 1e-2);
    for (std::size_t i = 0; i < want.gradients.size(); ++i)
      if (!got.gradients[i].empty())
        compare("gradient of input", i, got.gradients[i], want.gradients[i], rtol, rtol * 1e-2);
  }

  // --- derivatives

  std::vector<Values> outputs_at(std::size_t input, const Array& x) {
    const NoGrad guard;
    Tensors inputs;
    for (std::size_t i = 0; i < values_.size(); ++i) inputs.emplace_back(i == input ? x : values_[i]);
    std::vector<Values> result;
    for (const Tensor& y : op_(inputs)) {
      if (y.requires_grad()) complain("the output wants a gradient under NoGrad");
      result.push_back(is_floating(y.dtype()) ? y.to_vector<double>() : Values());
    }
    return result;
  }

  /// d<seed, outputs>/dt of moving input i by t along `direction`.
  double numeric_derivative(std::size_t i, const Values& direction) {
    const Array ahead = values_[i].clone(), behind = values_[i].clone();
    for (std::size_t j = 0; j < direction.size(); ++j) {
      ahead.mutable_data<double>()[j] += options_.eps * direction[j];
      behind.mutable_data<double>()[j] -= options_.eps * direction[j];
    }
    const std::vector<Values> a = outputs_at(i, ahead), b = outputs_at(i, behind);
    double change = 0;  // summed before dividing: outputs that do not move add exactly nothing
    for (std::size_t k = 0; k < a.size(); ++k)
      for (std::size_t j = 0; j < a[k].size(); ++j)
        change += seeds_[k].data<double>()[j] * (a[k][j] - b[k][j]);
    return change / (2 * options_.eps);
  }

  void check_derivatives() {
    constexpr std::size_t kAll = 64, kSample = 16, kDirections = 2;
    for (std::size_t k = 0; k < reference_.shapes.size(); ++k) seed(k, reference_.shapes[k]);
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (!wanted_[i]) continue;
      context_ = "f64";
      const Values& gradient = reference_.gradients[i];
      const std::size_t n = gradient.size();
      for (std::size_t trial = 0; trial < (n <= kAll ? n : kSample); ++trial) {
        const std::size_t j = n <= kAll ? trial : random_() % n;
        Values direction(n, 0.0);
        direction[j] = 1;
        compare_derivative(i, fmt::format("element {}", j), gradient[j], direction, largest(gradient));
      }
      for (std::size_t trial = 0; n > kAll && trial < kDirections; ++trial) {
        context_ = "f64, random directions";
        Values direction(n);
        double expected = 0;
        for (std::size_t j = 0; j < n; ++j)
          expected += gradient[j] * (direction[j] = random_() % 2 == 0 ? 1 : -1);
        compare_derivative(i, "a direction", expected, direction,
                           std::max(std::abs(expected), largest(gradient)));
      }
    }
  }

  void compare_derivative(std::size_t i, const std::string& along, double analytic, const Values& direction,
                          double scale) {
    const double numeric = numeric_derivative(i, direction);
    double rounding = 0;  // of the outputs, magnified by dividing by eps
    for (const Values& y : reference_.outputs)
      rounding = std::max(rounding, 1e-15 * largest(y) / options_.eps);
    if (std::abs(analytic - numeric) <= options_.rtol * scale + rounding) return;
    complain("gradient of input {} along {}: {:.12g}, but the outputs change by {:.12g}", i, along, analytic,
             numeric);
  }

  // --- instruction sets, threads, layouts

  void check_instruction_sets() {
    const Isa before = current_isa();
    for (const Isa isa : kIsas) {
      if (!isa_supported(isa)) continue;
      set_isa(isa);
      context_ = fmt::format("f64, {}", gradus::name(isa));
      compare(outcome(values_, f64), reference_, 1e-11);
      context_ = fmt::format("f32, {}", gradus::name(isa));
      compare(outcome(values_, f32), reference_, options_.f32_rtol);
    }
    set_isa(before);
  }

  void check_threads(DType dtype) {
    const int before = num_threads();
    set_num_threads(1);
    context_ = gradus::name(dtype);
    const Outcome alone = outcome(values_, dtype);
    for (const int threads : {2, 3, 4, 8}) {
      set_num_threads(threads);
      context_ = fmt::format("{}, {} threads against 1", gradus::name(dtype), threads);
      compare(outcome(values_, dtype), alone, 0);
    }
    set_num_threads(before);
  }

  void check_layouts(DType dtype) {
    const double rtol = options_.layout_bits ? 0 : dtype == f32 ? 1e-5 : 1e-13;
    for (const Layout layout : all_layouts()) {
      context_ = fmt::format("{}, {} against contiguous", gradus::name(dtype), name(layout));
      std::vector<Array> values;  // expanded inputs repeat one value along an axis: compare with those
      for (std::size_t i = 0; i < values_.size(); ++i)
        values.push_back(lay_out(values_[i], layout, i).clone());
      const std::vector<Array> seeds = seeds_;
      for (std::size_t k = 0; k < seeds_.size(); ++k) seeds_[k] = lay_out(seeds_[k], layout, k).clone();
      const Outcome expected = outcome(values, dtype);
      compare(outcome(values, dtype, layout), expected, rtol);
      seeds_ = seeds;
    }
  }

  // --- the tape

  void check_needs() {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (!wanted_[i]) continue;
      context_ = fmt::format("f64, only input {} wants a gradient", i);
      std::vector<bool> only(values_.size(), false);
      only[i] = true;
      compare(outcome(values_, f64, Layout::contiguous, only, 1), reference_, 0);
    }
    context_ = "f64, no input wants a gradient";
    const std::int64_t nodes = live_nodes();
    Tensors inputs;
    for (const Array& x : values_) inputs.emplace_back(x);
    const Tensors outputs = op_(inputs);
    if (live_nodes() != nodes) complain("{} nodes were recorded", live_nodes() - nodes);
  }

  void check_tape() {
    context_ = "f64, two backward passes";
    Outcome twice = reference_;
    for (Values& gradient : twice.gradients)
      for (double& g : gradient) g *= 2;
    compare(outcome(values_, f64, Layout::contiguous, wanted_, 2), twice, 1e-13);

    context_ = "f64, memory";
    const std::int64_t bytes = memory_stats().live_bytes;
    outcome(values_, f64);
    if (memory_stats().live_bytes != bytes) complain("{} bytes leaked", memory_stats().live_bytes - bytes);
  }

  // --- gradients of gradients

  static constexpr std::int64_t kLarge = 1024;  // from here on, threads share the work

  void check_second_derivatives() {
    const auto wanting = std::count(wanted_.begin(), wanted_.end(), true);
    if (!options_.no_second_derivatives.empty() || wanting == 0) return;
#ifdef __SANITIZE_THREAD__  // one thread computes small inputs: hours in which there is no race to find
    if (elements() < kLarge) return;
#endif
    context_ = "f64, second derivatives";
    try {
      for (std::size_t i = 0; i < values_.size(); ++i)
        u_.push_back(wanted_[i] ? draw(Input(values_[i].shape())) : Array());
      const Second reference = second(f64, Layout::contiguous, wanted_);
      compare_first(reference, 1e-9, 1e-11);
      check_by_seed(reference);
      for (std::size_t i = 0; i < values_.size(); ++i)
        if (wanted_[i]) check_by_input(i, reference, wanting > 1 && random_() % 2 == 0);
      check_second_f32(reference);
    } catch (const Error& error) {
      complain("{}", error.what());
    }
  }

  Second second(DType dtype, Layout layout, const std::vector<bool>& wanted) {
    const std::int64_t nodes = live_nodes(), bytes = memory_stats().live_bytes;
    const Second result = [&] {
      Tensors inputs, seeds, u;
      for (std::size_t i = 0; i < values_.size(); ++i) {
        const Array& x = values_[i];
        inputs.emplace_back(lay_out(is_floating(x.dtype()) ? x.to(dtype) : x, layout, i));
        if (wanted[i]) inputs[i].requires_grad_();
        u.emplace_back(u_[i].defined() ? u_[i].to(dtype) : Array());
      }
      const Tensors outputs = op_(inputs);
      for (std::size_t k = 0; k < outputs.size(); ++k) {
        seeds.emplace_back();
        if (!outputs[k].requires_grad()) continue;
        seeds[k] = Tensor(lay_out(seeds_[k].to(outputs[k].dtype()), layout, k));
        seeds[k].requires_grad_();
      }
      return second_derivatives(inputs, outputs, seeds, u);
    }();
    if (live_nodes() != nodes) complain("{} nodes leaked", live_nodes() - nodes);
    if (memory_stats().live_bytes != bytes) complain("{} bytes leaked", memory_stats().live_bytes - bytes);
    return result;
  }

  /// Gradients with create_graph must be those without.
  void compare_first(const Second& got, double rtol, double atol) {
    for (std::size_t i = 0; i < values_.size(); ++i)
      if (!got.gradients[i].empty())
        compare("create_graph: gradient of input", i, got.gradients[i], reference_.gradients[i], rtol, atol);
  }

  /// At least 1, as what was added up may have been larger than the sum.
  double largest_gradient() const {
    double top = 1;
    for (const Values& gradient : reference_.gradients) top = std::max(top, largest(gradient));
    return top;
  }

  /// The plain gradients when input `moved` is x and the incoming gradients are `seeds`.
  std::vector<Values> plain_gradients(std::size_t moved, const Array& x, const std::vector<Array>& seeds) {
    Tensors inputs, wanted, dy;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      inputs.emplace_back(i == moved ? x : values_[i]);
      if (wanted_[i]) wanted.push_back(inputs[i].requires_grad_());
    }
    const Tensors outputs = op_(inputs);
    for (std::size_t k = 0; k < outputs.size(); ++k)
      dy.emplace_back(outputs[k].requires_grad() ? seeds[k].to(outputs[k].dtype()) : Array());
    const Tensors found = gradients_of(outputs, wanted, dy, /*create_graph=*/false);
    std::vector<Values> result(values_.size());
    for (std::size_t i = 0, j = 0; i < values_.size(); ++i)
      if (wanted_[i]) result[i] = values_or_zeros(found[j++], values_[i].shape());
    return result;
  }

  Values signs(std::size_t n) {
    Values direction(n);
    for (double& d : direction) d = random_() % 2 == 0 ? 1 : -1;
    return direction;
  }

  /// s is linear in the incoming gradients: its change along a direction is its value at the direction.
  void check_by_seed(const Second& reference) {
    double analytic = 0, numeric = 0, scale = 0;
    std::vector<Array> directions;
    for (std::size_t k = 0; k < seeds_.size(); ++k) {
      const Values direction = signs(static_cast<std::size_t>(seeds_[k].numel()));
      directions.push_back(Array::empty(seeds_[k].shape(), f64));
      std::copy(direction.begin(), direction.end(), directions[k].mutable_data<double>());
      const Values& by = reference.by_seed[k];  // none of an output without a gradient
      if (by.empty()) continue;
      analytic += dot(by, direction);
      scale += dot(by, by);
    }
    const std::vector<Values> g = plain_gradients(values_.size(), Array(), directions);
    for (std::size_t i = 0; i < values_.size(); ++i) numeric += u_dot(i, g[i]);
    if (std::abs(analytic - numeric) <= 1e-9 * std::max(std::abs(numeric), std::sqrt(scale)) + 1e-12) return;
    complain("the gradients change by {:.12g} along a direction of the incoming gradient, not by {:.12g}",
             numeric, analytic);
  }

  /// The second derivatives along a direction of input i against central differences; with `alone`, also
  /// those of a tape on which no other input wants a gradient.
  void check_by_input(std::size_t i, const Second& reference, bool alone) {
    const Values direction = signs(static_cast<std::size_t>(values_[i].numel()));
    const Array ahead = values_[i].clone(), behind = values_[i].clone();
    for (std::size_t j = 0; j < direction.size(); ++j) {
      ahead.mutable_data<double>()[j] += options_.eps * direction[j];
      behind.mutable_data<double>()[j] -= options_.eps * direction[j];
    }
    std::vector<Values> change = plain_gradients(i, ahead, seeds_);
    const std::vector<Values> before = plain_gradients(i, behind, seeds_);
    double numeric = 0, own = 0, rounding = 0;  // subtracted before they are summed: that loses less
    for (std::size_t k = 0; k < change.size(); ++k) {
      const double size = std::sqrt(static_cast<double>(change[k].size()));
      rounding += 4e-15 * size * largest_gradient() / options_.eps;
      for (std::size_t j = 0; j < change[k].size(); ++j)
        change[k][j] = (change[k][j] - before[k][j]) / (2 * options_.eps);
      numeric += u_dot(k, change[k]);
      if (k == i) own = u_dot(k, change[k]);
    }
    compare_second(i, reference.by_input[i], direction, numeric, rounding);
    if (!alone) return;
    const std::string context = std::exchange(
        context_, fmt::format("f64, transposed, second derivatives, only input {} wants a gradient", i));
    std::vector<bool> only(values_.size(), false);
    only[i] = true;
    const Second single = second(f64, Layout::transposed, only);
    compare_first(single, 1e-9, 1e-11);
    compare_second(i, single.by_input[i], direction, own, rounding);
    context_ = context;
  }

  double u_dot(std::size_t i, const Values& gradient) const {
    double total = 0;
    for (std::size_t j = 0; j < gradient.size(); ++j) total += u_[i].data<double>()[j] * gradient[j];
    return total;
  }

  void compare_second(std::size_t i, const Values& by, const Values& direction, double numeric,
                      double rounding) {
    const double analytic = dot(by, direction);
    const double scale = std::max(std::abs(numeric), std::sqrt(dot(by, by)));
    const double rtol = std::max(options_.second_rtol, options_.rtol);
    if (std::abs(analytic - numeric) <= rtol * scale + rounding + 1e-12) return;
    complain("second derivatives along a direction of input {}: {:.12g}, but the gradients change by {:.12g}",
             i, analytic, numeric);
  }

  void check_second_f32(const Second& reference) {
    constexpr Layout kLayouts[] = {Layout::transposed, Layout::sliced, Layout::offset, Layout::mixed};
    const Layout layout = kLayouts[random_() % std::size(kLayouts)];
    const ThreadsGuard guard(1);
    context_ = fmt::format("f32, {}, second derivatives", name(layout));
    const Second alone = second(f32, layout, wanted_);
    compare_first(alone, std::max(1e-4, options_.f32_rtol), 1e-5 * largest_gradient());
    compare_seconds(alone, reference, std::max(options_.second_f32_rtol, options_.f32_rtol));
    for (const int threads : {2, 4}) {
      if (elements() < kLarge) break;
      set_num_threads(threads);
      context_ = fmt::format("f32, second derivatives, {} threads against 1", threads);
      const Second shared = second(f32, layout, wanted_);
      for (std::size_t i = 0; i < values_.size(); ++i)
        compare("create_graph: gradient of input", i, shared.gradients[i], alone.gradients[i], 0, 0);
      compare_seconds(shared, alone, 0);
    }
  }

  std::int64_t elements() const {
    std::int64_t total = 0;
    for (const Array& x : values_) total += x.numel();
    return total;
  }

  void compare_seconds(const Second& got, const Second& want, double rtol) {
    double top = 1;  // what cancels in f64 is as large as the rounding of the largest in f32
    for (const auto& lists : {&want.gradients, &want.by_input, &want.by_seed})
      for (const Values& list : *lists) top = std::max(top, largest(list));
    const double atol = rtol * 0.1 * top;
    for (std::size_t i = 0; i < values_.size(); ++i)
      compare("second derivatives by input", i, got.by_input[i], want.by_input[i], rtol, atol);
    for (std::size_t k = 0; k < want.by_seed.size(); ++k)
      compare("second derivatives by incoming gradient", k, got.by_seed[k], want.by_seed[k], rtol, atol);
  }

  const Op& op_;
  std::vector<Array> values_;  // f64 (or given), contiguous
  std::vector<Array> u_;       // for each input, the weights of its gradient in s
  std::vector<bool> wanted_;
  Outcome reference_;
};

}  // namespace

std::vector<std::string> op_problems(const std::string& name, const Op& op, const std::vector<Input>& inputs,
                                     const CheckOptions& options) {
  return Checker(name, op, inputs, options).run();
}

void check_op(const std::string& name, const Op& op, const std::vector<Input>& inputs,
              const CheckOptions& options, const char* file, int line) {
  std::string shapes;
  for (const Input& input : inputs) shapes += " " + to_string(input.shape);
  std::string report;
  try {
    for (const std::string& problem : op_problems(name, op, inputs, options)) report += "\n  " + problem;
  } catch (const Error& error) {
    report = std::string("\n  ") + error.what();
  }
  CHECK_MESSAGE(report.empty(), file, ":", line, ": inputs", shapes, report);
}

void check_error(Call call, const std::string& message, const char* file, int line) {
  const std::int64_t nodes = live_nodes();
  std::string got = "(no error)";
  try {
    call();
  } catch (const Error& error) {
    got = error.what();
  }
  CHECK_MESSAGE(got == message, file, ":", line, ":\n  expected: ", message, "\n  got:      ", got);
  CHECK_MESSAGE(live_nodes() == nodes, file, ":", line, ": nodes leaked");
}

const std::vector<Shape>& odd_shapes() {
  static const std::vector<Shape> shapes = {
      {},        {1},       {0},    {7},       {16},      {33},      {1, 1},       {3, 5},          {4, 1},
      {1, 6},    {8, 8},    {0, 0}, {3, 0, 2}, {5, 1, 1}, {2, 3, 4}, {2, 2, 2, 2}, {2, 1, 3, 1, 2}, {31, 17},
      {1, 1, 0}, {300, 200}};
  return shapes;
}

}  // namespace gradus::test
