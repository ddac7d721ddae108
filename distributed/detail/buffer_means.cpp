#include "gradus/distributed/detail/buffer_means.h"

#include "gradus/ops/ops.h"

namespace gradus::distributed::detail {

BufferMeans::BufferMeans(const std::vector<Tensor>& buffers, std::size_t shards)
    : buffers_(buffers), shards_(shards, std::vector<Tensor>(buffers.size())), changed_(buffers.size()) {
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    before_.push_back(buffers[i].clone());
    versions_.push_back(version(i));
  }
}

BufferMeans::~BufferMeans() {
  if (finished_) return;
  for (std::size_t i = 0; i < buffers_.size(); ++i)
    if (changed_[i] || version(i) != versions_[i]) buffers_[i].copy_(before_[i]);
}

void BufferMeans::begin_shard() {
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    if (changed_[i]) buffers_[i].copy_(before_[i]);
    versions_[i] = version(i);
  }
}

void BufferMeans::end_shard(std::size_t k) {
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    if (version(i) == versions_[i]) continue;
    changed_[i] = true;
    shards_[k][i] = buffers_[i].clone();
  }
}

/// Over the shards begin .. end - 1, in f64.
Tensor BufferMeans::weighted_sum(std::size_t i, const std::vector<std::int64_t>& rows, std::size_t begin,
                                 std::size_t end) const {
  if (end - begin > 1) {
    const std::size_t middle = begin + (end - begin) / 2;
    return weighted_sum(i, rows, begin, middle) + weighted_sum(i, rows, middle, end);
  }
  if (rows[begin] == 0) return zeros(before_[i].shape(), f64);
  const Tensor& values = shards_[begin][i].defined() ? shards_[begin][i] : before_[i];
  return values.to(f64) * rows[begin];
}

void BufferMeans::finish(const Communicator& world, const std::vector<bool>& changed_anywhere,
                         const std::vector<std::int64_t>& rows, std::int64_t total) {
  const NoGrad guard;
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    if (!changed_anywhere[i]) continue;
    if (is_floating(buffers_[i].dtype()) || is_half(buffers_[i].dtype())) {
      const Tensor sum = weighted_sum(i, rows, 0, rows.size()).contiguous();
      world.all_reduce(sum);
      buffers_[i].copy_(sum / total);
    } else {
      const Tensor first = (shards_[0][i].defined() ? shards_[0][i] : before_[i]).contiguous();
      world.broadcast(first);
      buffers_[i].copy_(first);
    }
  }
  finished_ = true;
}

}  // namespace gradus::distributed::detail
