namespace {
double chunked(const std::vector<double>& x, int threads, std::size_t size, bool in_order) {
  const std::size_t chunks = (x.size() + size - 1) / size;
  std::vector<double> part(chunks, 0.0);
  double total = 0;
  run_tasks(threads, static_cast<int>(chunks), [&](int chunk) {
    const std::size_t begin = static_cast<std::size_t>(chunk) * size, end = std::min(begin + size, x.size());
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) sum += x[i];
    part[static_cast<std::size_t>(chunk)] = sum;
    total += sum;
  });
  if (!in_order) return total;
  total = 0;
  for (const double p : part) total += p;
  return total;
}
}  // namespace

namespace a_chunk_for_each_thread {
double sum_of(const std::vector<double>& x, int threads) {
  const auto count = static_cast<std::size_t>(threads);
  return chunked(x, threads, std::max<std::size_t>(1, (x.size() + count - 1) / count), true);
}
}  // namespace a_chunk_for_each_thread
MUTANT(a_chunk_for_each_thread, "run_tasks runs a task for each chunk",
       "the same bits with any number of threads", "chunks of 64")

namespace added_as_they_end {
double sum_of(const std::vector<double>& x, int threads) { return chunked(x, threads, 64, false); }
}  // namespace added_as_they_end
MUTANT(added_as_they_end, "the same bits with any number of threads")

namespace rest_forgotten {
double sum_of(const std::vector<double>& x, int threads) {
  const auto whole = static_cast<std::ptrdiff_t>(x.size() / 64 * 64);
  return solution::sum_of({x.begin(), x.begin() + whole}, threads);
}
}  // namespace rest_forgotten
MUTANT(rest_forgotten, "the remainder counts too", "run_tasks runs a task for each chunk")

namespace first_element_of_the_next {
double sum_of(const std::vector<double>& x, int threads) {
  double twice = 0;
  for (std::size_t i = 64; i < x.size(); i += 64) twice += x[i];
  return solution::sum_of(x, threads) + twice;
}
}  // namespace first_element_of_the_next
MUTANT(first_element_of_the_next, "every element counts once", "the remainder counts too", "chunks of 64")

namespace from_left_to_right {
double sum_of(const std::vector<double>& x, int) { return std::accumulate(x.begin(), x.end(), 0.0); }
}  // namespace from_left_to_right
MUTANT(from_left_to_right, "chunks of 64", "run_tasks runs a task for each chunk")

namespace begins_with_the_first {
double sum_of(const std::vector<double>& x, int threads) {
  return x.empty() ? std::nan("") : solution::sum_of(x, threads);
}
}  // namespace begins_with_the_first
MUTANT(begins_with_the_first, "nothing sums to 0")

namespace without_tasks {
double sum_of(const std::vector<double>& x, int) {
  double total = 0;
  for (std::size_t begin = 0; begin < x.size(); begin += 64) {
    double part = 0;
    for (std::size_t i = begin; i < std::min(begin + 64, x.size()); ++i) part += x[i];
    total += part;
  }
  return total;
}
}  // namespace without_tasks
MUTANT(without_tasks, "run_tasks runs a task for each chunk")

namespace always_one_thread {
double sum_of(const std::vector<double>& x, int) { return solution::sum_of(x, 1); }
}  // namespace always_one_thread
MUTANT(always_one_thread, "run_tasks runs a task for each chunk")
