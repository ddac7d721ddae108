#pragma once
// Progress on stderr: a bar that redraws itself on a terminal, plain lines now and then elsewhere.

#include <functional>
#include <string>
#include <string_view>

#include "gradus/kit/program/duration.h"

namespace gradus::kit {

/// Where progress is shown; the default is this process's stderr and clock.
struct ProgressOutput {
  std::function<void(std::string_view)> write;
  std::function<double()> clock;  // seconds, never going back
  std::function<int()> width;     // columns of the terminal; 0 when it is not one
  static ProgressOutput standard_error();
};

/// Shows how far a long job is.
///
///   Progress progress("training", steps);
///   for (...) progress.update(step, fmt::format("loss {:.3f}", loss));
///   progress.finish();
///
/// On a terminal: `training  [=====>      ]  41%  1 min 20 s left  loss 2.113`, at most ten times a second.
/// Otherwise a line after 5 s, then one for every tenth of the work, at least 30 s and at most 10 min apart.
class Progress {
 public:
  Progress(std::string label, double total, ProgressOutput output = ProgressOutput::standard_error());
  ~Progress();  // ends the line of an unfinished bar
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `done` of the total is finished; `detail` is shown after the time left.
  void update(double done, std::string_view detail = {});
  /// Prints a line above the bar.
  void note(std::string_view line);
  /// Shows the last state with the time it took; later calls do nothing.
  void finish(std::string_view detail = {});

 private:
  void draw_bar(int width, std::string_view detail);
  void print_line(std::string_view detail);
  bool line_is_due(double now) const;
  std::string facts(std::string_view detail) const;

  std::string label_;
  ProgressOutput output_;
  Eta eta_;
  double last_shown_;
  double shown_done_ = 0;
  bool bar_on_screen_ = false;
  bool finished_ = false;
};

}  // namespace gradus::kit
