// The lab: Pre-LN and Post-LN, or two other placements, compared at initialisation and in training.
// It also runs the studies behind the ledger of claims: program/command.h lists the commands.

#include <string_view>

#include "gradus/distributed/session.h"
#include "gradus/kit/program/program.h"
#include "lab/program/command.h"
#include "lab/studies/studies.h"
#include "lab/study/crew.h"

int main(int argc, char** argv) {
  static char help[] = "--help";
  if (argc == 2 && std::string_view(argv[1]) == "help") argv[1] = help;
  using namespace gradus;
  return kit::run_program("lab", [&] {
    distributed::Session session(argc, argv);
    return session.run([&](const distributed::Communicator& world) {
      if (world.rank() > 0) {
        kit::be_silent();
        return lab::serve(world, lab::study_named);
      }
      const lab::Crew crew(world);
      return lab::run_command(argc, argv);
    });
  });
}
