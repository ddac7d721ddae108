#pragma once
// How bytes get from rank to rank: by MPI (mpi.cpp), between threads (threads.cpp), or not at all
// (alone.cpp).

#include <cstddef>
#include <limits>
#include <memory>
#include <span>

namespace gradus::distributed::detail {

using Bytes = std::span<std::byte>;
using ConstBytes = std::span<const std::byte>;

/// Bytes under way. Their memory must stay until done() is true. Only an error that ends the program destroys
/// a Transfer earlier: a late message may then still be written to memory that an Array had, which the
/// allocator keeps.
class Transfer {
 public:
  /// The message had more bytes than there was room for.
  static constexpr std::size_t kTooMany = std::numeric_limits<std::size_t>::max();

  Transfer() = default;
  virtual ~Transfer() = default;
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  /// Whether it is complete. Never waits. Throws when the connection failed.
  virtual bool done() = 0;
  /// How many bytes the message had, once it is complete; for a send, all.
  virtual std::size_t bytes() const = 0;
};

/// The ranks of one job. Messages between two ranks with the same tag (0 to 32767) arrive in order.
class Transport {
 public:
  static constexpr int kAnyRank = -1, kNone = -1;

  Transport() = default;
  virtual ~Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual std::unique_ptr<Transfer> send(ConstBytes bytes, int to, int tag) = 0;
  virtual std::unique_ptr<Transfer> receive(Bytes bytes, int from, int tag) = 0;
  /// The sender of a message with this tag that has arrived and that no receive() waits for, or kNone.
  virtual int arrived(int from, int tag) = 0;
};

/// One rank, which has nobody to talk to.
std::unique_ptr<Transport> alone();

}  // namespace gradus::distributed::detail
