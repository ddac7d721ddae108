#include "gradus/distributed/detail/names.h"

#include <algorithm>
#include <map>
#include <utility>

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
  std::map<std::string, int> numbers;  // of names, and of their beginnings before a dot, as they come up
  std::map<std::vector<int>, NameOnRanks> all;  // by the numbers of a name's beginnings and its own
  for (std::size_t r = 0; r < texts.size(); ++r)
    for (std::size_t at = 0; at < texts[r].size();) {
      const std::string name = texts[r].c_str() + at;
      at += name.size() + 1;
      std::vector<int> place;
      for (std::size_t dot = name.find('.');; dot = name.find('.', dot + 1)) {
        place.push_back(
            numbers.try_emplace(name.substr(0, dot), static_cast<int>(numbers.size())).first->second);
        if (dot == std::string::npos) break;
      }
      NameOnRanks& found = all[place];
      found.name = name;
      found.ranks.push_back(static_cast<int>(r));
    }
  std::vector<NameOnRanks> result;
  for (auto& [place, found] : all) result.push_back(std::move(found));
  return result;
}

}  // namespace gradus::distributed::detail
