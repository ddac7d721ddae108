#pragma once
// Buffers that the forward pass changes, such as BatchNorm's running statistics. Each shard begins with the
// values from before the step; afterwards a buffer is the mean of what the shards made of it, weighted by
// their rows and summed in the tree of the gradients. One of integers, such as a count of batches, is what
// the first shard made of it.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gradus/core/tensor.h"
#include "gradus/distributed/communicator.h"

namespace gradus::distributed::detail {

/// The buffers during one step. If it is not finished, they get back the values they had.
class BufferMeans {
 public:
  BufferMeans(const std::vector<Tensor>& buffers, std::size_t shards);
  ~BufferMeans();
  BufferMeans(const BufferMeans&) = delete;
  BufferMeans& operator=(const BufferMeans&) = delete;

  /// Before and after the forward pass of this rank's shard number k.
  void begin_shard();
  void end_shard(std::size_t k);
  /// Whether the forward pass of one of this rank's shards has changed buffer i.
  bool changed(std::size_t i) const { return changed_[i]; }
  /// Combines those changed on any rank. `rows`: of each of this rank's shards; `total`: of all ranks'.
  void finish(const Communicator& world, const std::vector<bool>& changed_anywhere,
              const std::vector<std::int64_t>& rows, std::int64_t total);

 private:
  std::uint32_t version(std::size_t i) const { return buffers_[i].array().storage().version(); }
  Tensor weighted_sum(std::size_t i, const std::vector<std::int64_t>& rows, std::size_t begin,
                      std::size_t end) const;

  const std::vector<Tensor>& buffers_;
  std::vector<Tensor> before_;
  std::vector<std::uint32_t> versions_;      // since the shard began
  std::vector<std::vector<Tensor>> shards_;  // [shard][buffer], undefined where the shard did not change it
  std::vector<bool> changed_;
  bool finished_ = false;
};

}  // namespace gradus::distributed::detail
