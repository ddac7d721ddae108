// gradcheck      J[j, i] = dy_j / dx_i
//   analytic     row j by a backward pass from y_j, the tape kept for the next row
//   numeric      column i from y at x_i + eps and x_i - eps, written into x's own memory and taken back

#include "gradus/ops/gradcheck.h"

#include <cmath>

#include "gradus/core/detail/format.h"
#include "gradus/core/tape/grad.h"
#include "gradus/ops/detail/repeatable.h"

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

class Check {
 public:
  Check(const TensorFunction& f, const Tensors& inputs, const GradcheckOptions& options)
      : f_(f), inputs_(inputs), options_(options) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      check(inputs[i].defined(), "gradcheck: input {} is an undefined tensor", i);
      if (!inputs[i].requires_grad()) continue;
      detail::check_movable("gradcheck", "input", i, inputs[i]);
      moved_.push_back(i);
      wanted_.push_back(inputs[i]);
    }
    check(!moved_.empty(),
          "gradcheck: none of the {} inputs requires grad: call requires_grad_() on those to be checked",
          inputs.size());
    check(options.eps > 0 && options.atol >= 0 && options.rtol >= 0,
          "gradcheck: expects an eps above 0 and tolerances of 0 or more, got eps {}, atol {}, rtol {}",
          options.eps, options.atol, options.rtol);
  }

  void run() {
    backward();
    if (values() != first_)
      fail(
          "gradcheck: the function gave other values in a second call with the same inputs: it must compute "
          "the same each time; recreate any generator in each call");
    for (std::size_t k = 0; k < moved_.size(); ++k)
      for (std::int64_t i = 0; i < wanted_[k].numel(); ++i) column(k, i);
    if (off_ > 0) fail(message());
  }

 private:
  Tensors outputs() {
    numbers_.again();
    Tensors kept;
    for (Tensor& y : f_(inputs_, "gradcheck")) {
      check(y.defined(), "gradcheck: the function returned an undefined tensor");
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
          "gradcheck: the function returned another number of elements at another place");
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
    if (difference <= tolerance) return;  // not where one is NaN
    ++off_;
    const double excess = std::isnan(difference) ? INFINITY : difference - tolerance;
    if (off_ == 1 || excess > worst_.excess) worst_ = {excess, k, i, j, analytic, numeric};
  }

  std::string message() const {
    std::size_t output = 0;
    std::int64_t j = static_cast<std::int64_t>(worst_.j);
    while (j >= numel(shapes_[output])) j -= numel(shapes_[output++]);
    const Shape& from = wanted_[worst_.k].shape();
    return fmt::format(
        "gradcheck: input {} {} at {}: backward gives {:.6g}, central differences {:.6g} for output {} {} at "
        "{}: off by {:.3g}, more than {:g} + {:g} * {:.3g}; {} of {} derivatives are off",
        moved_[worst_.k], from, place(from, worst_.i), worst_.analytic, worst_.numeric, output,
        shapes_[output], place(shapes_[output], j), std::abs(worst_.analytic - worst_.numeric), options_.atol,
        options_.rtol, std::abs(worst_.numeric), off_, compared_);
  }

  struct Worst {
    double excess = 0;
    std::size_t k = 0;
    std::int64_t i = 0;
    std::size_t j = 0;
    double analytic = 0, numeric = 0;
  };

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

}  // namespace

void gradcheck(const TensorFunction& f, const std::vector<Tensor>& inputs, const GradcheckOptions& options) {
  Check(f, inputs, options).run();
}

}  // namespace gradus
