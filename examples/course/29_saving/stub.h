#include "learn/learn.h"

// The same bits for any number of threads. About 12 lines.
//
// Floating-point addition depends on the order: (a + b) + c is not a + (b + c). So a sum on several threads
// is split into chunks of a fixed size, which does not depend on the number of threads. Each task adds one
// chunk and stores the result in that chunk's place. Finally the results are added in the order of the
// chunks.
//
//   void run_tasks(int threads, int tasks, const std::function<void(int)>& task);
//
// is given in examples/course/29_saving/given.h: it runs task(0) .. task(tasks - 1) in an unspecified order.
//
// Forbidden: sum and mean of a Tensor; calling run_tasks with another number of threads than the given one.

/// Returns the sum of x, with chunks of 64 elements (the last may be smaller).
double sum_of(const std::vector<double>& x, int threads) { return todo(x, threads); }
