#pragma once
// The commands:
//
//   lab [OPTIONS]                                                           compares two placements
//   lab STUDY [--quick | --full] [--out DIR | --resume DIR] [--shard I/N]   runs one study
//   lab claims, lab claim N      the quick form of all, or of one claim's
//   lab merge DIR... --out DIR   joins the parts of several machines
//   lab report DIR               draws the studies in a folder again from their files
//   lab studies                  lists them

namespace gradus::lab {

/// The exit status.
int run_command(int argc, const char* const* argv);

}  // namespace gradus::lab
