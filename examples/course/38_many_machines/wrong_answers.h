namespace {
using List = std::vector<float>;

void add(List& sum, const List& terms) {
  for (std::size_t i = 0; i < terms.size(); ++i) sum[i] += terms[i];
}
/// Sends and receives whole lists, at every level of the tree.
List by_whole_lists(Rank& rank, const List& x) {
  List sum = x;
  for (int bit = 1; bit < rank.size(); bit *= 2) {
    rank.send(rank.rank() ^ bit, sum);
    add(sum, rank.receive(rank.rank() ^ bit));
  }
  return sum;
}
/// Halving and doubling as in the solution, with the farthest rank first or last.
List by_halves(Rank& rank, const List& x, bool nearest_first, bool shares) {
  const auto n = static_cast<std::size_t>(rank.size());
  List sum = x;
  sum.resize((x.size() + n - 1) / n * n);
  std::vector<int> bits;
  for (int bit = 1; bit < rank.size(); bit *= 2) bits.push_back(bit);
  if (!nearest_first) std::reverse(bits.begin(), bits.end());
  std::vector<std::size_t> firsts = {0};
  std::size_t size = sum.size();
  const auto part = [&](std::size_t first) {
    const auto begin = sum.begin() + static_cast<std::ptrdiff_t>(first);
    return List(begin, begin + static_cast<std::ptrdiff_t>(size));
  };
  for (const int bit : bits) {
    size /= 2;
    const std::size_t lower = firsts.back(), upper = lower + size;
    const bool low = (rank.rank() & bit) == 0;
    rank.send(rank.rank() ^ bit, part(low ? upper : lower));
    firsts.push_back(low ? lower : upper);
    const List terms = rank.receive(rank.rank() ^ bit);
    for (std::size_t i = 0; i < terms.size(); ++i) sum[firsts.back() + i] += terms[i];
  }
  std::reverse(bits.begin(), bits.end());
  for (const int bit : bits) {
    if (!shares) break;
    rank.send(rank.rank() ^ bit, part(firsts.back()));
    const List others = rank.receive(rank.rank() ^ bit);
    const std::size_t own = firsts.back();
    firsts.pop_back();
    std::copy(others.begin(), others.end(),
              sum.begin() + static_cast<std::ptrdiff_t>(own == firsts.back() ? own + size : firsts.back()));
    size *= 2;
  }
  sum.resize(x.size());
  return sum;
}
/// Loss times tokens and tokens of each shard.
List weighted(const Part& part) { return {part.tokens > 0 ? part.loss * part.tokens : 0, part.tokens}; }
}  // namespace

namespace another_form {  // the digits of a binary counter, and halves without recursion
List sum_of_shards(int count, const std::function<List(int)>& shard) {
  std::vector<std::pair<int, List>> waiting;  // sums of 2^level shards
  for (int k = 0; k < count; ++k) {
    std::pair<int, List> next = {0, shard(k)};
    for (; !waiting.empty() && waiting.back().first == next.first; ++next.first) {
      add(waiting.back().second, next.second);
      next.second = waiting.back().second;
      waiting.pop_back();
    }
    waiting.push_back(next);
  }
  return waiting[0].second;
}
List all_reduce(Rank& rank, const List& x) { return by_halves(rank, x, true, true); }
float mean_loss(Rank& rank, const std::vector<Part>& parts) {
  const List sums = by_whole_lists(rank, sum_of_shards(static_cast<int>(parts.size()), [&](int k) {
                                     return weighted(parts[static_cast<std::size_t>(k)]);
                                   }));
  return sums[0] / sums[1];
}
}  // namespace another_form
MUTANT(another_form)

namespace farthest_first {  // a tree, but its lower levels are not those of the shards
using solution::mean_loss, solution::sum_of_shards;
List all_reduce(Rank& rank, const List& x) { return by_halves(rank, x, false, true); }
}  // namespace farthest_first
MUTANT(farthest_first, "the bits are those of the tree", "the same bits on 1, 2, 4 and 8 ranks")

