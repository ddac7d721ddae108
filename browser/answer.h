#pragma once
// The session behind a page, spoken to in JSON: a worker's messages become calls here, and the program
// browser_answer reads the same requests from stdin.
//
//   {"do": "facts"}                      names for menus, the task's known losses, the settings a page begins
//   with
//   {"do": "begin", "settings": {...}}   a new session; settings left out are as they begin
//   {"do": "step", "count": 4}           so many steps of each model, fewer where the session ends before
//   {"do": "verdict"}                    of the sessions that are done, with the settings of the present one
//   {"do": "csv"}                        the present run as a file
//   {"do": "layer_norm", "x": [1, 2, 4], "dy": [1, 0, 0]}  of one token, without a session: y, dx, mean and
//   deviation
//
// What goes wrong is answered with {"error": "what and what to do about it"}.

#include <string>

namespace gradus::browser {

/// The answer to a request, both JSON; numbers that are not finite are null. Never throws. There is one
/// session at a time, and the record of those before it stays until the program ends.
std::string answer(const std::string& request);

}  // namespace gradus::browser
