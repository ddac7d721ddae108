struct Answer {
  std::vector<float> (*sum_of_shards)(int count, const std::function<std::vector<float>(int)>& shard);
  std::vector<float> (*all_reduce)(Rank& rank, const std::vector<float>& x);
  float (*mean_loss)(Rank& rank, const std::vector<Part>& parts);
};
#define ANSWER(FROM) \
  { FROM::sum_of_shards, FROM::all_reduce, FROM::mean_loss }

namespace {
using List = std::vector<float>;

/// Numbers of very different sizes: their sum depends on its order.
List hard(std::int64_t n) { return (3 * randn({n})).exp().to(f32).to_vector<float>(); }
std::vector<List> hard_lists(std::size_t count, std::int64_t n) {
  std::vector<List> lists(count);
  for (List& list : lists) list = hard(n);
  return lists;
}

List tree_of(std::vector<List> lists) {
  for (; lists.size() > 1; lists.resize(lists.size() / 2))
    for (std::size_t k = 0; k < lists.size() / 2; ++k) {
      List sum = lists[2 * k];
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += lists[2 * k + 1][i];
      lists[k] = sum;
    }
  return lists[0];
}

/// Runs it, and says whether every rank has come to its end.
bool ends(int ranks, const std::function<void(Rank&)>& program, Job* result = nullptr) {
  const Job job = run_ranks(ranks, program);
  if (result) *result = job;
  if (job.stray >= 0) {
    problem(phrase("rank {0} of {1} sends to or receives from rank {2}", job.stray, ranks, job.to));
    return false;
  }
  if (job.stuck >= 0) {
    problem(
        phrase("rank {0} of {1} waits for rank {2}, and receives nothing", job.stuck, ranks, job.waits_for));
    return false;
  }
  return true;
}

/// What all_reduce returns on each rank; nothing if it does not end.
std::vector<List> reduced(const Answer& answer, const std::vector<List>& x, Job* job = nullptr) {
  std::vector<List> y(x.size());
  const auto program = [&](Rank& rank) {
    const auto r = static_cast<std::size_t>(rank.rank());
    y[r] = answer.all_reduce(rank, x[r]);
  };
  if (!ends(static_cast<int>(x.size()), program, job)) y.clear();
  return y;
}

/// x [ranks][elements] of small whole numbers: every order gives their sum exactly.
void sums_whole_numbers(const Answer& answer, std::size_t ranks, std::size_t elements) {
  std::vector<List> x(ranks, List(elements));
  std::vector<double> want(elements);
  for (std::size_t r = 0; r < ranks; ++r)
    for (std::size_t i = 0; i < elements; ++i)
      want[i] += x[r][i] = static_cast<float>(std::floor(rand({1}).item() * 100));
  for (const List& y : reduced(answer, x))
    near(phrase("on {0} ranks, the sum of {1} elements", ranks, elements),
         std::vector<double>(y.begin(), y.end()), want);
}

/// The loss on each rank, of parts that are dealt out to this many.
std::vector<float> losses(const Answer& answer, int ranks, const std::vector<Part>& parts) {
  std::vector<float> loss(static_cast<std::size_t>(ranks));
  const auto each = std::ssize(parts) / ranks;
  const auto program = [&](Rank& rank) {
    const auto first = parts.begin() + rank.rank() * each;
    loss[static_cast<std::size_t>(rank.rank())] = answer.mean_loss(rank, {first, first + each});
  };
  if (!ends(ranks, program)) loss.clear();
  return loss;
}
}  // namespace

