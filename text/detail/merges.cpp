#include "gradus/text/detail/merges.h"

namespace gradus::text::detail {
namespace {

/// A possible merge of the tokens at `left` and `right`, valid if they have not changed since.
struct Candidate {
  std::int32_t rank, id;
  std::size_t left, right;
  std::int32_t left_id, right_id;
  bool operator<(const Candidate& other) const {  // the queue returns the largest first
    return rank != other.rank ? rank > other.rank : left > other.left;
  }
};

constexpr std::int32_t kGone = -1;
constexpr std::size_t kNone = static_cast<std::size_t>(-1);

}  // namespace

void Merges::apply(std::vector<std::int32_t>& word) const {
  const std::size_t size = word.size();
  if (size < 2) return;
  std::vector<std::size_t> before(size), after(size);
  for (std::size_t i = 0; i < size; ++i)
    before[i] = i == 0 ? kNone : i - 1, after[i] = i + 1 < size ? i + 1 : kNone;

  std::vector<Candidate> found;
  const auto look_at = [&](std::size_t left, std::size_t right) -> std::optional<Candidate> {
    if (left == kNone || right == kNone) return {};
    const To* to = find(word[left], word[right]);
    if (to == nullptr) return {};
    return Candidate{to->rank, to->id, left, right, word[left], word[right]};
  };
  for (std::size_t i = 0; i + 1 < size; ++i)
    if (const auto candidate = look_at(i, i + 1)) found.push_back(*candidate);
  std::priority_queue<Candidate> queue(std::less<Candidate>(), std::move(found));

  while (!queue.empty()) {
    const Candidate next = queue.top();
    queue.pop();
    // If neither has changed, they are still neighbors: what merges is gone, or has a new id.
    if (word[next.left] != next.left_id || word[next.right] != next.right_id) continue;
    word[next.left] = next.id;
    word[next.right] = kGone;
    after[next.left] = after[next.right];
    if (after[next.right] != kNone) before[after[next.right]] = next.left;
    if (const auto candidate = look_at(before[next.left], next.left)) queue.push(*candidate);
    if (const auto candidate = look_at(next.left, after[next.left])) queue.push(*candidate);
  }
  std::erase(word, kGone);
}

}  // namespace gradus::text::detail
