// gradcheck      J[j, i] = dy_j / dx_i
//   analytic     row j by a backward pass from y_j, the tape kept for the next row
//   numeric      column i from y at x_i + eps and x_i - eps, written into x's own memory and taken back
// gradgradcheck  the same where x is (x, v) and y is g = sum_k v_k dy_k / dx, each a tensor on the tape

#include "gradus/ops/gradcheck.h"

#include <cmath>

#include "gradus/core/detail/format.h"
#include "gradus/core/tape/grad.h"
#include "gradus/ops/detail/repeatable.h"
#include "gradus/ops/ops.h"

namespace gradus {

void detail::check_movable(const char* caller, const char* what, std::size_t number, const Tensor& x) {
  check(x.defined(), "{}: {} {} is an undefined tensor", caller, what, number);
  check(x.requires_grad(), "{}: {} {} {} does not require grad: call requires_grad_() on it", caller, what,
        number, x.shape());
  check(
      x.dtype() == f64,
      "{}: {} {} {} is f32, whose rounding differences would magnify: make it f64, as DefaultDType does for "
      "a model made in its scope",
      caller, what, number, x.shape());
  check(x.is_leaf(),
        "{}: {} {} {} is the output of {}, not a leaf: pass what it was made from, or a detach()", caller,
        what, number, x.shape(), x.is_leaf() ? "" : x.node()->op);
  for (int axis = 0; axis < x.dim(); ++axis)
    check(x.shape()[axis] < 2 || x.strides()[axis] != 0,
          "{}: {} {} {} is expanded, its elements share memory: make it of contiguous()", caller, what,
          number, x.shape());
}

const std::vector<Tensor>& TensorFunction::expect(const char* caller, const std::vector<Tensor>& x,
                                                  std::size_t count) {
  check(x.size() == count, "{}: the function takes {}, got {} inputs", caller,
        count == 1 ? "1 tensor" : fmt::format("{} tensors", count), x.size());
  return x;
}

namespace {

using Tensors = std::vector<Tensor>;

/// Element number i of x, in row-major order, in x's own memory.
class Element {
 public:
  Element(const Tensor& x, std::int64_t i)
      : storage_(x.array().storage()), at_(x.array().mutable_data<double>()) {
    for (int axis = x.dim() - 1; axis >= 0; --axis) {
      at_ += i % x.shape()[axis] * x.strides()[axis];
      i /= x.shape()[axis];
    }
    before_ = *at_;
  }
  ~Element() { move(0); }
  Element(const Element&) = delete;
  Element& operator=(const Element&) = delete;
  void move(double by) {
    *at_ = before_ + by;
    storage_.bump_version();
  }

 private:
  Storage storage_;
  double* at_;
  double before_;
};

/// "[1, 2]": the index of element i of a tensor of this shape.
std::string place(const Shape& shape, std::int64_t i) {
  Dims index(shape);
  for (int axis = shape.size() - 1; axis >= 0; --axis) {
    index[axis] = i % shape[axis];
    i /= shape[axis];
  }
  return to_string(index);
}

/// Who checks, and what it calls input i and output k.
struct Names {
  const char* caller;
  std::function<std::string(std::size_t)> input, output;
};

/// The indices of the inputs that require grad, which must be movable.
std::vector<std::size_t> moved_inputs(const char* caller, const Tensors& inputs) {
  std::vector<std::size_t> moved;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    check(inputs[i].defined(), "{}: input {} is an undefined tensor", caller, i);
    if (!inputs[i].requires_grad()) continue;
    detail::check_movable(caller, "input", i, inputs[i]);
    moved.push_back(i);
  }
  check(!moved.empty(),
        "{}: none of the {} inputs requires grad: call requires_grad_() on those to be checked", caller,
        inputs.size());
  return moved;
}

class Check {
 public:
  Check(Names names, const TensorFunction& f, const Tensors& inputs, const GradcheckOptions& options)
      : names_(std::move(names)), f_(f), inputs_(inputs), options_(options) {
    moved_ = moved_inputs(names_.caller, inputs);
    for (const std::size_t i : moved_) wanted_.push_back(inputs[i]);
    check(options.eps > 0 && options.atol >= 0 && options.rtol >= 0,
          "{}: expects an eps above 0 and tolerances of 0 or more, got eps {}, atol {}, rtol {}",
          names_.caller, options.eps, options.atol, options.rtol);
  }

  void run() {
    backward();
    if (values() != first_)
      fail_with(
          "{}: the function gave other values in a second call with the same inputs: it must compute the "
          "same each time; recreate any generator in each call",
          names_.caller);
    for (std::size_t k = 0; k < moved_.size(); ++k)
      for (std::int64_t i = 0; i < wanted_[k].numel(); ++i) column(k, i);
    if (off_ > 0) fail(message());
  }