CASE("every rank gets the sum",
     "After halving, each rank owns the sums of a part: send them back the same way.") {
  sums_whole_numbers(answer, 2, 6);
  sums_whole_numbers(answer, 4, 8);
}
CASE("any number of elements", "Fill up with zeros, to a multiple of the number of ranks.") {
  for (const std::size_t elements : {1, 3, 13}) sums_whole_numbers(answer, 4, elements);
}
CASE("one rank alone", "There is nobody to send to.") {
  Job job;
  const std::vector<List> x = hard_lists(1, 5);
  for (const List& y : reduced(answer, x, &job)) {
    expect(y == x[0], "on one rank, the sum is not the rank's own list");
    expect(job.messages.empty(), "one rank sends messages to itself");
  }
}
CASE("the bits are those of the tree", "Neighbours first: rank ^ 1, then rank ^ 2, then rank ^ 4.") {
  const std::vector<List> x = hard_lists(8, 64);
  for (const List& y : reduced(answer, x))
    expect(y == tree_of(x), "on 8 ranks, the last bits are not those of ((r0 + r1) + (r2 + r3)) + ...");
}
CASE("no more is sent than needed",
     "Send the half that the other rank will own, and halve again at the next level.") {
  for (const std::size_t n : {2, 8}) {
    Job job;
    reduced(answer, hard_lists(n, 64), &job);
    for (std::size_t r = 0; r < n; ++r)
      expect(job.sent_by(static_cast<int>(r)) <= 2 * (n - 1) * 64 / n,
             phrase("on {0} ranks with 64 elements, a rank sends {1} numbers, not {2}", n,
                    job.sent_by(static_cast<int>(r)), 2 * (n - 1) * 64 / n));
  }
}
CASE("shards are added in the tree", "First half plus second half; each half in the same way.") {
  const std::vector<List> x = hard_lists(8, 16);
  const List sum = answer.sum_of_shards(8, [&](int k) { return x.at(static_cast<std::size_t>(k)); });
  expect(sum == tree_of(x), "the last bits are not those of ((s0 + s1) + (s2 + s3)) + ...");
}
CASE("each shard is computed once", "A shard is a forward and a backward pass: keep its result.") {
  std::vector<double> calls(8);
  answer.sum_of_shards(8, [&](int k) {
    ++calls.at(static_cast<std::size_t>(k));
    return List{1, 2};
  });
  near("calls of each of 8 shards, the number", calls, std::vector<double>(8, 1));
}
CASE("the same bits on 1, 2, 4 and 8 ranks",
     "The rank's own sum is a part of the tree, and the ranks' sums are its top.") {
  const std::vector<List> x = hard_lists(8, 32);
  for (const std::size_t ranks : {1, 2, 4, 8}) {
    std::vector<List> own;
    for (std::size_t r = 0; r < ranks; ++r)
      own.push_back(answer.sum_of_shards(static_cast<int>(8 / ranks), [&](int k) {
        return x.at(8 / ranks * r + static_cast<std::size_t>(k));
      }));
    for (const List& y : reduced(answer, own))
      if (y != tree_of(x))
        return problem(ranks == 1 ? phrase("on 1 rank, 8 shards have other last bits")
                                  : phrase("on {0} ranks, 8 shards have other last bits", ranks));
  }
}
CASE("the loss is a mean over tokens", "Add loss * tokens and tokens, and divide at the end.") {
  for (const float loss : losses(answer, 2, {{2, 90}, {5, 10}, {4, 60}, {3, 40}}))
    near("the loss of 90, 10, 60 and 40 tokens", loss, (2 * 90 + 5 * 10 + 4 * 60 + 3 * 40) / 200.0, 1e-5);
}
CASE("ranks may have different numbers of tokens",
     "Divide after the all-reduce: both sums are of all ranks.") {
  for (const float loss : losses(answer, 2, {{2, 50}, {2, 50}, {5, 2}, {5, 2}}))
    near("the loss of ranks with 100 and 4 tokens", loss, (2 * 100 + 5 * 4) / 104.0, 1e-5);
}
CASE("a shard without tokens counts nothing", "Its loss is NaN, and NaN * 0 is NaN.") {
  for (const float loss : losses(answer, 2, {{2, 8}, {NAN, 0}, {3, 4}, {3, 4}}))
    near("the loss with a shard of 0 tokens", loss, (2 * 8 + 3 * 8) / 16.0, 1e-5);
}
CASE("the loss has the same bits on 1, 2, 4 and 8 ranks", "Use the tree for the sums of losses, too.") {
  std::vector<Part> parts;
  for (const float loss : hard(64))
    parts.push_back({loss, std::floor(1 + 100 * static_cast<float>(rand({1}).item()))});
  const std::vector<float> alone = losses(answer, 1, parts);
  if (alone.empty()) return;
  for (const int ranks : {2, 4, 8})
    for (const float loss : losses(answer, ranks, parts))
      if (loss != alone[0]) return problem(phrase("on {0} ranks, the loss has other last bits", ranks));
}
