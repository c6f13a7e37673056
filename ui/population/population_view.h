// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/engine/run_session.h"

#include <QWidget>

class QSplitter;

namespace cuco::ui {

class CandidateTable;
class FitnessChart;
class LineageView;

/// The tab with the chart above, the lineage and the table below.
class PopulationView : public QWidget {
    Q_OBJECT

public:
    explicit PopulationView(RunSession* session, QWidget* parent = nullptr);

    FitnessChart* chart() const { return chart_; }
    LineageView* lineage() const { return lineage_; }
    CandidateTable* table() const { return table_; }

    QByteArray saveState() const;
    void restoreState(const QByteArray& state);

private:
    FitnessChart* chart_;
    LineageView* lineage_;
    CandidateTable* table_;
    QSplitter *rows_, *columns_;
};

}  // namespace cuco::ui
