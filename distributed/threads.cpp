#include "gradus/distributed/threads.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "gradus/core/check.h"
#include "gradus/distributed/detail/traffic.h"
#include "gradus/distributed/detail/transport.h"

namespace gradus::distributed {

using namespace detail;

namespace {

/// Another rank threw: what this one waits for will not come.
struct OtherFailed : Error {
  OtherFailed() : Error("another rank failed") {}
};

/// The messages that no rank has received yet.
class Post {
 public:
  explicit Post(int ranks) : boxes_(static_cast<std::size_t>(ranks)) {}

  void put(int from, int to, int tag, ConstBytes bytes) {
    Box& box = boxes_[static_cast<std::size_t>(to)];
    const std::lock_guard lock(box.mutex);
    box.messages[{tag, from}].emplace_back(bytes.begin(), bytes.end());
  }

  /// Whether there was one, which then is in `message`.
  bool take(int from, int to, int tag, std::vector<std::byte>& message) {
    if (failed) throw OtherFailed();
    Box& box = boxes_[static_cast<std::size_t>(to)];
    const std::lock_guard lock(box.mutex);
    const auto found = box.messages.find({tag, from});
    if (found == box.messages.end()) return false;
    message = std::move(found->second.front());
    found->second.pop_front();
    if (found->second.empty()) box.messages.erase(found);
    return true;
  }

  int sender(int from, int to, int tag) {
    if (failed) throw OtherFailed();
    Box& box = boxes_[static_cast<std::size_t>(to)];
    const std::lock_guard lock(box.mutex);
    const auto found = box.messages.lower_bound({tag, std::max(from, 0)});
    if (found == box.messages.end() || found->first.first != tag) return Transport::kNone;
    return from == Transport::kAnyRank || found->first.second == from ? found->first.second
                                                                      : Transport::kNone;
  }

  std::atomic<bool> failed = false;

 private:
  struct Box {
    std::mutex mutex;
    std::map<std::pair<int, int>, std::deque<std::vector<std::byte>>> messages;  // by tag and sender
  };
  std::vector<Box> boxes_;
};

class Sent final : public Transfer {
 public:
  explicit Sent(std::size_t bytes) : bytes_(bytes) {}
  bool done() override { return true; }
  std::size_t bytes() const override { return bytes_; }

 private:
  std::size_t bytes_;
};

class Receiving final : public Transfer {
 public:
  Receiving(Post& post, Bytes bytes, int from, int to, int tag)
      : post_(post), memory_(bytes), from_(from), to_(to), tag_(tag) {}
  bool done() override {
    if (complete_) return true;
    std::vector<std::byte> message;
    if (!post_.take(from_, to_, tag_, message)) return false;
    complete_ = true;
    bytes_ = message.size() > memory_.size() ? kTooMany : message.size();
    if (bytes_ != kTooMany) std::copy(message.begin(), message.end(), memory_.begin());
    return true;
  }
  std::size_t bytes() const override { return bytes_; }

 private:
  Post& post_;
  Bytes memory_;
  int from_, to_, tag_;
  bool complete_ = false;
  std::size_t bytes_ = 0;
};

class OfThread final : public Transport {
 public:
  OfThread(std::shared_ptr<Post> post, int rank, int size)
      : post_(std::move(post)), rank_(rank), size_(size) {}
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::unique_ptr<Transfer> send(ConstBytes bytes, int to, int tag) override {
    post_->put(rank_, to, tag, bytes);
    return std::make_unique<Sent>(bytes.size());
  }
  std::unique_ptr<Transfer> receive(Bytes bytes, int from, int tag) override {
    return std::make_unique<Receiving>(*post_, bytes, from, rank_, tag);
  }
  int arrived(int from, int tag) override { return post_->sender(from, rank_, tag); }

 private:
  std::shared_ptr<Post> post_;
  int rank_, size_;
};

}  // namespace

void run_threads(int ranks, const std::function<void(Communicator)>& main) {
  check(ranks >= 1 && ranks <= 1024, "run_threads: expects 1 to 1024 ranks, got {}", ranks);
  const auto post = std::make_shared<Post>(ranks);
  std::mutex mutex;
  std::exception_ptr error;
  const auto fail = [&] {
    const std::lock_guard lock(mutex);
    if (!error) error = std::current_exception();
    post->failed = true;
  };
  const auto run = [&](int rank) {
    try {
      const Communicator world(std::make_shared<Traffic>(std::make_unique<OfThread>(post, rank, ranks)));
      main(world);
      world.traffic().end();
    } catch (const OtherFailed&) {  // whose error is reported
    } catch (...) {
      fail();
    }
  };
  std::vector<std::thread> threads;
  try {
    for (int rank = 0; rank < ranks; ++rank) threads.emplace_back(run, rank);
  } catch (...) {  // the system has no more threads
    fail();
  }
  for (std::thread& thread : threads) thread.join();
  if (error) std::rethrow_exception(error);
}

}  // namespace gradus::distributed
