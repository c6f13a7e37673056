// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/population/archive_model.h"

#include "core/evaluation/data_paths.h"

#include <QStringList>

#include <algorithm>
#include <cmath>

namespace cuco::ui {

namespace {

/// The map shows the whole design space, whatever the node can do.
const std::set<std::string> all_capabilities{"lsa", "gin", "copy_engine", "cooperative_launch"};
constexpr int all_of_them = 1'000'000;

QString speedup(double fitness)
{
    return QStringLiteral("%1×").arg(std::exp(fitness), 0, 'f', 2);
}

}  // namespace

ArchiveModel::ArchiveModel(RunSession* session, QObject* parent)
    : QAbstractTableModel(parent), session_(session), archive_(ArchiveSettings{all_of_them})
{
    const auto paths = DataPaths::find();
    const auto space = paths ? DesignSpace::load(paths->resources / "design_space.json")
                             : Result<DesignSpace>(std::unexpected(paths.error()));
    if (!space) {
        problem_ = QString::fromStdString(describe(space.error()));
        return;
    }
    const auto cells = validCells(*space, all_capabilities);
    allowed_cells_ = cells.size();
    const auto add = [](std::vector<Pair>& pairs, Pair pair) {
        if (std::ranges::find(pairs, pair) == pairs.end()) {
            pairs.push_back(std::move(pair));
        }
    };
    for (const ArchiveCell& cell : cells) {
        add(rows_, {cell.backend, cell.placement});
        add(columns_, {cell.sync, cell.issuer});
    }
    places_.resize(rows_.size() * columns_.size());
    for (const ArchiveCell& cell : cells) {
        const auto row = std::ranges::find(rows_, Pair{cell.backend, cell.placement}) - rows_.begin();
        const auto column = std::ranges::find(columns_, Pair{cell.sync, cell.issuer}) - columns_.begin();
        places_[static_cast<std::size_t>(row) * columns_.size() + static_cast<std::size_t>(column)].cells.push_back(
            cell);
    }
    refresh();
}

void ArchiveModel::refresh()
{
    beginResetModel();
    archive_ = Archive(ArchiveSettings{all_of_them});
    for (const Candidate& candidate : session_->snapshot().candidates) {
        archive_.insert(candidate);
    }
    coverage_ = {};
    coverage_.valid = allowed_cells_;
    const auto elites = archive_.elites();
    for (const Place& place : places_) {
        for (const ArchiveCell& cell : place.cells) {
            coverage_.filled += archive_.at(cell) ? 1 : 0;
        }
    }
    most_ = elites.empty() ? 0 : elites.front().fitness;
    least_ = elites.empty() ? 0 : elites.back().fitness;
    endResetModel();
}

int ArchiveModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int ArchiveModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(columns_.size());
}

const ArchiveModel::Place& ArchiveModel::place(const QModelIndex& index) const
{
    return places_[static_cast<std::size_t>(index.row()) * columns_.size() + static_cast<std::size_t>(index.column())];
}

const Elite* ArchiveModel::fittest(const Place& place) const
{
    const Elite* best = nullptr;
    for (const ArchiveCell& cell : place.cells) {
        const Elite* elite = archive_.at(cell);
        if (elite && (!best || elite->fitness > best->fitness)) {
            best = elite;
        }
    }
    return best;
}

QVariant ArchiveModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid()) {
        return {};
    }
    const Place& here = place(index);
    const Elite* best = fittest(here);
    switch (role) {
        case Qt::DisplayRole:
            return best ? QStringLiteral("%1\n%2").arg(speedup(best->fitness), QString::fromStdString(best->id))
                        : QString();
        case Qt::TextAlignmentRole:
            return static_cast<int>(Qt::AlignCenter);
        case id_role:
            return best ? QString::fromStdString(best->id) : QString();
        case fitness_share_role:
            return best && most_ > least_ ? (best->fitness - least_) / (most_ - least_) : best ? 1.0 : 0.0;
        case allowed_role:
            return !here.cells.empty();
        case Qt::AccessibleTextRole:
        case Qt::ToolTipRole: {
            if (here.cells.empty()) {
                return tr("The design space does not allow this combination.");
            }
            QStringList lines{tr("%1, %2").arg(
                headerData(index.row(), Qt::Vertical).toString(),
                headerData(index.column(), Qt::Horizontal).toString().replace(QLatin1Char('\n'), QLatin1Char(' ')))};
            for (const ArchiveCell& cell : here.cells) {
                const Elite* elite = archive_.at(cell);
                const std::string size(toString(cell.chunk));
                lines << (elite ? tr("chunk %1: %2, %3 at least")
                                      .arg(QString::fromStdString(size), QString::fromStdString(elite->id),
                                           speedup(elite->fitness))
                                : tr("chunk %1: nobody").arg(QString::fromStdString(size)));
            }
            return lines.join(QLatin1Char('\n'));
        }
        default:
            return {};
    }
}

QVariant ArchiveModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (role != Qt::DisplayRole || section < 0) {
        return {};
    }
    const auto& pairs = orientation == Qt::Vertical ? rows_ : columns_;
    const auto position = static_cast<std::size_t>(section);
    if (position >= pairs.size()) {
        return {};
    }
    const auto& [first, second] = pairs[position];
    return QStringLiteral("%1%2%3").arg(QString::fromStdString(first),
                                        orientation == Qt::Vertical ? QStringLiteral(", ") : QStringLiteral("\n"),
                                        QString::fromStdString(second));
}

Qt::ItemFlags ArchiveModel::flags(const QModelIndex& index) const
{
    return index.isValid() && !place(index).cells.empty() ? Qt::ItemIsEnabled | Qt::ItemIsSelectable : Qt::NoItemFlags;
}

QModelIndex ArchiveModel::indexOf(const QString& id) const
{
    const Candidate* candidate = session_->candidate(id);
    if (!candidate) {
        return {};
    }
    const ArchiveCell cell = cellOf(candidate->directive);
    const auto row = std::ranges::find(rows_, Pair{cell.backend, cell.placement});
    const auto column = std::ranges::find(columns_, Pair{cell.sync, cell.issuer});
    if (row == rows_.end() || column == columns_.end()) {
        return {};
    }
    return index(static_cast<int>(row - rows_.begin()), static_cast<int>(column - columns_.begin()));
}

}  // namespace cuco::ui
