// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/run_list_model.h"

#include "ui/population/candidate_format.h"
#include "ui/shell/recent_files.h"

#include <QDir>
#include <QFileInfo>

#include <algorithm>

namespace cuco::ui {

RunListModel::RunListModel(const std::vector<std::unique_ptr<RunModel>>& runs, const NodeProbes& nodes, QObject* parent)
    : QAbstractListModel(parent), runs_(runs), nodes_(nodes), rows_(makeRows())
{
}

QString RunListModel::stateText(const RunModel& run)
{
    if (run.isActive() && !run.activity().isEmpty()) {
        return tr("preparing");
    }
    if (!run.prompts().waiting().empty()) {
        return tr("waits for your answer");
    }
    switch (run.snapshot().state) {
        case RunState::created:
            return tr("not started");
        case RunState::running:
            // Without an engine of ours it goes on elsewhere, or was cut off.
            return run.isActive() ? tr("running") : tr("unfinished");
        case RunState::paused:
            return tr("paused");
        case RunState::stopped:
            return tr("stopped");
        case RunState::finished:
            return tr("finished");
        case RunState::failed:
            return tr("failed");
    }
    return {};
}

RunListModel::Row RunListModel::rowFor(RunModel& run)
{
    const RunSnapshot& snapshot = run.snapshot();
    const auto settled = std::count_if(snapshot.candidates.begin(), snapshot.candidates.end(),
                                       [](const Candidate& candidate) { return candidate.evaluation.has_value(); });
    const int total = std::max(snapshot.config.proposals(), static_cast<int>(snapshot.candidates.size()));
    Row row{open_run, QFileInfo(run.path()).completeBaseName(), {}, run.path(), Light::off, -1, &run};
    row.detail = QStringLiteral("%1 · %2/%3").arg(stateText(run)).arg(settled).arg(total);
    if (run.isActive()) {
        row.light = Light::working;
        row.progress = total > 0 ? static_cast<double>(settled) / total : 0;
    } else if (snapshot.state == RunState::failed) {
        row.light = Light::bad;
    } else if (snapshot.state == RunState::finished) {
        row.light = Light::good;
    }
    return row;
}

std::vector<RunListModel::Row> RunListModel::makeRows() const
{
    std::vector<Row> rows;
    const auto add_heading = [&rows](const QString& text) {
        rows.push_back({heading, text, {}, {}, Light::off, -1, nullptr});
    };
    if (!runs_.empty()) {
        add_heading(tr("Open"));
        for (const auto& run : runs_) {
            rows.push_back(rowFor(*run));
        }
    }
    bool first = true;
    for (const QString& path : recentFiles()) {
        const bool is_open =
            std::any_of(runs_.begin(), runs_.end(), [&](const auto& run) { return run->path() == path; });
        if (is_open) {
            continue;
        }
        if (first) {
            add_heading(tr("Recent"));
            first = false;
        }
        const QFileInfo file(path);
        rows.push_back({recent_file, file.completeBaseName(), QDir::toNativeSeparators(file.absolutePath()), path,
                        Light::off, -1, nullptr});
    }
    add_heading(tr("Nodes"));
    for (const NodeProbes::Entry& entry : nodes_.entries()) {
        Row row{node, QString::fromStdString(entry.name), nodes_.state(entry), {}, Light::off, -1, nullptr};
        if (entry.probe) {
            row.light = entry.probe->usable ? Light::good : Light::off;
        }
        rows.push_back(row);
    }
    return rows;
}

void RunListModel::refresh()
{
    beginResetModel();
    rows_ = makeRows();
    endResetModel();
}

void RunListModel::refreshRun(const RunModel* run)
{
    if (const int row = rowOf(run); row >= 0) {
        rows_[static_cast<std::size_t>(row)] = rowFor(*runAt(row));
        Q_EMIT dataChanged(index(row), index(row));
    }
}

int RunListModel::rowOf(const RunModel* run) const
{
    const auto found = std::find_if(rows_.begin(), rows_.end(),
                                    [run](const Row& row) { return row.run != nullptr && row.run == run; });
    return found == rows_.end() ? -1 : static_cast<int>(found - rows_.begin());
}

RunModel* RunListModel::runAt(int row) const
{
    return row >= 0 && row < rowCount() ? rows_[static_cast<std::size_t>(row)].run : nullptr;
}

int RunListModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

QVariant RunListModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) {
        return {};
    }
    const Row& row = rows_[static_cast<std::size_t>(index.row())];
    switch (role) {
        case Qt::DisplayRole:
            return row.text;
        case Qt::ToolTipRole:
            return row.path.isEmpty() ? row.detail : QDir::toNativeSeparators(row.path);
        case Qt::AccessibleDescriptionRole:
        case detail_role:
            return row.detail;
        case kind_role:
            return row.kind;
        case light_role:
            return static_cast<int>(row.light);
        case progress_role:
            return row.progress;
        case path_role:
            return row.path;
        default:
            return {};
    }
}

Qt::ItemFlags RunListModel::flags(const QModelIndex& index) const
{
    if (!index.isValid()) {
        return Qt::NoItemFlags;
    }
    const Kind kind = rows_[static_cast<std::size_t>(index.row())].kind;
    return kind == heading ? Qt::ItemFlags(Qt::NoItemFlags) : Qt::ItemIsEnabled | Qt::ItemIsSelectable;
}

}  // namespace cuco::ui