 private:
  Tensors outputs() {
    numbers_.again();
    Tensors kept;
    for (Tensor& y : f_(inputs_, names_.caller)) {
      check(y.defined(), "{}: the function returned an undefined tensor", names_.caller);
      if (is_floating(y.dtype())) kept.push_back(std::move(y));
    }
    return kept;
  }

  /// All elements of all outputs in a row.
  std::vector<double> values() {
    const NoGrad guard;
    std::vector<double> all;
    for (const Tensor& y : outputs())
      for (const double value : y.to_vector<double>()) all.push_back(value);
    return all;
  }

  void backward() {
    const EnableGrad guard;
    const Tensors ys = outputs();
    std::int64_t rows = 0, row = 0;
    for (const Tensor& y : ys) {
      shapes_.push_back(y.shape());
      rows += y.numel();
      for (const double value : y.to_vector<double>()) first_.push_back(value);
    }
    for (const Tensor& x : wanted_) analytic_.push_back(Array::zeros({rows, x.numel()}, f64));
    for (const Tensor& y : ys)
      for (std::int64_t j = 0; j < y.numel(); ++j, ++row) {
        if (!y.requires_grad()) continue;
        const Array seed = Array::zeros({y.numel()}, y.dtype());
        seed.slice(0, j, j + 1).fill_(1);
        const Tensors gradients = grad(
            y, wanted_,
            {.grad_output = Tensor(seed.reshape(y.shape())), .retain_graph = true, .allow_unused = true});
        for (std::size_t k = 0; k < gradients.size(); ++k)
          if (gradients[k].defined())
            analytic_[k].select(0, row).copy_(gradients[k].array().reshape({wanted_[k].numel()}));
      }
  }

  void column(std::size_t k, std::int64_t i) {
    Element element(wanted_[k], i);
    element.move(options_.eps);
    const std::vector<double> ahead = values();
    element.move(-options_.eps);
    const std::vector<double> behind = values();
    check(ahead.size() == first_.size() && behind.size() == first_.size(),
          "{}: the function returned another number of elements at another place", names_.caller);
    const double* const analytic = analytic_[k].data<double>() + i;
    for (std::size_t j = 0; j < first_.size(); ++j) {
      const double numeric = (ahead[j] - behind[j]) / (2 * options_.eps);
      compare(k, i, j, analytic[static_cast<std::int64_t>(j) * wanted_[k].numel()], numeric);
    }
  }

  void compare(std::size_t k, std::int64_t i, std::size_t j, double analytic, double numeric) {
    ++compared_;
    const double difference = std::abs(analytic - numeric);
    const double tolerance = options_.atol + options_.rtol * std::abs(numeric);
    const bool finite = std::isfinite(numeric);
    if (finite ? difference <= tolerance : analytic == numeric) return;  // not where one is NaN
    ++off_;
    const double excess = finite && !std::isnan(difference) ? difference - tolerance : INFINITY;
    if (off_ == 1 || excess > worst_.excess) worst_ = {excess, k, i, j, analytic, numeric};
  }

  std::string message() const {
    std::size_t output = 0;
    std::int64_t j = static_cast<std::int64_t>(worst_.j);
    while (j >= numel(shapes_[output])) j -= numel(shapes_[output++]);
    const Shape& from = wanted_[worst_.k].shape();
    return fmt::format(
        "{}: {} {} at {}: backward gives {:.6g}, central differences {:.6g} for {} {} at {}: off by {:.3g}, "
        "more than {:g} + {:g} * {:.3g}; {} of {} derivatives are off",
        names_.caller, names_.input(moved_[worst_.k]), from, place(from, worst_.i), worst_.analytic,
        worst_.numeric, names_.output(output), shapes_[output], place(shapes_[output], j),
        std::abs(worst_.analytic - worst_.numeric), options_.atol, options_.rtol, std::abs(worst_.numeric),
        off_, compared_);
  }

  struct Worst {
    double excess = 0;
    std::size_t k = 0;
    std::int64_t i = 0;
    std::size_t j = 0;
    double analytic = 0, numeric = 0;
  };

