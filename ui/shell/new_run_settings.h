// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/nodes/node.h"
#include "core/run/run_config.h"
#include "core/workload/workload.h"
#include "ui/keys/key_places.h"

#include <QString>

#include <functional>

namespace cuco::ui {

/// The person's documents folder with CUCo below it, or the last one used.
QString runFolder();
/// `folder`/NAME.cuco, or NAME-2.cuco … when that exists.
QString freeRunPath(const QString& folder, const QString& name);

/// Who will answer a run, as a sentence: whether its key is there, what a person has to do.
QString answersText(const ProviderSettings& provider, const std::function<KeyPlace(const std::string&)>& place);

/// Why a run cannot start with these settings, as a sentence; empty when it can. A null probe is not known yet.
QString newRunProblem(const RunConfig& config, const Workload* workload, const NodeProbe* probe, const QString& path);

}  // namespace cuco::ui
