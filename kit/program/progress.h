#pragma once
// Progress on stderr: a bar that is redrawn on a terminal, occasional lines elsewhere.

#include <concepts>
#include <memory>
#include <string>
#include <string_view>

#include "gradus/core/cxx20.h"

namespace gradus::kit {

struct ProgressOutput;  // kit/program/detail/progress_output.h: for tests

/// Shows the progress of a long job.
///
///   kit::Progress progress("training", steps);
///   for (...) progress.update(step, "loss " + std::to_string(loss));
///   progress.finish();
///
/// On a terminal: `training  [=====>      ]  41%  1 min 20 s left  loss 2.113`, at most ten times a second.
/// Elsewhere, a line after 5 s, then one for every tenth of the work, at least 30 s and at most 10 min apart.
class Progress {
 public:
  /// `total` is any amount of work that grows linearly with time: steps, or steps x layers if runs differ in
  /// size.
  Progress(std::string label, double total);
  Progress(std::string label, double total, ProgressOutput output);
  ~Progress();  // ends the line of an unfinished bar
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Reports that `done` of the total is finished; shows `detail` after the remaining time.
  void update(double done, std::string_view detail = {});
  template <class T>
  requires std::integral<T> || std::floating_point<T>
  void update(double, T) {
    static_assert(sizeof(T) == 0, "the detail is a text: \"loss \" + std::to_string(loss)");
  }
  /// Prints a line above the bar.
  void note(std::string_view line);
  /// Shows the time taken, and the share reached if that is not all; later calls do nothing.
  void finish(std::string_view detail = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gradus::kit