namespace ranks_in_a_row {  // everything to everyone
using solution::mean_loss, solution::sum_of_shards;
List all_reduce(Rank& rank, const List& x) {
  for (int r = 0; r < rank.size(); ++r)
    if (r != rank.rank()) rank.send(r, x);
  List sum(x.size());
  for (int r = 0; r < rank.size(); ++r) add(sum, r == rank.rank() ? x : rank.receive(r));
  return sum;
}
}  // namespace ranks_in_a_row
MUTANT(ranks_in_a_row, "the bits are those of the tree", "no more is sent than needed",
       "the same bits on 1, 2, 4 and 8 ranks")

namespace whole_lists {
using solution::mean_loss, solution::sum_of_shards;
List all_reduce(Rank& rank, const List& x) { return by_whole_lists(rank, x); }
}  // namespace whole_lists
MUTANT(whole_lists, "no more is sent than needed")

namespace not_shared {  // a reduce-scatter: each rank has the sums of its own part only
using solution::mean_loss, solution::sum_of_shards;
List all_reduce(Rank& rank, const List& x) { return by_halves(rank, x, true, false); }
}  // namespace not_shared
MUTANT(not_shared, "every rank gets the sum", "any number of elements", "the bits are those of the tree",
       "the same bits on 1, 2, 4 and 8 ranks")

namespace rest_forgotten {
using solution::mean_loss, solution::sum_of_shards;
List all_reduce(Rank& rank, const List& x) {
  const auto n = static_cast<std::size_t>(rank.size());
  const auto whole = static_cast<std::ptrdiff_t>(x.size() / n * n);
  List sum = solution::all_reduce(rank, {x.begin(), x.begin() + whole});
  sum.insert(sum.end(), x.begin() + whole, x.end());
  return sum;
}
}  // namespace rest_forgotten
MUTANT(rest_forgotten, "any number of elements")

namespace receives_first {  // every rank waits for another one
using solution::mean_loss, solution::sum_of_shards;
List all_reduce(Rank& rank, const List& x) {
  List sum = x;
  for (int bit = 1; bit < rank.size(); bit *= 2) {
    const List terms = rank.receive(rank.rank() ^ bit);
    rank.send(rank.rank() ^ bit, sum);
    add(sum, terms);
  }
  return sum;
}
}  // namespace receives_first
MUTANT(receives_first, "every rank gets the sum", "any number of elements", "the bits are those of the tree",
       "no more is sent than needed", "the same bits on 1, 2, 4 and 8 ranks")

namespace to_itself {
using solution::mean_loss, solution::sum_of_shards;
List all_reduce(Rank& rank, const List& x) {
  if (rank.size() > 1) return solution::all_reduce(rank, x);
  rank.send(0, x);
  return rank.receive(0);
}
}  // namespace to_itself
MUTANT(to_itself, "one rank alone")

namespace next_rank {  // a ring that is not closed
using solution::mean_loss, solution::sum_of_shards;
List all_reduce(Rank& rank, const List& x) {
  if (rank.size() == 1) return x;
  rank.send(rank.rank() + 1, x);
  return rank.receive(rank.rank() - 1);
}
}  // namespace next_rank
MUTANT(next_rank, "every rank gets the sum", "any number of elements", "the bits are those of the tree",
       "no more is sent than needed", "the same bits on 1, 2, 4 and 8 ranks")

namespace shards_in_a_row {
using solution::all_reduce, solution::mean_loss;
List sum_of_shards(int count, const std::function<List(int)>& shard) {
  List sum = shard(0);
  for (int k = 1; k < count; ++k) add(sum, shard(k));
  return sum;
}
}  // namespace shards_in_a_row
MUTANT(shards_in_a_row, "shards are added in the tree", "the same bits on 1, 2, 4 and 8 ranks")

