// Every system call and every allocation of a save or a load fails once: the old file remains, nothing leaks.
//
// This program's own write(), fsync(), ... replace the C library's, so the library under test calls them.

#include <dirent.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/io/hostile.h"
#include "failing_new.h"
#include "gradus/core/io/checkpoint_files.h"
#include "gradus/core/io/detail/input_file.h"
#include "gradus/core/io/detail/shards.h"
#include "gradus/core/io/npy.h"
#include "gradus/nn/models/gpt.h"
#include "gradus/nn/module/init.h"
#include "support.h"

namespace {

enum class Fault { none, fail, interrupt, cut_short, end };

// Only the thread that arms a fault meets it.
thread_local Fault fault = Fault::none;
thread_local int fault_errno = 0;
thread_local int calls_left = 0;  // before the one that goes wrong
thread_local int no_room = 0;     // the error of fallocate
thread_local std::string
    taken_from;  // a folder from which another save takes the new file before it is locked

/// True when this call is the one to go wrong.
bool strikes() {
  if (fault == Fault::none) return false;
  return calls_left-- == 0;
}

/// True when the call must return -1 now.
bool fails() {
  if (fault == Fault::end || fault == Fault::cut_short || !strikes()) return false;
  errno = fault == Fault::interrupt ? EINTR : fault_errno;
  return true;
}

std::size_t shortened(std::size_t count) {
  const bool cut = fault == Fault::cut_short && strikes() && count > 1;
  return cut ? count / 2 : count;
}

}  // namespace

extern "C" {
ssize_t write(int file, const void* bytes, std::size_t count) {
  const std::size_t part = shortened(count);
  return fails() ? -1 : static_cast<ssize_t>(syscall(SYS_write, file, bytes, part));
}
ssize_t pread(int file, void* bytes, std::size_t count, off_t offset) {
  if (fault == Fault::end && strikes()) return 0;
  const std::size_t part = shortened(count);
  return fails() ? -1 : static_cast<ssize_t>(syscall(SYS_pread64, file, bytes, part, offset));
}
int fallocate(int file, int mode, off_t offset, off_t size) {
  if (errno = no_room; no_room != 0) return -1;
  return static_cast<int>(syscall(SYS_fallocate, file, mode, offset, size));
}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"  // a struct has the same name
int flock(int file, int operation) {
  if (!taken_from.empty())
    for (const auto& entry : std::filesystem::directory_iterator(std::exchange(taken_from, "")))
      if (entry.path().filename().string().starts_with(".gradus-tmp")) std::filesystem::remove(entry.path());
  return static_cast<int>(syscall(SYS_flock, file, operation));
}
#pragma GCC diagnostic pop
int fsync(int file) { return fails() ? -1 : static_cast<int>(syscall(SYS_fsync, file)); }
int close(int file) {
  const int done = static_cast<int>(syscall(SYS_close, file));  // the descriptor is gone either way
  return fails() ? -1 : done;
}
}

using namespace gradus;
using namespace gradus::test;

namespace {

struct Armed {
  Armed(Fault kind, int after, int error) {
    calls_left = after;
    fault_errno = error;
    fault = kind;
  }
  ~Armed() { fault = Fault::none; }
};

std::size_t files_in(const std::filesystem::path& folder) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++count;
  return count;
}

std::size_t open_files() { return files_in("/proc/self/fd"); }

/// Calls f with its first, second, ... call going wrong, until one run meets no fault; returns how many did.
/// `f` returns whether it succeeded.
template <class F, class After>
int with_every_fault(Fault kind, int error, F f, After after) {
  for (int n = 0;; ++n) {
    bool succeeded = false, struck = false;
    {
      const Armed armed(kind, n, error);
      succeeded = f();
      struck = calls_left < 0;
    }
    if (!struck) {
      CHECK(succeeded);
      return n;
    }
    after(succeeded);
    REQUIRE(n < 1000);
  }
}

