#pragma once
// Communicator: what ranks, the processes of one program on one machine or many, say to each other.
//
//   world.rank(), world.size();  // which rank this is, of how many
//   world.all_reduce(x);         // x becomes the sum of every rank's x
//   world.broadcast(x);          // x becomes rank 0's
//
// Every rank makes the same collective calls in the same order, each with the same shapes: all but send and
// recv are collective. A sum is made in one binary tree, ((r0 + r1) + (r2 + r3)) + ..., for every element,
// whatever the size of the array and the speed of the ranks: results are the same bits each time, on all
// ranks.

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "gradus/core/error.h"
#include "gradus/core/tensor.h"

namespace gradus::distributed {

namespace detail {
class Operation;
class Traffic;
}  // namespace detail

/// A call that goes on while the program computes: `Work sum = world.all_reduce_async(x); ...; sum.wait();`
/// Its tensor must not be used until then. Messages move on only inside done(), wait() and other calls of the
/// communicator that wait. A message whose Work is dropped is still sent or received.
class Work {
 public:
  explicit Work(std::shared_ptr<detail::Traffic> traffic, std::unique_ptr<detail::Operation> operation);
  Work(Work&&) noexcept;
  Work& operator=(Work&&) = delete;
  ~Work();
  /// Whether it is complete; never waits.
  bool done();
  /// Returns when it is complete. Throws like the call itself.
  void wait();

 private:
  std::shared_ptr<detail::Traffic> traffic_;
  std::unique_ptr<detail::Operation> operation_;
};

/// Thrown on all ranks at the same call, with the same message, which only one needs to print.
class CommonError : public Error {
 public:
  using Error::Error;  // from a message
};

/// A cheap handle: copies are the same communicator. Only the thread that received it may use it. Errors name
/// the call and the ranks: a call throws when another rank makes a different call at its place, when the
/// sizes differ, when another rank has ended, or after the timeout. (Of sums shapes and dtypes are compared,
/// of other calls the sizes in bytes; roots are not.)
class Communicator {
 public:
  /// This process alone: rank 0 of 1, for which every call does what it does for many.
  Communicator();
  explicit Communicator(std::shared_ptr<detail::Traffic> traffic) : traffic_(std::move(traffic)) {}

  int rank() const;  // of this process, from 0
  int size() const;  // how many ranks there are

  /// Returns when every rank has called it.
  void barrier() const;
  /// Copies x [...] of the root, of any dtype, into that of all ranks. `world.broadcast(x, /*root=*/0);`
  void broadcast(const Tensor& x, int root = 0) const;
  /// x [...], f32, f64 or i64, becomes the sum of every rank's x. Throws unless the number of ranks is a
  /// power of two and x is contiguous. `world.all_reduce(loss);`
  void all_reduce(const Tensor& x) const;
  /// The same as a Work.
  [[nodiscard]] Work all_reduce_async(const Tensor& x) const;
  /// x [size, ...], one row for each rank -> [...], the sum of this rank's row over all ranks. Throws like
  /// all_reduce. `Tensor mine = world.reduce_scatter(rows);`
  Tensor reduce_scatter(const Tensor& x) const;
  /// x [...], of any dtype -> [size, ...], row r being rank r's x. `Tensor losses = world.all_gather(loss);`
  Tensor all_gather(const Tensor& x) const;

  /// Sends x [...], of any dtype, to one rank, which receives it with recv() in a tensor of the same shape
  /// and dtype. Messages with the same tag, 0 to 2047, arrive in the order in which they were sent; they may
  /// wait until they are received. `world.send(h, world.rank() + 1);`
  void send(const Tensor& x, int to, int tag = 0) const;
  void recv(const Tensor& x, int from, int tag = 0) const;
  /// The same as a Work.
  [[nodiscard]] Work isend(const Tensor& x, int to, int tag = 0) const;
  [[nodiscard]] Work irecv(const Tensor& x, int from, int tag = 0) const;

  /// Throws a CommonError on every rank unless all give the same text; it says which ranks differ from rank
  /// 0, and quotes both texts where they do. For what must not differ: `world.expect_same("--lr", "0.001");`
  void expect_same(std::string_view what, std::string_view text) const;
  /// How long a call waits for a message of another rank, at first 1800 s, as PyTorch does with Gloo.
  void set_timeout(double seconds) const;

  /// For the library's own calls.
  detail::Traffic& traffic() const { return *traffic_; }

 private:
  void expect_rank(const char* op, int rank) const;
  std::shared_ptr<detail::Traffic> traffic_;
};

}  // namespace gradus::distributed
