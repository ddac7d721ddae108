#pragma once
// Chooses the inputs of ops among the values of a graph, or makes new leaves for them.

#include <random>
#include <vector>

#include "reliability/graphs/run.h"

namespace gradus::test::graphs {

/// Which tensors an op takes.
struct Wanted {
  double low = -50, high = 50;  // all elements are in this range
  int rank = 0, most_rank = 4;
  std::int64_t most = 40;  // elements
  bool empty = true;       // it may have no elements
  bool floating = true;    // f32 or f64; else any dtype
  bool constant = false;   // it does not require grad
};

class Draw {
 public:
  Draw(std::uint64_t seed, Run& run, std::vector<Step>& steps) : random_(seed), run_(run), steps_(steps) {}

  std::int64_t below(std::int64_t n) {
    return n <= 1 ? 0 : static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(n));
  }
  std::int64_t between(std::int64_t a, std::int64_t b) { return a + below(b - a + 1); }
  bool chance(double p) { return static_cast<double>(random_() >> 11) * 0x1p-53 < p; }
  /// A multiple of 1/8, so that equal numbers are common.
  double number(double low, double high);

  const Value& value(Ref ref) const { return run_.interpreter().at(ref); }
  const Shape& shape(const Step& p, std::size_t input) const { return value(p.inputs[input]).shape; }

  /// Values of the graph that f accepts, the newest first; undefined ones are left out.
  template <class F>
  std::vector<Ref> all(F f) const {
    std::vector<Ref> found;
    const auto& values = run_.interpreter().values;
    for (std::size_t i = values.size(); i-- > 0;)
      for (std::size_t j = 0; j < values[i].size(); ++j)
        if (values[i][j].defined && f(values[i][j]))
          found.push_back({static_cast<int>(i), static_cast<int>(j)});
    return found;
  }
  Ref any(const std::vector<Ref>& refs) { return refs[sz(below(static_cast<std::int64_t>(refs.size())))]; }
  /// One of these, more likely an early one.
  Ref one_of(const std::vector<Ref>& refs) {
    return refs[sz(std::min(below(static_cast<std::int64_t>(refs.size())),
                            below(static_cast<std::int64_t>(refs.size()))))];
  }

  /// A tensor of the graph, or a new one; appended to p's inputs.
  void add(Step& p, const Wanted& wanted = {});
  /// One that broadcasts with input 0, of its dtype.
  void add_operand(Step& p, const Wanted& wanted = {});
  /// One of this shape and dtype.
  void add_like(Step& p, const Shape& shape, DType dtype, const Wanted& wanted = {});
  /// A new one of this shape: of any layout; a float may require grad.
  void add_new(Step& p, const Shape& shape, DType dtype, double low, double high, bool constant = false);
  /// Indices below n.
  void add_indices(Step& p, const Shape& shape, std::int64_t n);
  /// A tensor to write into; false if there is none.
  bool add_target(Step& p);
  void add_mask(Step& p, const Shape& shape) { add_new(p, shape, boolean, 0, 1); }

  Shape any_shape(int rank, int most_rank, std::int64_t most, bool empty);
  /// A shape that broadcasts to this one.
  Shape narrowed(const Shape& shape);
  std::int64_t any_axis(int rank);  // from -rank to rank - 1
  DType floating() { return chance(single_) ? DType::f32 : DType::f64; }

  void set_single(double share) { single_ = share; }  // of f32 among new leaves
  /// Does a step and keeps it; false if it is unstable.
  bool emit(const Step& p);
  bool ended() const { return ended_; }

 private:
  bool fits(const Value& x, const Wanted& wanted) const;
  /// Appends one of these, mostly; false if a new one is due.
  bool reuse(Step& p, const std::vector<Ref>& found);
  Ref emitted(const Step& p);
  std::mt19937_64 random_;
  Run& run_;
  std::vector<Step>& steps_;
  double single_ = 0.4;
  bool ended_ = false;
};

}  // namespace gradus::test::graphs
