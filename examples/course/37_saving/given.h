#pragma once
// Threads as in a real program: tasks end in an unspecified order.

#include <functional>
#include <utility>
#include <vector>

/// Threads and tasks of each call of run_tasks, for the grader.
inline std::vector<std::pair<int, int>> calls_of_run_tasks;

/// Runs task(0) .. task(tasks - 1) on this many threads. Here the order depends on the number of threads.
inline void run_tasks(int threads, int tasks, const std::function<void(int)>& task) {
  calls_of_run_tasks.emplace_back(threads, tasks);
  for (int first = threads - 1; first >= 0; --first)
    for (int i = first; i < tasks; i += threads) task(i);
}
