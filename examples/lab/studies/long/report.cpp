#include "lab/studies/long/long.h"
namespace gradus::lab::far { void report(Page&, const StudyResults&) {} }