bool succeeds(const std::function<void()>& f) {
  try {
    f();
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

TEST_CASE("a save that fails at any call leaves the old file and nothing else") {
  const ScratchFolder folder;
  const std::string path = folder / "x.safetensors";
  const StateDict old_state = {{"w", zeros({50})}}, new_state = {{"w", ones({50})}, {"v", tensor({1, 2})}};
  const std::size_t descriptors = open_files();
  for (const int error : {ENOSPC, EIO, EDQUOT}) {
    save_safetensors(path, old_state);
    const std::string before = read_bytes(path);
    const int faults = with_every_fault(
        Fault::fail, error, [&] { return succeeds([&] { save_safetensors(path, new_state); }); },
        [&](bool succeeded) {
          CHECK(open_files() == descriptors);
          CHECK(files_in(folder.path()) == 1);
          const bool is_new = load_safetensors(path).contains("v");
          CHECK((is_new || read_bytes(path) == before));
          CHECK((is_new || !succeeded));
        });
    CHECK(faults >= 6);  // four writes, two fsyncs at least
    CHECK(load_safetensors(path).contains("v"));
  }
}

TEST_CASE("the message names the file and the reason") {
  const ScratchFolder folder;
  const std::string path = folder / "x.npy";
  const auto told = [&](int after) {
    const Armed armed(Fault::fail, after, ENOSPC);
    return complaint([&] { save_npy(path, ones({3})); }, path);
  };
  CHECK(told(0) == "cannot write: No space left on device");
  CHECK(told(5) == "cannot write to disk: No space left on device");  // fsync, after five writes
  CHECK(told(6) == "cannot write to disk: No space left on device");  // close
  CHECK(told(7) == "cannot write its folder to disk: No space left on device");
  save_npy(path, ones({3}));
  const Armed armed(Fault::fail, 0, EIO);
  CHECK(complaint([&] { load_npy(path); }, path) == "cannot read: Input/output error");
}

TEST_CASE("try_output: a disk without room is an error; one that cannot tell is none") {
  const ScratchFolder folder;
  const std::string path = folder / "x.npy";
  const auto reserving = [&](int error) {
    no_room = error;
    const std::string said = complaint([&] { io::try_output("save", path, 8); }, path);
    no_room = 0;
    return said;
  };
  CHECK(reserving(ENOSPC) == "cannot write: No space left on device");
  CHECK(reserving(EDQUOT) == "cannot write: Disk quota exceeded");
  CHECK(reserving(EFBIG) == "cannot write: File too large");
  CHECK(reserving(EOPNOTSUPP) == "");
  CHECK(files_in(folder.path()) == 0);
}

TEST_CASE("a folder that cannot be flushed is an error, unless its file system has no such call") {
  const ScratchFolder folder;
  const auto flushing = [&](int error) {
    const Armed armed(Fault::fail, 0, error);
    return complaint([&] { io::flush_folder("save: " + folder.path().string(), folder.path().string()); },
                     folder.path());
  };
  CHECK(flushing(EINVAL) == "");
  CHECK(flushing(EIO) == "cannot write its folder to disk: Input/output error");
}

TEST_CASE("a new file that another save took for a leftover is made again") {
  const ScratchFolder folder;
  const std::string path = folder / "x.npy";
  taken_from = folder.path().string();
  save_npy(path, ones({3}));
  CHECK(taken_from.empty());
  CHECK(load_npy(path).numel() == 3);
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("interrupted and short calls are continued") {
  const ScratchFolder folder;
  const std::string path = folder / "x.safetensors", npy = folder / "x.npy";
  const StateDict state = {{"w", arange(50)}};
  for (const Fault kind : {Fault::interrupt, Fault::cut_short}) {
    const auto must_succeed = [&](bool succeeded) {
      CHECK(succeeded);
      CHECK(load_safetensors(path).at("w").to_vector<double>() == state.at("w").to_vector<double>());
    };
    CHECK(with_every_fault(
              kind, 0, [&] { return succeeds([&] { save_safetensors(path, state); }); }, must_succeed) >= 3);
    CHECK(with_every_fault(
              kind, 0, [&] { return succeeds([&] { load_safetensors(path); }); }, must_succeed) >= 3);
    CHECK(with_every_fault(
              kind, 0, [&] { return succeeds([&] { save_npy(npy, state.at("w")); }); }, must_succeed) >= 3);
    CHECK(with_every_fault(
              kind, 0, [&] { return succeeds([&] { load_npy(npy); }); }, must_succeed) >= 3);
  }
}

TEST_CASE("a file that shrinks while it is read is an error") {
  const ScratchFolder folder;
  const std::string path = folder / "x.npy";
  save_npy(path, ones({3}));
  const auto ending_at = [&](int read) {
    const Armed armed(Fault::end, read, 0);
    return complaint([&] { load_npy(path); }, path);
  };
  CHECK(ending_at(0) == "ends at byte 0, expects 12 bytes more: did it change while being read?");
  CHECK(ending_at(1) == "ends at byte 10, expects 118 bytes more: did it change while being read?");
  CHECK(ending_at(2) == "ends at byte 128, expects 12 bytes more: did it change while being read?");
}

TEST_CASE("a failed checkpoint leaves the older ones") {
  const ScratchFolder folder;
  save_checkpoint(folder.path(), {{"n", tensor(1)}});
  save_checkpoint(folder.path(), {{"n", tensor(2)}});
  with_every_fault(
      Fault::fail, ENOSPC,
      [&] { return succeeds([&] {
              save_checkpoint(folder.path(), {{"n", tensor(3)}});
            }); },
      [&](bool) { CHECK(load_checkpoint(folder.path()).tensors.at("n").item() >= 2); });
  CHECK(load_checkpoint(folder.path()).tensors.at("n").item() == 3);
}

TEST_CASE("a model whose save fails at any call is the old one, the new one or none") {
  const ScratchFolder folder;
  const std::string path = folder.path().string();
  const auto model = [](double value) {
    const nn::GPT gpt({.vocab = 3, .context = 4, .layers = 1, .block = {.d_model = 4, .heads = 1}});
    for (const Tensor& w : gpt.parameters()) nn::init::constant_(w, value);
    return gpt;
  };
  const nn::GPT old_model = model(1), new_model = model(2);
  const nn::SavePretrainedOptions three_files{.max_shard_bytes = 400};
  old_model.save_pretrained(path, three_files);
  const std::size_t files = files_in(folder.path()), descriptors = open_files();
  int none = 0;
  const int faults = with_every_fault(
      Fault::fail, ENOSPC, [&] { return succeeds([&] { new_model.save_pretrained(path, three_files); }); },
      [&](bool succeeded) {
        CHECK(open_files() == descriptors);
        std::vector<double> found;
        if (succeeds([&] {
              for (const Tensor& w : nn::GPT::load_pretrained(path).parameters())
                for (const double value : w.to_vector<double>()) found.push_back(value);
            })) {
          CHECK(std::count(found.begin(), found.end(), found[0]) ==
                static_cast<std::ptrdiff_t>(found.size()));
          CHECK((!succeeded || found[0] == 2));
          CHECK(files_in(folder.path()) == files);
        } else {
          CHECK_FALSE(succeeded);
          ++none;
        }
        old_model.save_pretrained(path, three_files);
      });
  CHECK(faults > 15);
  CHECK(none > 0);  // between the names of the first and the last file
  CHECK(nn::GPT::load_pretrained(path).parameters()[0].to_vector<double>()[0] == 2);
}

TEST_CASE("any allocation may fail: nothing leaks and the old file stays") {
  const ScratchFolder folder;
  const std::string path = folder / "x.safetensors", npy = folder / "x.npy";
  const StateDict state = {{"weight", ones({50})}, {"mask", tensor({true})}};
  save_safetensors(path, state, {{"k", "v"}});
  save_npy(npy, ones({50}));
  const std::string before = read_bytes(path);
  const std::size_t descriptors = open_files();
  const auto with_every_allocation = [&](const std::function<void()>& prepare,
                                         const std::function<void()>& action) {
    CHECK(with_every_allocation_failing(prepare, action) > 0);
    CHECK(open_files() == descriptors);
    CHECK(read_bytes(path) == before);
  };
  const std::filesystem::path checkpoints = folder / "c";
  const auto nothing = [] { empty_cache(); };  // what is given back first
  with_every_allocation(nothing, [&] { save_safetensors(path, state, {{"k", "v"}}); });
  with_every_allocation(nothing, [&] { load_safetensors(path); });
  const std::string narrow = folder / "narrow.safetensors", index = folder / "x.index.json";
  const std::string header = R"({"h":{"dtype":"F16","shape":[4],"data_offsets":[0,8]}})";
  write_bytes(narrow, little_endian(header.size(), 8) + header + std::string(8, '\x11'));
  write_bytes(index,
              R"({"weight_map":{"weight":"x.safetensors","mask":"x.safetensors","h":"narrow.safetensors"}})");
  with_every_allocation(nothing, [&] { load_safetensors(index); });
  const std::string shards = (folder / "shards").string();
  std::filesystem::create_directory(shards);
  with_every_allocation(nothing, [&] { io::WeightFiles("save", shards, state, {}, 100).commit(); });
  with_every_allocation(nothing, [&] { save_npy(npy, state.at("weight")); });
  with_every_allocation(nothing, [&] { load_npy(npy); });
  with_every_allocation([&] { std::filesystem::remove_all(checkpoints), empty_cache(); },
                        [&] { save_checkpoint(checkpoints, state); });
  with_every_allocation(nothing, [&] { load_checkpoint(checkpoints); });
}

TEST_CASE("a load allocates at most a small multiple of the file, also for small tensors") {
  const ScratchFolder folder;
  const std::string path = folder / "x.safetensors";
  struct Kind {
    const char *opening, *entry_start, *entry_end;
    int bytes;  // of data, an entry
  };
  const Kind kinds[] = {{"{", R"(":{"dtype":"F32","shape":[0],"data_offsets":[)", "]}", 0},
                        {"{", R"(":{"dtype":"F32","shape":[],"data_offsets":[)", "]}", 4},
                        {R"({"__metadata__":{)", "\":\"", "\"", 0}};
  for (const Kind& kind : kinds) {
    const bool notes = kind.opening[1] != 0;
    std::string header = kind.opening;
    int offset = 0;
    for (int i = 0; i < 50000; ++i) {
      header += (i ? ",\"" : "\"") + std::to_string(i) + kind.entry_start;
      if (!notes) header += std::to_string(offset) + "," + std::to_string(offset + kind.bytes);
      header += kind.entry_end;
      offset += kind.bytes;
    }
    header += notes ? "}}" : "}";
    write_bytes(path,
                little_endian(header.size(), 8) + header + std::string(static_cast<std::size_t>(offset), 0));
    const std::size_t size = std::filesystem::file_size(path);
    header = {};
    const std::size_t before = taken();
    reset_most_taken();
    reset_peak_memory();
    const std::int64_t tensors_before = memory_stats().live_bytes;
    Metadata read;
    const std::string said = complaint([&] { load_safetensors(path, &read); }, path);
    CHECK(said == (notes ? "metadata: has more than 26840 notes" : ""));
    // Blocks of tensors have headers, which the second number does not count.
    const auto tensors = static_cast<std::size_t>(memory_stats().peak_bytes - tensors_before);
    CAPTURE(static_cast<double>(most_taken() - before) / static_cast<double>(size));
    CHECK(most_taken() - before + 2 * tensors <= 8 * size);
  }
}
