// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/engine/run_model.h"

#include <QString>

namespace cuco::ui {

/// "2 compiling · 1 on CPU (modelled) · about 6 min left", or the run's state when nothing goes on.
QString statusText(const RunModel& run);
QString timeLeftText(double seconds);  ///< "about 6 min left", "less than a minute left"

}  // namespace cuco::ui
