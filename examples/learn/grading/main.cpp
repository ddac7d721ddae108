// The program that grades a learner's file: doctest runs the cases, one line each.
//   learn_answer --seed=N --limit=SECONDS --results=FILE --words=CATALOGUE ...
#define DOCTEST_CONFIG_IMPLEMENT
#define DOCTEST_CONFIG_NO_POSIX_SIGNALS  // Ctrl-C is no failure of a case
#include <doctest/doctest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "learn/grading/grading.h"
#include "learn/program/fold.h"

namespace gradus::learn {

namespace {

std::uint64_t seed = 0;
double limit = 10;
std::string results;
bool hint_applies = false;  // to the case that ran last

constexpr std::size_t kMostPrinted = 64 * 1024;  // bytes that a case may print

enum class End { closed, late, prints_on };

/// Everything that arrives from a case until it closes its end, the time is over, or it prints without end.
/// What it prints is shown.
End read_from_case(int from, int printed, std::string& text) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(limit);
  pollfd wait[] = {{.fd = printed, .events = POLLIN, .revents = 0},
                   {.fd = from, .events = POLLIN, .revents = 0}};
  for (std::size_t shown = 0;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0 || poll(wait, 2, static_cast<int>(left)) <= 0) return End::late;
    char buffer[4096];
    const bool prints = wait[0].revents != 0;
    const ssize_t size = read(prints ? printed : from, buffer, sizeof buffer);
    if (prints && size <= 0) {
      wait[0] = {.fd = -1, .events = 0, .revents = 0};  // ignored
    } else if (prints) {
      std::fwrite(buffer, 1, static_cast<std::size_t>(size), stdout);
      std::fflush(stdout);
      if ((shown += static_cast<std::size_t>(size)) > kMostPrinted) return End::prints_on;
    } else if (size <= 0) {
      return End::closed;
    } else {
      text.append(buffer, static_cast<std::size_t>(size));
    }
  }
}

/// The grader and the solutions map less than 0.2 GiB. Beyond 8 GiB the system gives an answer no more
/// memory, and gradus reports "out of memory". Sanitizers need more address space.
void limit_memory() {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  rlimit limits;
  if (getrlimit(RLIMIT_AS, &limits) != 0) return;
  limits.rlim_cur = std::min(limits.rlim_cur, rlim_t{8} << 30);
  setrlimit(RLIMIT_AS, &limits);
#endif
}

/// Before main, and before the answer's constants outside of functions are computed: they too have a limit of
/// memory, which the cases inherit, and of time.
[[gnu::constructor(101)]] void limit_constants() {
  limit_memory();
  alarm(10);
}

[[noreturn]] void run_in_child(const std::function<void()>& run, int to, int prints_to) {
  dup2(prints_to, STDOUT_FILENO);
  dup2(prints_to, STDERR_FILENO);
  close(prints_to);
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // what it printed is seen also if it crashes
  std::string text;
  for (const std::string& problem : problems_of(run, kForbidden, seed)) text += problem + '\0';
  text += found_wrong_value() ? "value" : "end";
  std::fflush(stdout);
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t size = write(to, text.data() + done, text.size() - done);
    if (size <= 0) break;
    done += static_cast<std::size_t>(size);
  }
  _exit(0);
}

std::string words_for(int signal) {
  if (signal == SIGSEGV)
    return phrase(
        "it crashes: memory is read or written that is not yours (an index too large, or a function that "
        "calls itself for ever?)");
  if (signal == SIGABRT) return phrase("it aborts: see above (an index too large for a std::vector?)");
  return phrase("it ends by a signal: {signal}", fmt::arg("signal", strsignal(signal)));
}

