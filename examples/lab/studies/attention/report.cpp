#include "lab/report/page.h"
#include "lab/studies/attention/parts.h"
namespace gradus::lab::attention {
void report(Page&, const StudyResults&) {}
}  // namespace gradus::lab::attention
