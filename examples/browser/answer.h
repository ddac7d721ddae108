#pragma once
// The session behind a page, spoken to in JSON: a worker's messages become calls here, and the program
// browser_answer reads the same requests from stdin.
//
//   {"do": "facts"}                      names for menus, the task's known losses, the settings a page begins
//   with
//   {"do": "begin", "settings": {...}}   a new session; settings left out are as they begin. Where they are
//   refused the present session stays
//   {"do": "step", "count": 4}           so many steps of each model, fewer where the session ends before, and
//   at which step each diverged, null where it did not
//   {"do": "verdict"}                    of the sessions that are done, with the settings of the present one
//   {"do": "csv"}                        the present run as a file
//   {"do": "trace"}                      stream and gradient of the present models, block by block
//   {"do": "rates", "settings": {...}}   the learning rate of each step, of settings of no session yet
//
// Those of the live figures need no session; what is left out of adam and attention is as figures/adam.h and
// figures/attention.h begin:
//   {"do": "layer_norm", "x": [1, 2, 4], "dy": [1, 0, 0]}   one token: y, dx, mean and deviation
//   {"do": "tapes"}                                         names of expressions
//   {"do": "tape", "expression": "twice", "values": [3, 2]} notes and visits
//   {"do": "streams"}                                       names of streams of gradients
//   {"do": "adam", "stream": "noise", "warmup": 20}         40 steps of Adam and SGD
//   {"do": "heads"}                                         names of rules
//   {"do": "blocks"}                                        names of placements that trace can follow
//   {"do": "attention", "letters": ["a", "b"], "rule": "same"}  weights, sums and leaks
//
// What goes wrong is answered with {"error": "what and what to do about it"}.

#include <string>

namespace gradus::browser {

/// The answer to a request, both JSON; numbers that are not finite are null. Never throws. There is one
/// session at a time, and the record of those before it stays until the program ends.
std::string answer(const std::string& request);

}  // namespace gradus::browser
