#include "learn/learn.h"

Pair next_pair(const std::vector<Ids>& words) {
  std::map<Pair, int> counts;
  for (const Ids& ids : words)
    for (std::size_t i = 1; i < ids.size(); ++i) ++counts[{ids[i - 1], ids[i]}];
  Pair best;
  int most = 0;
  for (const auto& [pair, count] : counts)
    if (count > most) best = pair, most = count;
  return best;
}

Ids merge(const Ids& ids, const Pair& pair, std::int64_t token) {
  Ids out;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const bool here = i + 1 < ids.size() && Pair(ids[i], ids[i + 1]) == pair;
    out.push_back(here ? token : ids[i]);
    i += here;
  }
  return out;
}

Ids encode(const std::string& word, const std::vector<Pair>& merges) {
  Ids ids;
  for (const unsigned char byte : word) ids.push_back(byte);
  std::int64_t token = 256;
  for (const Pair& pair : merges) ids = merge(ids, pair, token++);
  return ids;
}

std::string decode(const Ids& ids, const std::vector<Pair>& merges) {
  std::string bytes;
  for (const std::int64_t id : ids) {
    if (id < 256)
      bytes += static_cast<char>(id);
    else
      bytes += decode({merges[id - 256].first, merges[id - 256].second}, merges);
  }
  return bytes;
}
