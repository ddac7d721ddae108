#pragma once
// The tape. autograd.cpp opens with an essay on how it works.

#include <atomic>
#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gradus/core/array/array.h"

namespace gradus {

class Tensor;
class Node;

/// Intrusive shared pointer to a Node; destruction is iterative, however long the chain.
class NodePtr {
 public:
  NodePtr() = default;
  explicit NodePtr(Node* node) noexcept;  // shares
  NodePtr(const NodePtr& other) noexcept : NodePtr(other.node_) {}
  NodePtr(NodePtr&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  NodePtr& operator=(NodePtr other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~NodePtr();
  Node* get() const { return node_; }
  Node* operator->() const { return node_; }
  Node& operator*() const { return *node_; }
  explicit operator bool() const { return node_ != nullptr; }
  friend bool operator==(const NodePtr& a, const NodePtr& b) { return a.node_ == b.node_; }

 private:
  friend class Node;
  Node* node_ = nullptr;
};

/// An op's gradient for one input: an Array, or how to write it, for one that is small beside its Array (a
/// few rows of a table) or that a kernel can accumulate in place. Undefined if none flows.
class Gradient {
 public:
  /// Writes the gradient to total or, with `add`, adds it. total is contiguous.
  using Write = std::function<void(const Array& total, bool add)>;

  Gradient() = default;
  Gradient(Array array) : array_(std::move(array)) {}
  Gradient(const Shape& shape, DType dtype, Write write)
      : written_(std::make_shared<const Written>(Written{shape, dtype, std::move(write)})) {}

  bool defined() const { return array_.defined() || written_; }                       // whether one flows
  const Shape& shape() const { return written_ ? written_->shape : array_.shape(); }  // of the input
  DType dtype() const { return written_ ? written_->dtype : array_.dtype(); }         // of the input
  /// Undefined when it is to be written.
  const Array& array() const { return array_; }
  Array take() { return std::move(array_); }
  /// Null when it is an array.
  const Write* write() const { return written_ ? &written_->write : nullptr; }

 private:
  struct Written {
    Shape shape;
    DType dtype;
    Write write;
  };
  Array array_;
  std::shared_ptr<const Written> written_;
};

/// The result of a backward closure: one gradient per input, in order. The engine adds them.
class Grads : public std::vector<Gradient> {
 public:
  Grads() = default;
  /// `return {dx, dw};` Temporaries are moved, which an initializer list could not.
  template <std::convertible_to<Gradient>... Rest>
  Grads(Gradient first, Rest... rest) : std::vector<Gradient>(1 + sizeof...(rest)) {
    Gradient* next = data();  // push_back would look at the capacity each time
    *next = std::move(first);
    ((*++next = std::move(rest)), ...);
  }
};

/// Which inputs want a gradient: `if (needs[1]) ...` saves work for constants.
class Needs {
 public:
  explicit Needs(const Node& node) : node_(&node) {}
  bool operator[](std::size_t input) const;

 protected:
  const Node* node_;
};

/// Gets a gradient and returns its replacement: an undefined one leaves it unchanged. Passes whose gradients
/// are on the tape call `taped`; without it, they call `plain`, which may only observe.
struct GradHook {
  std::function<Array(const Array& gradient)> plain;
  std::function<Tensor(const Tensor& gradient)> taped;
};

/// One entry of the tape: an op's output, or a leaf that accumulates a gradient. Intermediate gradients
/// belong to the backward pass, not the node: passes of several threads may visit one node at the same time.
class Node {
 public:
  virtual ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  const char* op = "leaf";      // the op's name
  const char* label = "";       // the Scope it was recorded in; a leaf's own name
  std::uint64_t order = 0;      // place on the tape: inputs are always older
  Shape shape;                  // of the output
  DType dtype = DType::f32;     // of the output
  DType products;               // product_dtype() when it was recorded, and for its backward
  std::vector<NodePtr> inputs;  // empty pointer: that input wants no gradient

  // Leaves (and nodes with retain_grad) keep their gradient here.
  bool is_leaf = false;
  bool requires_grad = true;  // a leaf can be frozen
  bool retain_grad = false;
  std::atomic<std::uint8_t> marks = 0;  // for layers above the tape, which ignores them
  Array grad;

  /// `hook` sees, and may replace, the complete gradient before it is passed on, starting with the next
  /// visit.
  void add_hook(GradHook hook);
  /// `x` is the first input of the recorded op.
  void remember_first_input(const Array& x);
  /// Backward went through and freed closure and inputs.
  bool ran() const { return passes_.load(std::memory_order_relaxed) <= kFreed; }

  /// Gradients of the inputs, from that of the output.
  virtual Grads backward(const Array&, Needs) { return {}; }
  /// The same with gradients on the tape, for grad(..., {.create_graph = true}): see record().
  virtual std::vector<Tensor> derivative(const Tensor& dy, Needs needs);
  virtual void free_saved() {}  // frees what was saved for backward

  // Nodes come from a pool of reused memory.
  static void* operator new(std::size_t bytes);
  static void operator delete(void* memory, std::size_t bytes);

 protected:
  Node();

 private:
  friend class NodePtr;
  template <class>
  friend class Engine;
  friend class PassNodes;
  struct Hook {
    GradHook call;
    Hook* older;
  };
  struct Memory {
    const char* data = nullptr;
    std::int64_t bytes = 0;
  };
  static constexpr std::int32_t kFreeing = -1, kFreed = -2, kFreedByGrad = -3;
  static void drop(Node* node) noexcept;
  template <class V>
  V call_hooks(V gradient) const;
  void add_to_grad(Array gradient);

  std::atomic<std::int64_t> references_{0};
  std::atomic<Hook*> hooks_{nullptr};    // the newest; none is removed before the node is
  std::atomic<std::int32_t> passes_{0};  // inside that free nothing; kFreeing: one that will; kFreed...
  std::atomic<std::uint32_t> slot_{0};   // a hint: its place in the list of the pass that looked last
  Node* next_doomed_ = nullptr;
  Memory first_input_;  // memory its step will likely read, only a hint
};

inline NodePtr::NodePtr(Node* node) noexcept : node_(node) {
  if (node_) node_->references_.fetch_add(1, std::memory_order_relaxed);
}

inline NodePtr::~NodePtr() {
  // The only owner needs no atomic subtraction: no other can be copied.
  if (node_ && (node_->references_.load(std::memory_order_acquire) == 1 ||
                node_->references_.fetch_sub(1, std::memory_order_acq_rel) == 1))
    Node::drop(node_);
}

/// An array kept for backward together with its storage's version; reading it after an in-place write throws.
class Saved {
 public:
  Saved() = default;
  Saved(Array array)
      : array_(std::move(array)), version_(array_.defined() ? array_.storage().version() : 0) {}
  /// The array; throws naming the running backward op when its memory was written since it was saved.
  const Array& get() const {
    if (array_.defined() && array_.storage().version() != version_) [[unlikely]]
      modified();
    return array_;
  }
  const Array& operator*() const { return get(); }
  const Array* operator->() const { return &get(); }

 private:
  [[noreturn]] void modified() const;
  Array array_;
  std::uint32_t version_ = 0;
};

/// False inside NoGrad: ops record nothing. Per thread, independent of Module::train and eval.
bool grad_enabled();

/// Disables the tape for one scope: `{ NoGrad guard; w.copy_(v); }`
class NoGrad {
 public:
  [[nodiscard("give it a name: it works until the end of its scope")]] NoGrad();
  ~NoGrad();
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;

 private:
  bool before_;
};

/// Re-enables the tape for one scope inside NoGrad: `{ EnableGrad guard; f(x).backward(); }`
class EnableGrad {
 public:
  [[nodiscard("give it a name: it works until the end of its scope")]] EnableGrad();
  ~EnableGrad();
  EnableGrad(const EnableGrad&) = delete;
  EnableGrad& operator=(const EnableGrad&) = delete;

 private:
  bool before_;
};

/// Checks every op's output and every gradient for NaN for one scope and throws naming the op and the module
/// where the first one appears. Slow: for debugging. `DetectAnomaly guard;`
class DetectAnomaly {
 public:
  [[nodiscard("give it a name: it works until the end of its scope")]] DetectAnomaly();
  ~DetectAnomaly();
  DetectAnomaly(const DetectAnomaly&) = delete;
  DetectAnomaly& operator=(const DetectAnomaly&) = delete;

 private:
  bool before_;
};

/// For one scope, backward passes of this thread add a leaf's gradient to its grad as soon as it is complete,
/// right after the oldest op that used the leaf, instead of at the end, and then call `ready` with the leaf:
/// for sending gradients while the pass goes on. Same bits. When such a pass throws, some leaves have their
/// gradients and others do not. `EarlyGrads guard([&](Node& leaf) { send(leaf.grad); });`
class EarlyGrads {
 public:
  using Ready = std::function<void(Node& leaf)>;  // gets a leaf whose grad is complete
  [[nodiscard("give it a name: it works until the end of its scope")]] explicit EarlyGrads(Ready ready);
  ~EarlyGrads();
  EarlyGrads(const EarlyGrads&) = delete;
  EarlyGrads& operator=(const EarlyGrads&) = delete;

 private:
  Ready ready_;
  const Ready* before_;
};

/// Live nodes (all threads), including leaves: between two steps, one per parameter. For leak tests.
std::int64_t live_nodes();

/// Runs the tape backward from `root` with the gradient `seed` of its shape. Tensor::backward calls this.
void run_backward(const Tensor& root, const Array& seed, bool retain_graph);

/// The same for only these leaves or inner tensors: returns their gradients, each in memory of its own,
/// undefined where none arrives, and adds to no grad. With retain_graph false, the nodes it goes through are
/// freed.
std::vector<Array> run_backward_to(std::span<Node* const> wanted, const Tensor& root, const Array& seed,
                                   bool retain_graph);

/// The same with gradients that are themselves on the tape; frees no node.
std::vector<Tensor> run_backward_taped(std::span<Node* const> wanted, const Tensor& root, const Tensor& seed);

/// For a backward that recomputes part of the tape: passes back from `root` to `node`'s inputs, as part of
/// the running pass. The inputs accumulate what reaches them and are visited later.
void run_backward_within(const Node& node, const Tensor& root, const Array& seed);
void run_backward_taped_within(const Node& node, const Tensor& root, const Tensor& seed);

/// The tape leading to `root` as text, one line per node, newest first: order, op, shape, inputs, module.
std::string explain(const Tensor& root);

}  // namespace gradus
