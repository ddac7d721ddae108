#include "gradus/kit/program/detail/training_folder.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>

#include "gradus/core/io/files.h"
#include "gradus/kit/data/files.h"
#include "gradus/kit/program/detail/check.h"

namespace gradus::kit {

FolderLock::FolderLock(const std::filesystem::path& folder)
    : folder_("TrainingRun", folder, O_RDONLY | O_DIRECTORY) {
  const bool taken = ::flock(folder_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  check_input(!taken, "{}: another training uses this folder: wait for its end, or name another folder",
              io::printable(folder.string()));
}

/// The log in `folder`, without the lines of steps after `done`.
static RunLog log_up_to(const std::filesystem::path& folder, std::int64_t done) {
  const std::filesystem::path file = TrainingLog::file_of(folder);
  if (done == 0) return RunLog(file, {.append = false});
  std::size_t lines = 0, kept = 0;
  std::string text;
  for (const LogLine& line : read_run_log(file)) {
    ++lines;
    try {
      if (!line.contains("step") || line["step"].number() > static_cast<double>(done)) continue;
    } catch (const Error& error) {
      fail_input_with("{} line {}: \"step\": {}", io::printable(file.string()), line.number(), error.what());
    }
    ++kept;
    text += line.json() + "\n";
  }
  if (kept < lines) replace_file(file, text);
  return RunLog(file);
}

TrainingLog::TrainingLog(const std::filesystem::path& folder, std::int64_t done)
    : log_(log_up_to(folder, done)) {}

std::string TrainingLog::write(const LogLine& line) {
  waiting_.push_back(line);
  return flush();
}

std::string TrainingLog::flush() {
  try {
    for (; !waiting_.empty(); waiting_.pop_front()) log_.write(waiting_.front());
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace gradus::kit
