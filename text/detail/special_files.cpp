// special_tokens_map.json, tokenizer_config.json and added_tokens.json: small files in a vocabulary's folder.

#include "gradus/core/io/printable.h"
#include "gradus/text/detail/json_keys.h"
#include "gradus/text/detail/parts.h"

namespace gradus::text::detail {
namespace {

constexpr const char* kWho = "load_tokenizer";
constexpr const char* kRoles[] = {"bos", "eos", "pad", "unk", "cls", "sep", "mask"};

/// The text of a token, which is a string or an object with its text under "content".
std::string content_of(const Json& token, const std::string& where) {
  if (token.is_object()) return Keys(token, where).need<std::string>("content");
  check(token.is_string(), "{}: a token is {}; expects a string", where, Keys::shown(token));
  return token.get<std::string>();
}

void read_roles(const Keys& file, std::map<std::string, std::string>& roles,
                std::vector<std::string>& special) {
  for (const char* role : kRoles) {
    const std::string key = std::string(role) + "_token";
    if (!file.has(key.c_str())) continue;
    const std::string token = content_of(file.at(key.c_str()), file.where() + "." + key);
    if (token.empty()) continue;
    special.push_back(token);
    roles.try_emplace(role, token);
  }
  const char* more = "additional_special_tokens";
  if (!file.has(more)) return;
  check(file.at(more).is_array(), "{}: \"{}\" is not a list", file.where(), more);
  for (const Json& token : file.at(more)) special.push_back(content_of(token, file.where() + "." + more));
}

std::int64_t id_of(const Json& id, const std::string& token, const std::string& where) {
  if (!id.is_number_integer())
    fail_with("{}: the id of {} is {}; expects a whole number", where, io::quote(token), Keys::shown(id));
  return id.get<std::int64_t>();
}

}  // namespace

void add_vocabulary(Tokens& tokens, const Json& vocabulary) {
  check(vocabulary.is_object() && !vocabulary.empty(), "{}: expects an object of tokens and their ids",
        tokens.who());
  for (const auto& [token, id] : vocabulary.items()) tokens.add(token, id_of(id, token, tokens.who()));
}

void read_special_files(Tokens& tokens, const std::filesystem::path& folder) {
  std::map<std::string, std::string> roles;
  std::vector<std::string> special;
  for (const char* name : {"special_tokens_map.json", "tokenizer_config.json"})
    if (exists(kWho, folder / name))
      read_roles(Keys(read_json(kWho, folder / name), std::string(kWho) + ": " + named(folder / name)), roles,
                 special);
  if (const auto path = folder / "added_tokens.json"; exists(kWho, path)) {
    const Json added = read_json(kWho, path);
    check(added.is_object(), "{}: {}: expects an object of tokens and their ids", kWho, named(path));
    for (const auto& [token, id] : added.items()) {
      const auto known = tokens.find(token);
      const std::int64_t given = id_of(id, token, std::string(kWho) + ": " + named(path));
      check(!known || *known == given, "{}: {} says that {} has id {}, {} says {}", kWho, named(path),
            io::quote(token), given, tokens.who(), known.value_or(0));
      if (!known) tokens.add(token, given);
      if (tokens.added(given) == nullptr) tokens.mark(token, {.special = false});
    }
  }
  for (const std::string& token : special)
    if (const auto id = tokens.find(token)) {
      Added how = tokens.added(*id) != nullptr ? *tokens.added(*id) : Added{};
      how.special = true;
      tokens.mark(token, how);
    }
  tokens.name_special(roles);
}

std::string special_tokens_map(const Tokens& tokens) {
  const SpecialIds& ids = tokens.special();
  const std::optional<std::int64_t> by_role[] = {ids.bos, ids.eos, ids.pad, ids.unk,
                                                 ids.cls, ids.sep, ids.mask};
  nlohmann::ordered_json map;
  std::vector<std::int64_t> written;
  for (std::size_t i = 0; i < std::size(kRoles); ++i) {
    if (!by_role[i] || tokens.added(*by_role[i]) == nullptr) continue;
    map[std::string(kRoles[i]) + "_token"] = tokens.token(*by_role[i], "save");
    written.push_back(*by_role[i]);
  }
  for (const Added& added : tokens.all_added())
    if (added.special && std::find(written.begin(), written.end(), added.id) == written.end())
      map["additional_special_tokens"].push_back(tokens.token(added.id, "save"));
  return map.empty() ? "{}\n" : map.dump(2) + "\n";
}

std::string vocabulary_json(const Tokens& tokens) {
  std::string text = "{";
  for (std::int64_t id = 0; id < tokens.size(); ++id)
    if (tokens.has(id))
      text +=
          (text.size() == 1 ? "" : ", ") + json_quoted(tokens.token(id, "save")) + ": " + std::to_string(id);
  return text + "}";
}

}  // namespace gradus::text::detail