  Names names_;
  const TensorFunction& f_;
  const Tensors& inputs_;
  const GradcheckOptions& options_;
  detail::SameNumbers numbers_;
  std::vector<std::size_t> moved_;  // indices of the inputs that require grad
  Tensors wanted_;                  // these
  std::vector<Shape> shapes_;       // of the outputs
  std::vector<double> first_;       // original values
  std::vector<Array> analytic_;     // for each input, [outputs' elements, its elements]
  Worst worst_;
  std::int64_t off_ = 0, compared_ = 0;
};

/// f's outputs that require grad.
Tensors taped_outputs(const TensorFunction& f, const Tensors& inputs) {
  Tensors ys;
  for (Tensor& y : f(inputs, "gradgradcheck")) {
    check(y.defined(), "gradgradcheck: the function returned an undefined tensor");
    if (y.requires_grad()) ys.push_back(std::move(y));
  }
  return ys;
}

/// One gradient for each of the inputs `x`: the sum of those of all outputs, 0 where none arrives.
Tensors gradients(const Tensors& ys, const Tensors& x, const Tensors& v, bool create_graph) {
  check(ys.size() == v.size(),
        "gradgradcheck: expects a grad_output for each of the {} outputs that require grad, got {}",
        ys.size(), v.size());
  Tensors total(x.size());
  for (std::size_t k = 0; k < ys.size(); ++k) {
    const Tensors part =
        grad(ys[k], x,
             {.grad_output = v[k], .retain_graph = true, .create_graph = create_graph, .allow_unused = true});
    for (std::size_t i = 0; i < x.size(); ++i)
      if (part[i].defined()) total[i] = total[i].defined() ? total[i] + part[i] : part[i];
  }
  for (std::size_t i = 0; i < x.size(); ++i)
    if (!total[i].defined()) total[i] = zeros(x[i].shape(), x[i].dtype());
  return total;
}

/// The grad_outputs given, or random ones that require grad themselves.
Tensors grad_outputs_for(const Tensors& ys, const Tensors& given) {
  Tensors v = given;
  Generator generator(0);
  for (std::size_t k = 0; k < ys.size(); ++k) {
    check(ys[k].dtype() == f64,
          "gradgradcheck: output {} {} of those that require grad is {}, whose rounding differences would "
          "magnify: compute it in f64",
          k, ys[k].shape(), ys[k].dtype());
    if (given.empty()) v.push_back(randn(ys[k].shape(), generator, f64).requires_grad_());
  }
  for (std::size_t k = 0; k < v.size(); ++k) {
    check(v[k].defined(), "gradgradcheck: grad_output {} is an undefined tensor", k);
    if (v[k].requires_grad()) detail::check_movable("gradgradcheck", "grad_output", k, v[k]);
  }
  return v;
}

/// The gradients on the tape must be those of a plain backward.
void check_same(const Tensors& taped, const Tensors& plain, const std::vector<std::size_t>& inputs,
                const GradgradcheckOptions& options) {
  for (std::size_t k = 0; k < taped.size(); ++k) {
    const std::vector<double> got = taped[k].to_vector<double>(), want = plain[k].to_vector<double>();
    for (std::size_t j = 0; j < got.size(); ++j) {
      const bool near = std::abs(got[j] - want[j]) <= options.atol + options.rtol * std::abs(want[j]);
      if (!near)
        fail_with(
            "gradgradcheck: the gradient of input {} {} at {} is {:.6g} with create_graph, {:.6g} without: "
            "the op's backward for Tensors differs from that for Arrays",
            inputs[k], taped[k].shape(), place(taped[k].shape(), static_cast<std::int64_t>(j)), got[j],
            want[j]);
    }
  }
}

}  // namespace

void gradcheck(const TensorFunction& f, const std::vector<Tensor>& inputs, const GradcheckOptions& options) {
  Names names{"gradcheck", [](std::size_t i) { return fmt::format("input {}", i); },
              [](std::size_t k) { return fmt::format("output {}", k); }};
  Check(std::move(names), f, inputs, options).run();
}

void gradgradcheck(const TensorFunction& f, const std::vector<Tensor>& inputs,
                   const GradgradcheckOptions& options) {
  const std::vector<std::size_t> moved = moved_inputs("gradgradcheck", inputs);
  Tensors x, all = inputs;
  for (const std::size_t i : moved) x.push_back(inputs[i]);
  {
    const detail::SameNumbers numbers;
    const EnableGrad guard;
    const Tensors ys = taped_outputs(f, inputs);
    check(!ys.empty(),
          "gradgradcheck: no output of the function requires grad: it must compute one from its inputs with "
          "ops that record themselves");
    const Tensors v = grad_outputs_for(ys, options.grad_outputs);
    all.insert(all.end(), v.begin(), v.end());
    check_same(gradients(ys, x, v, /*create_graph=*/true), gradients(ys, x, v, /*create_graph=*/false), moved,
               options);
  }
  const std::size_t n = inputs.size();
  Names names{"gradgradcheck",
              [n](std::size_t i) {
                return i < n ? fmt::format("input {}", i) : fmt::format("grad_output {}", i - n);
              },
              [&](std::size_t k) { return fmt::format("the gradient of input {}", moved[k]); }};
  // Check takes values under NoGrad and moves elements in place, so the inputs here are those above.
  const TensorFunction g = [&](const Tensors& here) {
    const EnableGrad guard;
    const auto first_v = here.begin() + static_cast<std::ptrdiff_t>(n);
    return gradients(taped_outputs(f, inputs), x, Tensors(first_v, here.end()), /*create_graph=*/true);
  };
  Check(std::move(names), g, all, {options.eps, options.atol, options.rtol}).run();
}

}  // namespace gradus
