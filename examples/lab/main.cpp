// The lab: Pre-LN and Post-LN Transformers compared at initialisation, in training and in ablations.
//
//   lab [OPTIONS]      measures, trains, writes a report (--quick: a first look; --help: all options)
//   lab report DIR     draws the report in DIR again from the files beside it

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string_view>

#include "kit/interrupt.h"
#include "lab/lab.h"

namespace {

int run(int argc, char** argv) {
  using namespace gradus;
  if (argc > 1 && std::string_view(argv[1]) == "report") {
    if (argc == 3) return lab::report_lab(argv[2]);
    fmt::print(stderr, "lab: report takes the folder of a lab, as in: lab report lab-results/first\n");
    return 2;
  }
  lab::LabOptions options;
  if (const auto status = lab::parse(argc, argv, options)) return *status;
  kit::catch_interrupts();
  return lab::run_lab(options);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fflush(stdout);
    fmt::print(stderr, "lab: {}\n", error.what());
    return 1;
  }
}
