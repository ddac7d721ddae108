#include "lab/study/crew.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <ctime>
#include <limits>
#include <thread>

#include "gradus/core/check.h"
#include "gradus/core/creation.h"
#include "gradus/core/threads/parallel.h"
#include "gradus/kit/program/interrupt.h"
#include "lab/study/records.h"

// Files of the lab are compiled together: the names here have a namespace of their own.
namespace gradus::lab::crew {

using distributed::Communicator;

static Crew* current_crew = nullptr;
static constexpr double kNever = 1e9;  // seconds: a run may take days

static Tensor memory_for(std::int64_t bytes) { return zeros({bytes / 8 + 1}, i64); }

/// A message is its length, [1], and its text.
static void send(const Communicator& world, int to, const Json& message) {
  const std::string text = message.dump(-1, ' ', false, Json::error_handler_t::replace);
  const auto size = static_cast<std::int64_t>(text.size());
  const Tensor bytes = memory_for(size);
  std::copy(text.begin(), text.end(), reinterpret_cast<char*>(bytes.mutable_span<std::int64_t>().data()));
  world.send(tensor({size}), to);
  world.send(bytes, to);
}

/// A message that is waited for.
class Incoming {
 public:
  Incoming(const Communicator& world, int from)
      : world_(world), from_(from), size_(zeros({1}, i64)), work_(world.irecv(size_, from)) {}
  bool has_come() { return work_.done(); }
  Json read() {
    work_.wait();
    const std::int64_t size = size_.item<std::int64_t>();
    const Tensor bytes = memory_for(size);
    world_.recv(bytes, from_);
    const char* const text = reinterpret_cast<const char*>(bytes.span<std::int64_t>().data());
    return Json::parse(text, text + size);
  }

 private:
  const Communicator& world_;
  int from_;
  Tensor size_;
  distributed::Work work_;
};

/// The CPU time of this thread so far: unlike wall time, it does not depend on the machine's other load.
static double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

static Json to_json(const Record& record) {
  return {{"seconds", record.seconds},
          {"numbers", record.measured.numbers},
          {"texts", record.measured.texts},
          {"series", record.measured.series}};
}

/// JSON has no NaN and no infinite numbers: null.
static double number_of(const Json& value) {
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

static Record record_of(const Json& message) {
  Record record;
  record.seconds = number_of(message.at("seconds"));
  for (const auto& [name, value] : message.at("numbers").items())
    record.measured.numbers[name] = number_of(value);
  for (const auto& [name, value] : message.at("texts").items())
    record.measured.texts[name] = value.get<std::string>();
  for (const auto& [name, values] : message.at("series").items())
    for (const Json& value : values) record.measured.series[name].push_back(number_of(value));
  return record;
}

/// The study that this rank works on.
struct Assignment {
  const Study* study = nullptr;
  std::filesystem::path folder;
  StudyOptions options;

  Assignment(const Study& of, const std::filesystem::path& in) : study(&of), folder(in) {
    const StudyConfig config = read_study(folder);
    options = config.options;
    const std::string other = other_machine(config.current_machine(), machine_facts());
    check_input(other.empty(), "the study runs on machines with {}, which this one has not", other);
  }

  /// Runs that follow from others are found in the records.
  StudyRun find(const std::string& name) const {
    for (const bool all : {false, true})
      for (StudyRun& run :
           all ? planned(*study, options, read_records(folder, *study, options)).runs : study->plan(options))
        if (run.name == name) return std::move(run);
    fail_with("{}: the plan has no run {}", study->name, name);
  }
};

static Json measured(const StudyRun& run) {
  try {
    return to_json(measure(run));
  } catch (const kit::Interrupted&) {
    return {{"interrupted", true}};
  } catch (const std::exception& error) {
    return {{"error", error.what()}};
  }
}

}  // namespace gradus::lab::crew

namespace gradus::lab {

using namespace crew;

Record measure(const StudyRun& run) {
  const double start = thread_seconds();
  Record record;
  try {
    record.measured = run.measure();
  } catch (const Error& error) {
    fail_with("{}: {}", run.name, error.what());
  }
  record.seconds = thread_seconds() - start;
  return record;
}

struct Crew::Member {
  int rank = 0;
  std::optional<Incoming> answer = {};  // while it works
};

Crew::Crew(Communicator world) : world_(std::move(world)) {
  for (int rank = 1; rank < world_.size(); ++rank)
    members_.push_back(std::make_unique<Member>(Member{.rank = rank}));
  if (members_.empty()) return;
  world_.set_timeout(kNever);
  current_crew = this;
}

Crew::~Crew() {
  if (members_.empty()) return;
  current_crew = nullptr;
  try {
    for (const auto& member : members_) send(world_, member->rank, Json::object());
    for (const auto& member : members_)
      if (member->answer) member->answer->read();
  } catch (...) {  // the session ends all
  }
}

Crew* Crew::current() { return current_crew; }

void Crew::begin(const std::string& study, const std::filesystem::path& folder) {
  for (const auto& member : members_)
    send(world_, member->rank, {{"study", study}, {"folder", std::filesystem::absolute(folder).string()}});
}

bool Crew::works(int member) const { return members_[static_cast<std::size_t>(member)]->answer.has_value(); }

void Crew::give(int member, const std::string& run) {
  Member& one = *members_[static_cast<std::size_t>(member)];
  send(world_, one.rank, {{"run", run}});
  one.answer.emplace(world_, one.rank);
}

std::optional<Answer> Crew::look(int member) {
  Member& one = *members_[static_cast<std::size_t>(member)];
  if (!one.answer || !one.answer->has_come()) return std::nullopt;
  const Json message = one.answer->read();
  one.answer.reset();
  if (message.contains("error")) fail_with("rank {}: {}", one.rank, message.at("error").get<std::string>());
  if (message.contains("interrupted")) return Answer{};
  return Answer{.record = record_of(message)};
}

int serve(const Communicator& world,
          const std::function<const Study&(const std::string& name)>& study_named) {
  kit::catch_interrupts();
  world.set_timeout(kNever);
  std::optional<Assignment> assignment;
  std::optional<Incoming> next;
  for (;;) {
    if (!next) next.emplace(world, 0);
    const Json message = next->read();
    next.reset();
    if (message.empty()) return kit::interrupt_status();
    if (message.contains("study")) {
      assignment.emplace(study_named(message.at("study").get<std::string>()),
                         message.at("folder").get<std::string>());
      continue;
    }
    check(assignment.has_value(), "a run without a study");
    // The communicator belongs to this thread: the run has another, while this one listens for the end.
    Json answer;
    std::atomic<bool> done = false;
    std::jthread thread([&, name = message.at("run").get<std::string>()] {
      const SingleThread guard;
      try {
        answer = measured(assignment->find(name));
      } catch (const std::exception& error) {
        answer = {{"error", error.what()}};
      }
      done = true;
    });
    next.emplace(world, 0);
    while (!done && !next->has_come()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    if (!done)
      kit::interrupt(
          SIGINT);  // a signal would be one too many where ranks are threads
    thread.join();
    send(world, 0, answer);
  }
}

}  // namespace gradus::lab
