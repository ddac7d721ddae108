#include "gradus/distributed/detail/names.h"

#include <algorithm>
#include <list>
#include <map>

#include "gradus/core/creation.h"

namespace gradus::distributed::detail {

std::vector<std::string> all_texts(const Communicator& world, std::string_view own) {
  const Tensor sizes = world.all_gather(tensor({static_cast<std::int64_t>(own.size())}));
  const auto bytes = sizes.span<std::int64_t>();
  const Tensor mine = zeros({*std::max_element(bytes.begin(), bytes.end()) / 8 + 1}, i64);
  std::copy(own.begin(), own.end(), reinterpret_cast<char*>(mine.mutable_span<std::int64_t>().data()));
  const Tensor all = world.all_gather(mine);
  const auto* const memory = reinterpret_cast<const char*>(all.span<std::int64_t>().data());
  std::vector<std::string> texts;
  for (std::size_t r = 0; r < bytes.size(); ++r)
    texts.emplace_back(memory + r * static_cast<std::size_t>(mine.numel()) * 8,
                       static_cast<std::size_t>(bytes[r]));
  return texts;
}

std::vector<NameOnRanks> names_of_ranks(const Communicator& world, const std::vector<std::string>& own) {
  std::string joined;
  for (const std::string& name : own) joined += name + '\0';
  const std::vector<std::string> texts = all_texts(world, joined);
  std::list<NameOnRanks> all;
  std::map<std::string, std::list<NameOnRanks>::iterator> places;
  for (std::size_t r = 0; r < texts.size(); ++r) {
    std::vector<std::string> names;
    for (std::size_t at = 0; at < texts[r].size(); at += names.back().size() + 1)
      names.emplace_back(texts[r].c_str() + at);
    auto next = all.end();
    for (auto name = names.rbegin(); name != names.rend(); ++name) {
      const auto known = places.find(*name);
      next = known != places.end() ? known->second : all.insert(next, {*name, {}});
      places[*name] = next;
      next->ranks.push_back(static_cast<int>(r));
    }
  }
  return {all.begin(), all.end()};
}

}  // namespace gradus::distributed::detail
