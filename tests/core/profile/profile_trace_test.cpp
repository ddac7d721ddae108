#include <doctest/doctest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "check_op.h"
#include "gradus/core/memory/storage.h"
#include "gradus/core/profile/profile.h"
#include "gradus/core/tape/scope.h"
#include "gradus/nn/models/gpt.h"
#include "gradus/ops/ops.h"
#include "gradus/optim/adam.h"
#include "support.h"

using namespace gradus;
using nlohmann::json;

namespace {

/// The events of the file a profile writes.
json trace_of(const Profile& profile) {
  const test::ScratchFolder folder;
  const auto file = folder.path() / "trace.json";
  profile.write_chrome_trace(file.string());
  std::ifstream in(file);
  return json::parse(in).at("traceEvents");
}

std::vector<json> of_kind(const json& events, const std::string& phase) {
  std::vector<json> found;
  for (const json& event : events)
    if (event.at("ph") == phase) found.push_back(event);
  return found;
}

double begin_of(const json& slice) { return slice.at("ts"); }
double end_of(const json& slice) { return begin_of(slice) + slice.at("dur").get<double>(); }

/// The names of the slices around each slice, outermost first, as a viewer nests them; fails where one ends
/// after the one around it.
std::vector<std::string> nested(const std::vector<json>& slices) {
  std::vector<std::string> paths;
  std::vector<json> open;
  for (const json& slice : slices) {
    while (!open.empty() && begin_of(slice) >= end_of(open.back()) - 1e-6 &&
           slice.at("dur").get<double>() > 0)
      open.pop_back();
    std::string path;
    for (const json& outer : open) {
      CHECK(end_of(slice) <= end_of(outer) + 1e-6);
      path += outer.at("name").get<std::string>() + " > ";
    }
    paths.push_back(path + slice.at("name").get<std::string>());
    open.push_back(slice);
  }
  return paths;
}

bool contains(const std::vector<std::string>& all, const std::string& wanted) {
  return std::find(all.begin(), all.end(), wanted) != all.end();
}

}  // namespace

TEST_CASE("write_chrome_trace: nested ranges, modules and ops") {
  const nn::GPT model({.vocab = 20, .context = 8, .layers = 2, .block = {.d_model = 16, .heads = 2}});
  optim::Adam opt(model.parameters(), {.lr = 1e-3});
  const Tensor ids = randint(0, 20, {2, 8});
  const Profile profile;
  {
    const ProfileRange range("step");
    model.loss(ids, randint(0, 20, {2, 8})).backward();
    opt.step();
  }
  const json events = trace_of(profile);
  const std::vector<json> slices = of_kind(events, "X");
  const std::vector<std::string> paths = nested(slices);
  CHECK(contains(paths, "step > layers > layers.1 > layers.1.linear1 > linear"));
  CHECK(contains(paths, "step > layers > layers.0 > layers.0.self_attn > self_attention_packed"));
  CHECK(contains(paths, "step > token_embedding > embedding"));
  CHECK(contains(paths, "step > linear_cross_entropy"));
  CHECK(contains(paths, "step > backward > layers > layers.1 > layers.1.linear1 > linear"));
  CHECK(contains(paths, "step > Adam step"));

  std::int64_t forward = 0, backward = 0;
  double flops = 0;
  for (const json& slice : slices) {
    if (slice.at("name") != "linear") continue;
    (slice.at("cat") == "forward" ? forward : backward) += 1;
    flops += slice.at("args").at("flops").get<double>();
  }
  CHECK(forward == 8);
  CHECK(backward == 8);
  double counted = 0;
  for (const ProfileEntry& entry : profile.entries())
    if (entry.name == "linear") counted += entry.flops;
  CHECK(flops == counted);

  const std::vector<json> counters = of_kind(events, "C");
  CHECK(counters.size() > 10);
  for (const json& counter : counters) CHECK(counter.at("args").at("bytes").get<std::int64_t>() > 0);
  CHECK(of_kind(events, "M").size() == 2);
}

TEST_CASE("write_chrome_trace: open and truncated ranges still nest") {
  const Tensor x = randn({4});
  {
    const Profile profile;
    const ProfileRange range("open");
    x.relu();
    const std::vector<std::string> paths = nested(of_kind(trace_of(profile), "X"));
    CHECK(contains(paths, "open > relu"));
  }
  {
    Profile profile;
    const ProfileRange range("open");
    x.exp();
    profile.clear();
    x.relu();
    const std::vector<std::string> paths = nested(of_kind(trace_of(profile), "X"));
    CHECK(contains(paths, "open > relu"));
    CHECK_FALSE(contains(paths, "open > exp"));
  }
  Profile few({.trace_events = 3});
  {
    const ProfileRange range("long");
    for (int i = 0; i < 10; ++i) x.relu();
  }
  CHECK(of_kind(trace_of(few), "X").size() == 3);
  few.clear();
  CHECK(of_kind(trace_of(few), "X").empty());
}

TEST_CASE("write_chrome_trace: names of any bytes, files that cannot be written") {
  const Profile profile;
  { const ProfileRange range("quoted \"\\\n\xff"); }
  CHECK(of_kind(trace_of(profile), "X").size() == 1);
  const test::ScratchFolder folder;
  const std::string missing = (folder.path() / "no_such_folder" / "trace.json").string();
  test::check_error(
      [&] { profile.write_chrome_trace(missing); },
      "write_chrome_trace: " + missing + ": cannot create a file in its folder: No such file or directory");
}
