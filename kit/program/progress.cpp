#include "gradus/kit/program/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace gradus::kit {
namespace {

constexpr double redraw_every = 0.1;  // seconds
constexpr double first_line_after = 5;
constexpr double lines_apart = 30;
constexpr double lines_at_most_apart = 600;

void write_to_stderr(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written <= 0) return;  // progress is no reason to stop a job
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

// The first `columns` bytes at most, never half a character.
std::string_view shortened(std::string_view line, int columns) {
  std::size_t size = std::min(line.size(), static_cast<std::size_t>(std::max(columns, 0)));
  while (size > 0 && size < line.size() && (static_cast<unsigned char>(line[size]) & 0xC0) == 0x80) --size;
  return line.substr(0, size);
}

}  // namespace

ProgressOutput ProgressOutput::standard_error() { return {write_to_stderr, steady_seconds, width_of_stderr}; }

Progress::Progress(std::string label, double total, ProgressOutput output)
    : label_(std::move(label)), output_(std::move(output)), eta_(total, output_.clock()), last_shown_(-1e9) {
  // Without a terminal the first line waits a little: short jobs then print only their result.
  if (output_.width() == 0) last_shown_ = output_.clock() + first_line_after - lines_apart;
}

Progress::~Progress() {
  if (bar_on_screen_ && !finished_) output_.write("\n");
}

void Progress::update(double done, std::string_view detail) {
  if (finished_) return;
  const double now = output_.clock();
  eta_.update(done, now);
  const int width = output_.width();
  if (width > 0 ? now - last_shown_ < redraw_every : !line_is_due(now)) return;
  last_shown_ = now;
  width > 0 ? draw_bar(width, detail) : print_line(detail);
  shown_done_ = done;
}

bool Progress::line_is_due(double now) const {
  const double passed = now - last_shown_;
  const bool far_enough = shown_done_ == 0 || eta_.done() - shown_done_ >= eta_.total() / 10;
  return (passed >= lines_apart && far_enough) || passed >= lines_at_most_apart;
}

void Progress::note(std::string_view line) {
  if (bar_on_screen_) output_.write("\r\x1b[K");
  output_.write(fmt::format("{}\n", line));
  bar_on_screen_ = false;
  last_shown_ = output_.width() > 0 ? -1e9 : last_shown_;  // the bar comes back with the next update
}

void Progress::finish(std::string_view detail) {
  if (finished_) return;
  finished_ = true;
  eta_.update(eta_.done(), output_.clock());
  const std::string after = detail.empty() ? "" : fmt::format("  {}", detail);
  if (bar_on_screen_) output_.write("\r\x1b[K");
  output_.write(fmt::format("{}  done in {}{}\n", label_, human_duration(eta_.elapsed()), after));
}

std::string Progress::facts(std::string_view detail) const {
  const double share = eta_.total() > 0 ? std::clamp(eta_.done() / eta_.total(), 0.0, 1.0) : 1.0;
  std::string text = fmt::format("{:3.0f}%", std::floor(100 * share));
  if (const auto left = eta_.remaining()) text += fmt::format("  {} left", human_duration(*left));
  if (!detail.empty()) text += fmt::format("  {}", detail);
  return text;
}

void Progress::draw_bar(int width, std::string_view detail) {
  constexpr int widest_bar = 40;
  constexpr int narrowest_bar = 8;
  const double share = eta_.total() > 0 ? std::clamp(eta_.done() / eta_.total(), 0.0, 1.0) : 1.0;
  std::string line = facts(detail);
  const int room = width - 1 - static_cast<int>(label_.size() + line.size()) - 6;
  if (room >= narrowest_bar) {
    const int length = std::min(room, widest_bar);
    const int filled = static_cast<int>(share * length);
    const std::string head = filled < length ? ">" : "";
    const std::string bar = std::string(static_cast<std::size_t>(filled), '=') + head;
    line = fmt::format("{}  [{:<{}}]  {}", label_, bar, length, line);
  } else {
    line = fmt::format("{}  {}", label_, line);
  }
  // One column short of the edge: some terminals wrap when the last one is written.
  output_.write(fmt::format("\r{}\x1b[K", shortened(line, width - 1)));
  bar_on_screen_ = true;
}

void Progress::print_line(std::string_view detail) {
  output_.write(fmt::format("{}  {}\n", label_, facts(detail)));
}

}  // namespace gradus::kit
