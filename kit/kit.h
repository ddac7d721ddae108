#pragma once
// gradus::kit: what programs that train share. docs/kit.md shows it at work.

#include "gradus/kit/chart/chart.h"
#include "gradus/kit/chart/plot.h"
#include "gradus/kit/chart/terminal.h"
#include "gradus/kit/data/csv.h"
#include "gradus/kit/data/files.h"
#include "gradus/kit/data/run_log.h"
#include "gradus/kit/data/system_info.h"
#include "gradus/kit/data/text_data.h"
#include "gradus/kit/program/command_line.h"
#include "gradus/kit/program/duration.h"
#include "gradus/kit/program/interrupt.h"
#include "gradus/kit/program/program.h"
#include "gradus/kit/program/progress.h"
#include "gradus/kit/program/training_run.h"
#include "gradus/kit/report/html_report.h"
#include "gradus/kit/report/table.h"
