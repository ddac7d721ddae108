#pragma once
// The interpreter of random graphs: the library's rules about memory and the tape, without its strides,
// storages and closures. A tensor is a list of cells, numbers in a memory with a version; of a tensor on the
// tape, each element is a number of the scalar tape, too. Values come from the ops' `naive` functions.
//
// Every value is checked against the library's, and then replaced by it: so rounding does not add up along a
// graph, and both decide on the same numbers.

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "reliability/graphs/step.h"

namespace gradus::test::graphs {

struct Value {
  bool defined = false;
  Shape shape = {};
  DType dtype = DType::f32;
  int memory = -1;
  std::vector<int> cells = {};       // places in the memory, in row-major order
  int node = -1;                     // -1: a constant
  std::vector<Scalar> numbers = {};  // on the tape
  bool contiguous = true;

  bool taped() const { return node >= 0; }
  bool floating() const { return is_floating(dtype); }
};

enum class HookKind { observe, scale, square, of_arrays };

struct TapeNode {
  struct Read {
    int memory = -1, version = 0;
    int needs = -1;      // only when this input needs a gradient
    bool maybe = false;  // or a copy was saved
  };
  enum class Freed { no, maybe, yes };
  std::vector<int> inputs = {};  // nodes, -1 for constants
  std::vector<Read> reads = {};
  std::vector<Scalar> numbers = {};
  std::vector<std::pair<HookKind, double>> hooks = {};
  bool leaf = false, retains = false;
  bool pass = false;         // a gradient on the tape: its inputs are what the pass went through
  bool in_formulas = false;  // its values may be part of the formula of its inputs' gradients
  Freed freed = Freed::no;
  std::vector<double> grad = {};  // empty: none
};

/// What a backward pass does.
struct Pass {
  bool must_fail = false, may_fail = false;
  bool through_pass = false;      // a derivative of a gradient: what it goes through depends on the formula
  std::vector<int> visited = {};  // nodes a gradient arrives at, newest first
  std::vector<int> passed = {};   // nodes whose gradient is passed on
  std::vector<Scalar> gradients = {};  // of every number
};

class Interpreter {
 public:
  Interpreter() { tape().clear(); }

  std::vector<std::vector<Value>> values;  // of each step
  std::vector<TapeNode> nodes;

  const Value& at(Ref ref) const { return values[sz(ref.step)][sz(ref.output)]; }
  /// The numbers of a value as they are now; as constants where the tape is off.
  Block read(const Value& x, bool taped);
  double cell(const Value& x, std::size_t i) const { return memories_[sz(x.memory)].cells[sz(x.cells[i])]; }
  void set_cell(const Value& x, std::size_t i, double value);
  void written(const Value& x) { ++memories_[sz(x.memory)].version; }
  bool shares_cells(const Value& x) const;

  Value in_new_memory(const Shape& shape, DType dtype, const std::vector<double>& numbers);
  /// A view of x with these of its elements.
  Value view_of(const Value& x, const Shape& shape, const std::vector<int>& elements);
  /// Puts y, whose numbers were computed as these, on the tape.
  void record(Value& y, const Block& numbers, const Step& step, const std::vector<Value>& inputs,
              const Value* output);
  void make_leaf(Value& y);

  /// The nodes that the root was computed from.
  std::vector<bool> leads_to(int root) const;
  /// Which nodes a pass goes through, and whether it fails.
  Pass predict(int root, const std::vector<int>& wanted) const;
  /// Its gradients.
  void run(Pass& pass, const std::vector<Scalar>& root, const std::vector<Scalar>& seed);
  /// The nodes are freed.
  void free(const Pass& pass, int root, const std::vector<int>& wanted);

 private:
  struct Memory {
    std::vector<double> cells;
    int version = 0;
  };
  std::vector<Memory> memories_;
};

double rounding_of(DType dtype);

}  // namespace gradus::test::graphs
