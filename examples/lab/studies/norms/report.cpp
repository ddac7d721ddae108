#include "lab/studies/norms/norms.h"
namespace gradus::lab::norms { void report(Page&, const StudyResults&) {} }
