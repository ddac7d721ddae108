// What many ranks cost on this machine: mpirun -n 2 distributed_speed RECORD [OPTIONS]. ./run bench ranks
// runs it.

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "distributed/speed/costs.h"
#include "distributed/speed/steps.h"
#include "gradus/distributed/distributed.h"
#include "gradus/gradus.h"
#include "gradus/kit/data/files.h"
#include "gradus/kit/program/command_line.h"
#include "gradus/kit/program/program.h"

namespace gradus::speed {

namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::filesystem::path record;
  std::vector<std::string> models;
  std::string note;
  std::int64_t rounds = 5, largest = 64 << 20;
};

/// Three digits: more would only be noise in a diff.
void round_numbers(Json& value) {
  if (value.is_number_float()) value = std::stod(fmt::format("{:.4g}", value.get<double>()));
  if (value.is_structured())
    for (auto& part : value) round_numbers(part);
}

/// One line for each entry of a list.
std::string lines(const Json& data) {
  std::string text = "{";
  for (bool first = true; const auto& [key, value] : data.items()) {
    text += (first ? "\n" : ",\n") + Json(key).dump() + ": ";
    first = false;
    if (!value.is_array() || value.empty() || !value[0].is_object()) {
      text += value.dump();
      continue;
    }
    for (std::size_t i = 0; i < value.size(); ++i) text += (i == 0 ? "[\n  " : ",\n  ") + value[i].dump();
    text += "]";
  }
  return text + "\n}\n";
}

void print_fit(const char* call, const Fit& fit) {
  kit::print(fmt::format("{:<15} {:>8.1f} us + bytes / {:>6.2f} GB/s   error {:>4.0f}%, at worst {:>4.0f}%\n",
                         call, fit.cost.latency * 1e6, 1e-9 / fit.cost.per_byte, 100 * fit.rms,
                         100 * fit.worst));
}

Json measure(const distributed::Communicator& world, const Options& options) {
  const int rounds = static_cast<int>(options.rounds);
  const bool prints = world.rank() == 0;
  Json data;
  Cost all_reduce;
  if (world.size() > 1) {
    Json costs = measure_costs(world, static_cast<double>(options.largest), rounds), fits = Json::array();
    for (const char* call :
         {"all_reduce", "MPI_Allreduce", "reduce_scatter", "all_gather", "broadcast", "send and recv"}) {
      const Fit found = fit(points_of(costs, call));
      fits.push_back({{"call", call},
                      {"latency_s", found.cost.latency},
                      {"s_per_byte", found.cost.per_byte},
                      {"rms", found.rms},
                      {"worst", found.worst}});
      if (std::string(call) == "all_reduce") all_reduce = found.cost;
      if (prints) print_fit(call, found);
    }
    data["costs"] = std::move(costs);
    data["fits"] = std::move(fits);
  }
  Json steps = Json::array();
  for (const std::string& model : options.models) {
    steps.push_back(measure_step(world, case_called(model), all_reduce, rounds));
    if (prints) kit::print(steps.back().dump() + "\n");
  }
  data["steps"] = std::move(steps);
  return data;
}

std::optional<int> parse(int argc, char** argv, Options& options) {
  kit::CommandLine line("distributed_speed", "Measures what many ranks cost on this machine.");
  line.path("--record", options.record, "Writes all figures into this file");
  line.choices("--models", options.models, names_of_cases(), "Measures steps of these");
  line.integer("--rounds", options.rounds, "Measurements of each", {1, 1000});
  line.integer("--largest", options.largest, "Bytes of the largest array", {4096, 1 << 30});
  line.text("--note", options.note, "What else there is to say of the measurement, for the record");
  return line.parse(argc, argv);
}

}  // namespace
}  // namespace gradus::speed

int main(int argc, char** argv) {
  using namespace gradus;
  return kit::run_program("distributed_speed", [&] {
    speed::Options options;
    if (const auto status = speed::parse(argc, argv, options)) return *status;
    distributed::Session session(argc, argv);
    return session.run([&](const distributed::Communicator& world) {
      speed::Json data = speed::measure(world, options);
      speed::round_numbers(data);
      data["measured"] = {{"date", fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)))},
                          {"version", version()},
                          {"ranks", world.size()},
                          {"threads", num_threads()},
                          {"isa", name(current_isa())},
                          {"note", options.note}};
      if (world.rank() == 0 && !options.record.empty()) kit::replace_file(options.record, speed::lines(data));
    });
  });
}
