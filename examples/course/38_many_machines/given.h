#pragma once
// Ranks without MPI. One that receives what nobody has sent yet is stopped, and later begins from its start
// again, with the same messages.

#include <cstddef>
#include <functional>
#include <map>
#include <utility>
#include <vector>

/// The loss of a shard, a mean over its tokens: NaN if it has none.
struct Part {
  float loss, tokens;
};

/// What all ranks of one job have sent, and how they ended, for the grader.
struct Job {
  int size = 1;
  std::map<std::pair<int, int>, std::vector<std::vector<float>>> messages = {};  // by sender and receiver
  int stuck = -1, waits_for = -1;                                                // a rank that never ends
  int stray = -1, to = -1;  // a rank that names a rank that does not exist
  std::size_t sent_by(int rank) const {
    std::size_t numbers = 0;
    for (const auto& [who, lists] : messages)
      for (const std::vector<float>& list : lists) numbers += who.first == rank ? list.size() : 0;
    return numbers;
  }
};

/// One of several ranks, which send lists of numbers to each other.
class Rank {
 public:
  int rank() const { return rank_; }      // from 0
  int size() const { return job_.size; }  // how many ranks there are
  /// Sends a list to another rank, and does not wait for it.
  void send(int to, const std::vector<float>& list) {
    expect_rank(to);
    std::vector<std::vector<float>>& lists = job_.messages[{rank_, to}];
    if (++sent_[to] > lists.size()) lists.push_back(list);
  }
  /// Waits for the next list from another rank, and returns it.
  std::vector<float> receive(int from) {
    expect_rank(from);
    const std::vector<std::vector<float>>& lists = job_.messages[{from, rank_}];
    const std::size_t at = received_[from]++;
    if (at >= lists.size()) throw Waits{from};
    return lists[at];
  }

 private:
  struct Waits {
    int from;
  };
  struct NoSuchRank {
    int to;
  };
  Rank(Job& job, int rank) : job_(job), rank_(rank) {}
  void expect_rank(int other) const {
    if (other < 0 || other >= job_.size) throw NoSuchRank{other};
  }
  friend Job run_ranks(int ranks, const std::function<void(Rank&)>& program);

  Job& job_;
  int rank_;
  std::map<int, std::size_t> sent_, received_;
};

/// Runs program(rank) for each of the ranks.
inline Job run_ranks(int ranks, const std::function<void(Rank&)>& program) {
  Job job{.size = ranks};
  std::vector<bool> done(static_cast<std::size_t>(ranks));
  for (bool moves = true; moves && job.stray < 0;) {
    moves = false;
    job.stuck = -1;
    for (int r = 0; r < ranks; ++r) {
      if (done[static_cast<std::size_t>(r)]) continue;
      const std::size_t before = job.sent_by(r);
      Rank rank(job, r);
      try {
        program(rank);
        done[static_cast<std::size_t>(r)] = moves = true;
      } catch (const Rank::Waits& waits) {
        if (job.sent_by(r) > before) moves = true;
        if (job.stuck < 0) job.stuck = r, job.waits_for = waits.from;
      } catch (const Rank::NoSuchRank& other) {
        job.stray = r, job.to = other.to;
      }
    }
  }
  return job;
}
