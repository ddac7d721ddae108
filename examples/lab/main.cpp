// The lab: Pre-LN and Post-LN, or two other placements, compared at initialisation and in training.
// It also runs the studies behind the ledger of claims: program/command.h lists the commands.

#include <string_view>

#include "gradus/kit/program/program.h"
#include "lab/program/command.h"

int main(int argc, char** argv) {
  static char help[] = "--help";
  if (argc == 2 && std::string_view(argv[1]) == "help") argv[1] = help;
  return gradus::kit::run_program("lab", [&] { return gradus::lab::run_command(argc, argv); });
}
