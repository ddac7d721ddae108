#include <fmt/format.h>
#include "lab/studies/start/start.h"
namespace gradus::lab::start {
void report(Page&, const StudyResults&) {}
}
