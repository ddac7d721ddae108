// A profile as Chrome's trace-event JSON ("Trace Event Format", ph "X": a slice, "C": a counter, "M": a
// name).
//
// Ops follow each other without gaps, so the slice of a module is that of the ops that ran in it one after
// the other: paths are opened and closed as they change.

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "gradus/core/detail/format.h"
#include "gradus/core/io/atomic_file.h"
#include "gradus/core/profile/detail/profile_recorder.h"

namespace gradus {

namespace {

using detail::Account;
using detail::Event;
using detail::Recorder;
using nlohmann::ordered_json;

struct Slice {
  std::int64_t begin, end;
  std::string_view name;
  const char* category;
  const Event* op = nullptr;  // its numbers
};

class Slices {
 public:
  explicit Slices(const Recorder& recorder) : accounts_(recorder.accounts()) {
    for (const Event& event : recorder.events()) add(event);
    close(modules_, 0);
    close(ranges_, 0);
    // A slice comes before those inside it.
    std::stable_sort(slices_.begin(), slices_.end(), [](const Slice& a, const Slice& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
    });
  }
  const std::vector<Slice>& all() const { return slices_; }

 private:
  void add(const Event& event) {
    const Account& account = accounts_[event.account];
    if (event.kind == Event::op) {
      enter(account.module, event.begin);
      last_ = event.end;
      slices_.push_back({event.begin, event.end, account.name,
                         account.kind == Account::backward ? "backward" : "forward", &event});
      return;
    }
    close(modules_, 0);
    last_ = event.end;
    if (event.kind == Event::range_begins)
      open(ranges_, account.name, event.begin, "range");
    else if (!ranges_.empty())
      close(ranges_, ranges_.size() - 1);
  }

  /// Closes the modules that `path` does not lie in and opens those on the way to it.
  void enter(std::string_view path, std::int64_t now) {
    std::size_t kept = 0;
    for (; kept < modules_.size(); ++kept) {
      const std::string_view name = slices_[modules_[kept]].name;
      if (!path.starts_with(name) || (path.size() > name.size() && path[name.size()] != '.')) break;
    }
    close(modules_, kept);
    std::size_t done = modules_.empty() ? 0 : slices_[modules_.back()].name.size() + 1;
    while (done < path.size()) {
      const std::size_t end = std::min(path.find('.', done), path.size());
      open(modules_, path.substr(0, end), now, "module");
      done = end + 1;
    }
  }

  void open(std::vector<std::size_t>& stack, std::string_view name, std::int64_t now, const char* category) {
    stack.push_back(slices_.size());
    slices_.push_back({now, now, name, category});
  }

  /// Closes all but the first `kept` of a stack.
  void close(std::vector<std::size_t>& stack, std::size_t kept) {
    for (; stack.size() > kept; stack.pop_back()) slices_[stack.back()].end = last_;
  }

  const std::vector<Account>& accounts_;
  std::vector<Slice> slices_;
  std::vector<std::size_t> modules_, ranges_;  // open ones, by their place in slices_
  std::int64_t last_ = 0;                      // end of the latest event
};

double microseconds(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1000; }

ordered_json json_of(const Slice& slice) {
  ordered_json json = {{"ph", "X"},
                       {"name", slice.name},
                       {"cat", slice.category},
                       {"pid", 1},
                       {"tid", 1},
                       {"ts", microseconds(slice.begin)},
                       {"dur", microseconds(slice.end - slice.begin)}};
  if (!slice.op) return json;
  if (slice.op->flops > 0) json["args"]["flops"] = slice.op->flops;
  if (slice.op->bytes > 0) json["args"]["bytes"] = slice.op->bytes;
  return json;
}

ordered_json counter(const Event& event) {
  return {{"ph", "C"},
          {"name", "live bytes"},
          {"pid", 1},
          {"ts", microseconds(event.end)},
          {"args", {{"bytes", event.live_bytes}}}};
}

/// The events one a line, written as they are made.
class TraceFile {
 public:
  explicit TraceFile(const std::string& path) : file_("write_chrome_trace", path) {
    text_ = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[";
    for (const auto& [key, name] : {std::pair{"process_name", "gradus"}, {"thread_name", "profiled thread"}})
      add({{"ph", "M"}, {"name", key}, {"pid", 1}, {"tid", 1}, {"args", {{"name", name}}}});
  }
  void add(const ordered_json& event) {
    // A name need not be valid UTF-8, a JSON string must be.
    text_ += (first_ ? "\n" : ",\n") + event.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
    first_ = false;
    if (text_.size() > (1 << 20)) flush();
  }
  void finish() {
    text_ += "\n]}\n";
    flush();
    file_.commit();
  }

 private:
  void flush() {
    file_.write(text_.data(), text_.size());
    text_.clear();
  }
  io::AtomicFile file_;
  std::string text_;
  bool first_ = true;
};

}  // namespace

void Profile::write_chrome_trace(const std::string& path) const {
  TraceFile file(path);
  const Slices slices(*recorder_);
  for (const Slice& slice : slices.all()) file.add(json_of(slice));
  std::int64_t shown = -1;
  for (const Event& event : recorder_->events())
    if (event.live_bytes != shown) {
      shown = event.live_bytes;
      file.add(counter(event));
    }
  file.finish();
}

}  // namespace gradus
