// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"

#include <QString>

namespace cuco::ui {

class RunSession;

/// Why a candidate or baseline has no timeline, as sentences.
QString missingTimelineText(const RunSession& session, const QString& id);

/// "What cannot be done: what is wrong (where). What to do."
QString errorText(const QString& what_failed, const Error& error);

}  // namespace cuco::ui