/// Runs a case in a separate process, and returns its problems.
std::vector<std::string> problems_in_child(const std::function<void()>& run) {
  hint_applies = false;
  int ends[2], prints[2];
  if (pipe(ends) != 0 || pipe(prints) != 0) return {phrase("the system cannot create a pipe")};
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]), close(prints[0]);
    run_in_child(run, ends[1], prints[1]);
  }
  close(ends[1]), close(prints[1]);
  std::string text;
  const End end = read_from_case(ends[0], prints[0], text);
  close(ends[0]), close(prints[0]);
  if (end != End::closed) kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  if (end == End::prints_on)
    return {phrase("stopped after it has printed {kilobytes} KiB: does a loop print for ever?",
                   fmt::arg("kilobytes", kMostPrinted / 1024))};
  if (end == End::late) {
    const std::string said =
        phrase("stopped after {seconds} seconds: does a loop never end?", fmt::arg("seconds", limit));
    limit = std::min(limit, 1.0);  // for the other cases, which are probably as slow
    return {said};
  }
  if (WIFSIGNALED(status)) return {words_for(WTERMSIG(status))};
  hint_applies = text.ends_with("value");
  if (!hint_applies && !text.ends_with("end")) return {phrase("it ends the program")};
  std::vector<std::string> problems;
  for (std::size_t from = 0, to; (to = text.find('\0', from)) != std::string::npos; from = to + 1)
    problems.push_back(text.substr(from, to - from));
  return problems;
}

}  // namespace

void grade(const std::function<void()>& run) {
  for (const std::string& problem : problems_in_child(run)) FAIL_CHECK(problem);
}

namespace {

/// One line per case; if it fails, also the reason and the hint.
class Lines final : public doctest::IReporter {
 public:
  explicit Lines(const doctest::ContextOptions&) {}
  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_case_start(const doctest::TestCaseData& data) override { case_ = &data, problems_.clear(); }
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_exception(const doctest::TestCaseException& e) override {
    problems_.emplace_back(e.error_string.c_str());
  }
  void log_message(const doctest::MessageData& message) override {
    problems_.emplace_back(message.m_string.c_str());
  }
  void log_assert(const doctest::AssertData&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}
  void test_case_end(const doctest::CurrentTestCaseStats&) override {
    const bool fine = problems_.empty();
    const std::string mark = fine ? phrase("passed") : phrase("FAILED");
    std::printf("  %s  %s\n", mark.c_str(), language()(case_->m_name).c_str());
    std::vector<std::string> distinct;  // a loop over ranks may say the same of each
    for (const std::string& problem : problems_)
      if (std::find(distinct.begin(), distinct.end(), problem) == distinct.end()) distinct.push_back(problem);
    if (!fine && distinct == before_) {
      std::printf("          %s\n", phrase("(as above)").c_str());
    } else {
      for (std::size_t i = 0; i < distinct.size() && i < 2; ++i)
        std::printf("          %s\n", distinct[i].c_str());
    }
    before_ = distinct;
    const std::string hint = phrase("Hint: {hint}", fmt::arg("hint", language()(case_->m_description)));
    if (!fine && hint_applies) std::printf("%s\n", folded("          " + hint, 16).c_str());
    std::fflush(stdout);
    passed_ += fine, all_ += 1;
  }
  void test_run_end(const doctest::TestRunStats&) override {
    if (!results.empty()) std::ofstream(results) << passed_ << ' ' << all_ << '\n';
  }

 private:
  const doctest::TestCaseData* case_ = nullptr;
  std::vector<std::string> problems_, before_;  // of this case; of the last one
  int passed_ = 0, all_ = 0;
};

}  // namespace

}  // namespace gradus::learn

REGISTER_REPORTER("lines", 0, gradus::learn::Lines);

int main(int argc, char** argv) {
  using namespace gradus::learn;
  alarm(0);  // all constants are computed
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with("--seed=")) seed = std::strtoull(argv[i] + 7, nullptr, 10);
    if (argument.starts_with("--limit=")) limit = std::strtod(argv[i] + 8, nullptr);
    if (argument.starts_with("--results=")) results = argument.substr(10);
    if (argument.starts_with("--words=")) language().add(argument.substr(8));
  }
  doctest::Context context;
  context.setOption("reporters", "lines");
  context.setOption("no-intro", true);
  return context.run();
}
