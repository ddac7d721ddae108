#include "learn/learn.h"

// The same bits for any number of threads. About 12 lines.
//
// Floating-point addition depends on the order: (a + b) + c is not a + (b + c). Here the sum is cut into
// chunks, and each task adds one chunk, from its first element on. Tasks end in any order. What must a chunk
// not depend on, and where, when and in which order are the results of the tasks joined, so that any number
// of threads gives the same bits?
//
//   void run_tasks(int threads, int tasks, const std::function<void(int)>& task);
//
// is given in examples/course/37_saving/given.h: it runs task(0) .. task(tasks - 1) in an unspecified order.
//
// Forbidden: sum and mean of a Tensor; calling run_tasks with another number of threads than the given one.

/// Returns the sum of x, with chunks of 64 elements (the last may be smaller).
double sum_of(const std::vector<double>& x, int threads) { return todo(x, threads); }
