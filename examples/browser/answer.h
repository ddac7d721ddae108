#pragma once
// The JSON interface to the session behind a page: a worker's messages become calls here, and the program
// browser_answer reads the same requests from stdin.
//
//   {"do": "facts"}                      names for menus, the task's known losses, a page's initial
//   settings
//   {"do": "begin", "settings": {...}}   a new session; missing settings have their defaults. If one is
//   invalid, the current session stays
//   {"do": "step", "count": 4}           up to 4 steps of each model, fewer at the session's end, and the
//   step at which each diverged, or null
//   {"do": "verdict"}                    over the finished sessions with the current one's settings
//   {"do": "csv"}                        the current run as a file
//   {"do": "trace"}                      stream and gradient of the current models, block by block
//   {"do": "rates", "settings": {...}}   the learning rate of each step; needs no session
//
// The live figures' requests need no session; missing fields of adam and attention have the defaults of
// figures/adam.h and figures/attention.h:
//   {"do": "layer_norm", "x": [1, 2, 4], "dy": [1, 0, 0]}   one token: y, dx, mean and deviation
//   {"do": "tapes"}                                         names of the expressions
//   {"do": "tape", "expression": "twice", "values": [3, 2]} nodes and visits
//   {"do": "streams"}                                       names of gradient streams
//   {"do": "adam", "stream": "noise", "warmup": 20}         40 steps of Adam and SGD
//   {"do": "heads"}                                         names of rules
//   {"do": "blocks"}                                        names of placements that trace can follow
//   {"do": "attention", "letters": ["a", "b"], "rule": "same"}  weights, sums and leaks
//
// Errors are answered with {"error": "cause and remedy"}.

#include <string>

namespace gradus::browser {

/// The answer to a request, both JSON; non-finite numbers are null. Never throws. There is one session at a
/// time; the records of earlier ones are kept until the program ends.
std::string answer(const std::string& request);

}  // namespace gradus::browser
