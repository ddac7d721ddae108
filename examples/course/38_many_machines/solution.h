#include "learn/learn.h"

std::vector<float> sum_of_shards(int count, const std::function<std::vector<float>(int)>& shard) {
  if (count == 1) return shard(0);
  const int half = count / 2;
  std::vector<float> sum = sum_of_shards(half, shard);
  const std::vector<float> right = sum_of_shards(half, [&](int k) { return shard(half + k); });
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += right[i];
  return sum;
}

std::vector<float> all_reduce(Rank& rank, const std::vector<float>& x) {
  const auto n = static_cast<std::size_t>(rank.size());
  std::vector<float> sum = x;
  sum.resize((x.size() + n - 1) / n * n);
  const auto begin = sum.begin();
  std::ptrdiff_t first = 0, size = std::ssize(sum);  // what this rank owns
  for (int bit = 1; bit < rank.size(); bit *= 2) {
    const int peer = rank.rank() ^ bit;
    size /= 2;
    const std::ptrdiff_t lower = first, upper = first + size;
    first = rank.rank() < peer ? lower : upper;
    const std::ptrdiff_t other = rank.rank() < peer ? upper : lower;
    rank.send(peer, {begin + other, begin + other + size});
    const std::vector<float> terms = rank.receive(peer);
    for (std::size_t i = 0; i < terms.size(); ++i) sum[static_cast<std::size_t>(first) + i] += terms[i];
  }
  for (int bit = rank.size() / 2; bit > 0; bit /= 2) {
    const int peer = rank.rank() ^ bit;
    rank.send(peer, {begin + first, begin + first + size});
    const std::vector<float> others = rank.receive(peer);
    std::copy(others.begin(), others.end(), begin + (rank.rank() < peer ? first + size : first - size));
    if (rank.rank() > peer) first -= size;
    size *= 2;
  }
  sum.resize(x.size());
  return sum;
}

float mean_loss(Rank& rank, const std::vector<Part>& parts) {
  const auto of_shard = [&](int k) -> std::vector<float> {
    const Part& part = parts[static_cast<std::size_t>(k)];
    return {part.tokens > 0 ? part.loss * part.tokens : 0, part.tokens};
  };
  const std::vector<float> sums = all_reduce(rank, sum_of_shards(static_cast<int>(parts.size()), of_shard));
  return sums[0] / sums[1];
}
