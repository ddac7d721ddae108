struct Answer {
  double (*sum)(const std::vector<double>& x, int threads);
};
#define ANSWER(FROM) \
  { FROM::sum_of }

namespace {
std::vector<double> hard(std::int64_t n) { return (randn({n}) * 10).exp().to_vector<double>(); }
}  // namespace

CASE("every element counts once", "Chunks begin at 64 c and end before 64 (c + 1).") {
  near("the sum of 128 ones", answer.sum(std::vector<double>(128, 1.0), 2), 128);
}
CASE("the remainder counts too", "(n + 63) / 64 chunks; the last may be smaller.") {
  near("the sum of 130 ones", answer.sum(std::vector<double>(130, 1.0), 2), 130);
}
CASE("nothing sums to 0", "No chunks, no tasks.") { near("the sum of nothing", answer.sum({}, 3), 0); }
CASE("run_tasks runs a task for each chunk",
     "run_tasks(threads, chunks, task), with the caller's number of threads.") {
  calls_of_run_tasks.clear();
  answer.sum(hard(1000), 3);
  int tasks = 0;
  for (const auto& [threads, count] : calls_of_run_tasks) {
    expect(threads == 3, phrase("run_tasks gets {0} threads, the caller said 3", threads));
    tasks += count;
  }
  near("for 1000 elements, the number of tasks", tasks, 16);
}
CASE("the same bits with any number of threads",
     "Chunks of 64 whatever `threads` is; add the parts in order, after all tasks.") {
  const std::vector<double> x = hard(1000);
  const double alone = answer.sum(x, 1);
  for (const int threads : {2, 3, 4, 7, 8})
    expect(answer.sum(x, threads) == alone,
           phrase("with {0} threads the last bits differ from those of one", threads));
}
CASE("chunks of 64", "The bits are those of chunks of 64 elements, each added from its first element on.") {
  const std::vector<double> x = hard(640);
  double want = 0;
  for (std::size_t c = 0; c < 10; ++c) {
    double part = 0;
    for (std::size_t i = 64 * c; i < 64 * (c + 1); ++i) part += x[i];
    want += part;
  }
  expect(answer.sum(x, 1) == want, "the last bits are not those of chunks of 64");
}
