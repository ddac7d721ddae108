#include "learn/learn.h"

double sum_of(const std::vector<double>& x, int threads) {
  const std::size_t size = 64, chunks = (x.size() + size - 1) / size;
  std::vector<double> part(chunks, 0.0);
  run_tasks(threads, static_cast<int>(chunks), [&](int chunk) {
    const std::size_t begin = static_cast<std::size_t>(chunk) * size, end = std::min(begin + size, x.size());
    for (std::size_t i = begin; i < end; ++i) part[static_cast<std::size_t>(chunk)] += x[i];
  });
  double total = 0;
  for (const double p : part) total += p;
  return total;
}