namespace distant_shards {  // s0 + s4, s1 + s5, ...: the upper levels of the tree first
using solution::all_reduce, solution::mean_loss;
List sum_of_shards(int count, const std::function<List(int)>& shard) {
  std::vector<List> sums;
  for (int k = 0; k < count; ++k) sums.push_back(shard(k));
  for (std::size_t half = sums.size() / 2; half > 0; half /= 2)
    for (std::size_t k = 0; k < half; ++k) add(sums[k], sums[k + half]);
  return sums[0];
}
}  // namespace distant_shards
MUTANT(distant_shards, "shards are added in the tree", "the same bits on 1, 2, 4 and 8 ranks")

namespace computed_again {  // once to learn the length of the lists
using solution::all_reduce, solution::mean_loss;
List sum_of_shards(int count, const std::function<List(int)>& shard) {
  return shard(0).empty() ? List() : solution::sum_of_shards(count, shard);
}
}  // namespace computed_again
MUTANT(computed_again, "each shard is computed once")

namespace mean_of_means {
using solution::all_reduce, solution::sum_of_shards;
float mean_loss(Rank& rank, const std::vector<Part>& parts) {
  const List sums = all_reduce(rank, sum_of_shards(static_cast<int>(parts.size()), [&](int k) {
                                 const Part& part = parts[static_cast<std::size_t>(k)];
                                 return part.tokens > 0 ? List{part.loss, 1} : List{0, 0};
                               }));
  return sums[0] / sums[1];
}
}  // namespace mean_of_means
MUTANT(mean_of_means, "the loss is a mean over tokens", "ranks may have different numbers of tokens",
       "a shard without tokens counts nothing")

namespace mean_of_ranks {
using solution::all_reduce, solution::sum_of_shards;
float mean_loss(Rank& rank, const std::vector<Part>& parts) {
  const List own = sum_of_shards(static_cast<int>(parts.size()),
                                 [&](int k) { return weighted(parts[static_cast<std::size_t>(k)]); });
  return all_reduce(rank, {own[0] / own[1]})[0] / static_cast<float>(rank.size());
}
}  // namespace mean_of_ranks
MUTANT(mean_of_ranks, "ranks may have different numbers of tokens",
       "the loss has the same bits on 1, 2, 4 and 8 ranks")

namespace nan_times_zero {
using solution::all_reduce, solution::sum_of_shards;
float mean_loss(Rank& rank, const std::vector<Part>& parts) {
  const List sums = all_reduce(rank, sum_of_shards(static_cast<int>(parts.size()), [&](int k) {
                                 const Part& part = parts[static_cast<std::size_t>(k)];
                                 return List{part.loss * part.tokens, part.tokens};
                               }));
  return sums[0] / sums[1];
}
}  // namespace nan_times_zero
MUTANT(nan_times_zero, "a shard without tokens counts nothing")

namespace losses_in_a_row {
using solution::all_reduce, solution::sum_of_shards;
float mean_loss(Rank& rank, const std::vector<Part>& parts) {
  List own = {0, 0};
  for (const Part& part : parts) add(own, weighted(part));
  const List sums = all_reduce(rank, own);
  return sums[0] / sums[1];
}
}  // namespace losses_in_a_row
MUTANT(losses_in_a_row, "the loss has the same bits on 1, 2, 4 and 8 ranks")

namespace one_rank_only {  // the loss of this rank's shards
using solution::all_reduce, solution::sum_of_shards;
float mean_loss(Rank&, const std::vector<Part>& parts) {
  const List own = sum_of_shards(static_cast<int>(parts.size()),
                                 [&](int k) { return weighted(parts[static_cast<std::size_t>(k)]); });
  return own[0] / own[1];
}
}  // namespace one_rank_only
MUTANT(one_rank_only, "the loss is a mean over tokens", "ranks may have different numbers of tokens",
       "a shard without tokens counts nothing", "the loss has the same bits on 1, 2, 4 and 8 ranks")
