// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/engine/run_session.h"

#include <QList>
#include <QString>

namespace cuco::ui {

/// One line of the inspector. Label and value are rich text whose parts from a run are escaped; links are
/// "candidate:ID" and "line:N".
struct Fact {
    QString section, label, value;
    bool is_number = false;
};

/// What is known about a candidate or baseline, in the order of the inspector.
QList<Fact> factsOf(const RunSession& session, const QString& id);

}  // namespace cuco::ui
