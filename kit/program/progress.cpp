#include "gradus/kit/program/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "gradus/core/check.h"
#include "gradus/core/io/printable.h"
#include "gradus/kit/program/detail/ending.h"
#include "gradus/kit/program/detail/eta.h"
#include "gradus/kit/program/detail/progress_output.h"
#include "gradus/kit/program/duration.h"

namespace gradus::kit {
namespace {

constexpr double redraw_every = 0.1;  // seconds
constexpr double first_line_after = 5;
constexpr double lines_apart = 30;
constexpr double lines_at_most_apart = 600;

void write_to_stderr(std::string_view text) {
  while (!text.empty() && !is_silent()) {
    const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written <= 0) return;  // a failed write must not stop the job
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

int width_of_stderr() {
  const char* terminal = std::getenv("TERM");
  if (isatty(STDERR_FILENO) == 0 || terminal == nullptr || std::string_view(terminal) == "dumb") return 0;
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

double steady_seconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

// At most the first `columns` bytes, never a part of a character.
std::string_view shortened(std::string_view line, int columns) {
  std::size_t size = std::min(line.size(), static_cast<std::size_t>(std::max(columns, 0)));
  while (size > 0 && size < line.size() && (static_cast<unsigned char>(line[size]) & 0xC0) == 0x80) --size;
  return line.substr(0, size);
}

}  // namespace

struct Progress::State {
  State(const std::string& name, double total, ProgressOutput to)
      : label(io::printable(name)), output(std::move(to)), eta(total, output.clock()), last_shown(-1e9) {
    // Without a terminal the first line is delayed, so that short jobs print only their result.
    if (output.width() == 0) last_shown = output.clock() + first_line_after - lines_apart;
  }

  bool line_is_due(double now) const;
  double share() const { return eta.total() > 0 ? std::clamp(eta.done() / eta.total(), 0.0, 1.0) : 1.0; }
  std::string facts(std::string_view detail) const;
  void draw_bar(int width, std::string_view detail);
  void clear_bar() const {
    if (bar_on_screen) output.write("\r\x1b[K");
  }

  std::string label;
  ProgressOutput output;
  Eta eta;
  double last_shown;
  double shown_done = 0;
  bool bar_on_screen = false;
  bool finished = false;
};

Progress::Progress(std::string label, double total)
    : Progress(std::move(label), total, {write_to_stderr, steady_seconds, width_of_stderr}) {}

Progress::Progress(std::string label, double total, ProgressOutput output)
    : state_(std::make_unique<State>(label, total, std::move(output))) {
  check(std::isfinite(total), "Progress: expects a finite total, got {}", total);
}

Progress::~Progress() {
  if (state_->bar_on_screen && !state_->finished) state_->output.write("\n");
}

void Progress::update(double done, std::string_view detail) {
  State& s = *state_;
  if (s.finished) return;
  const double now = s.output.clock();
  s.eta.update(done, now);
  const int width = s.output.width();
  if (width > 0 ? now - s.last_shown < redraw_every : !s.line_is_due(now)) return;
  s.last_shown = now;
  width > 0 ? s.draw_bar(width, detail) : s.output.write(fmt::format("{}  {}\n", s.label, s.facts(detail)));
  s.shown_done = done;
}

void Progress::note(std::string_view line) {
  State& s = *state_;
  s.clear_bar();
  s.output.write(io::printable_text(line) + "\n");
  s.bar_on_screen = false;
  s.last_shown = s.output.width() > 0 ? -1e9 : s.last_shown;  // the next update draws the bar again
}

void Progress::finish(std::string_view detail) {
  State& s = *state_;
  if (s.finished) return;
  s.finished = true;
  s.eta.update(s.eta.done(), s.output.clock());
  const std::string after = detail.empty() ? "" : fmt::format("  {}", io::printable(detail));
  s.clear_bar();
  const std::string how =
      s.share() < 1 ? fmt::format("ended at {:.0f}% after", std::floor(100 * s.share())) : "done in";
  s.output.write(fmt::format("{}  {} {}{}\n", s.label, how, human_duration(s.eta.elapsed()), after));
}

bool Progress::State::line_is_due(double now) const {
  const double passed = now - last_shown;
  const bool far_enough = shown_done == 0 || eta.done() - shown_done >= eta.total() / 10;
  return (passed >= lines_apart && far_enough) || passed >= lines_at_most_apart;
}

std::string Progress::State::facts(std::string_view detail) const {
  std::string text = fmt::format("{:3.0f}%", std::floor(100 * share()));
  if (const auto left = eta.remaining()) text += fmt::format("  {} left", human_duration(*left));
  if (!detail.empty()) text += fmt::format("  {}", io::printable(detail));
  return text;
}

void Progress::State::draw_bar(int width, std::string_view detail) {
  constexpr int widest_bar = 40;
  constexpr int narrowest_bar = 8;
  std::string line = facts(detail);
  const int room = width - 1 - static_cast<int>(label.size() + line.size()) - 6;
  if (room >= narrowest_bar) {
    const int length = std::min(room, widest_bar);
    const int filled = static_cast<int>(share() * length);
    const std::string head = filled < length ? ">" : "";
    const std::string bar = std::string(static_cast<std::size_t>(filled), '=') + head;
    line = fmt::format("{}  [{:<{}}]  {}", label, bar, length, line);
  } else {
    line = fmt::format("{}  {}", label, line);
  }
  // Leaves the last column free: some terminals wrap when it is written.
  output.write(fmt::format("\r{}\x1b[K", shortened(line, width - 1)));
  bar_on_screen = true;
}

}  // namespace gradus::kit
