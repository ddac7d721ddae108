// The lab: Pre-LN and Post-LN, or two other placements, compared at initialisation and in training.
//
//   lab [OPTIONS]      measures, trains, writes a report (--quick: a first look; --help: all options)
//   lab STUDY [...]    one of the studies behind the ledger of claims; lab studies lists them
//   lab claims         the quick form of all; lab claim 13: of one claim; lab merge: parts of several machines
//   lab report DIR     draws the report in DIR again from the files beside it

#include <string_view>

#include "gradus/kit/program/program.h"
#include "lab/lab.h"
#include "lab/study/command.h"

namespace {

int run(int argc, char** argv) {
  using namespace gradus;
  static char help[] = "--help";
  if (argc == 2 && std::string_view(argv[1]) == "help") argv[1] = help;
  if (const auto status = lab::run_study_command(argc, argv)) return *status;
  if (argc > 1 && std::string_view(argv[1]) == "report") {
    if (argc == 3) return lab::holds_studies(argv[2]) ? lab::report_studies(argv[2]) : lab::report_lab(argv[2]);
    kit::print_error("lab: report takes the folder of a lab, as in: lab report lab-results/first\n");
    return 2;
  }
  lab::LabOptions options;
  if (const auto status = lab::parse(argc, argv, options)) return *status;
  return lab::run_lab(options);
}

}  // namespace

int main(int argc, char** argv) {
  return gradus::kit::run_program("lab", [&] { return run(argc, argv); });
}
