// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/population/candidate_table_model.h"

#include "ui/population/candidate_format.h"
#include "ui/style/theme.h"

#include <QGuiApplication>

#include <limits>

namespace cuco::ui {

namespace {

bool isNumeric(int column)
{
    switch (column) {
        case CandidateTableModel::generation_column:
        case CandidateTableModel::island_column:
        case CandidateTableModel::speedup_column:
        case CandidateTableModel::interval_column:
        case CandidateTableModel::time_column:
        case CandidateTableModel::exposed_column:
            return true;
        default:
            return false;
    }
}

}  // namespace

CandidateTableModel::CandidateTableModel(RunSession* session, QObject* parent)
    : QAbstractTableModel(parent), session_(session), rows_(static_cast<int>(session->snapshot().candidates.size()))
{
    connect(session_, &RunSession::runReset, this, [this] {
        beginResetModel();
        rows_ = static_cast<int>(session_->snapshot().candidates.size());
        endResetModel();
        Q_EMIT headerDataChanged(Qt::Horizontal, 0, column_count - 1);
    });
    connect(session_, &RunSession::candidateChanged, this, &CandidateTableModel::update);
    connect(session_, &RunSession::baselinesChanged, this,
            [this] { Q_EMIT headerDataChanged(Qt::Horizontal, 0, column_count - 1); });
}

void CandidateTableModel::update(const QString& id)
{
    const int known = static_cast<int>(session_->snapshot().candidates.size());
    if (known > rows_) {
        beginInsertRows({}, rows_, known - 1);
        rows_ = known;
        endInsertRows();
    }
    if (const int row = rowOf(id); row >= 0) {
        Q_EMIT dataChanged(index(row, 0), index(row, column_count - 1));
    }
}

int CandidateTableModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : rows_;
}

int CandidateTableModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : column_count;
}

QString CandidateTableModel::idAt(int row) const
{
    return row >= 0 && row < rows_
               ? QString::fromStdString(session_->snapshot().candidates[static_cast<std::size_t>(row)].id)
               : QString();
}

int CandidateTableModel::rowOf(const QString& id) const
{
    const Candidate* candidate = session_->candidate(id);
    return candidate ? static_cast<int>(candidate - session_->snapshot().candidates.data()) : -1;
}

QString CandidateTableModel::text(const Candidate& candidate, int column) const
{
    const Evaluation* evaluation = candidate.evaluation ? &*candidate.evaluation : nullptr;
    const auto speedup = evaluation ? speedupOf(*evaluation) : std::nullopt;
    switch (column) {
        case id_column:
            return QString::fromStdString(candidate.id);
        case generation_column:
            return QString::number(candidate.generation);
        case island_column:
            return QString::number(candidate.island + 1);
        case verdict_column:
            return standingSymbol(candidate) + QLatin1Char(' ') + standingText(candidate);
        case speedup_column:
            return speedup ? figureText(*speedup) : QString();
        case interval_column:
            return speedup ? halfWidthText(*speedup) : QString();
        case time_column:
            if (const auto time = evaluation ? timeUsOf(*evaluation) : std::nullopt) {
                return figureText(*time);
            }
            return {};
        case exposed_column:
            if (const auto exposed = evaluation ? exposedUsOf(*evaluation) : std::nullopt) {
                return microseconds(*exposed);
            }
            return {};
        case strategy_column:
            return QString::fromStdString(candidate.strategy);
        case directive_column:
            return directiveText(candidate.directive);
        case decision_column:
            return decisionText(lastDecisionOn(session_->snapshot().decisions, candidate.id));
        default:
            return {};
    }
}

QVariant CandidateTableModel::sortKey(const Candidate& candidate, int column) const
{
    const Evaluation* evaluation = candidate.evaluation ? &*candidate.evaluation : nullptr;
    // What has no number yet comes last when the best comes first.
    constexpr double none = std::numeric_limits<double>::max();
    switch (column) {
        case id_column:
            return candidate.number;
        case generation_column:
            return candidate.generation;
        case island_column:
            return candidate.island;
        case verdict_column:
            return QStringLiteral("%1%2").arg(static_cast<int>(standingOf(candidate))).arg(standingText(candidate));
        case speedup_column:
            return evaluation ? evaluation->speedup().value_or(-1) : -1;
        case interval_column:
            if (const auto speedup = evaluation ? speedupOf(*evaluation) : std::nullopt) {
                return speedup->halfWidth();
            }
            return none;
        case time_column:
            return evaluation ? evaluation->timeUs().value_or(none) : none;
        case exposed_column:
            return evaluation ? exposedUsOf(*evaluation).value_or(none) : none;
        default:
            return text(candidate, column);
    }
}

QVariant CandidateTableModel::foreground(const Candidate& candidate, int column) const
{
    const Colors colors = colorsFor(QGuiApplication::palette());
    if (column == verdict_column) {
        switch (standingOf(candidate)) {
            case Standing::verified:
                return colors.readable(colors.copy);
            case Standing::failed:
                return colors.readable(colors.failed);
            case Standing::in_flight:
                return colors.secondary;
        }
    }
    if (column == island_column) {
        return colors.island(candidate.island);
    }
    return {};
}

QVariant CandidateTableModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) {
        return {};
    }
    const Candidate& candidate = session_->snapshot().candidates[static_cast<std::size_t>(index.row())];
    const int column = index.column();
    switch (role) {
        case Qt::DisplayRole:
            return text(candidate, column);
        case Qt::ToolTipRole:
            return candidate.evaluation && !candidate.evaluation->message.empty()
                       ? QString::fromStdString(candidate.evaluation->message)
                       : QString::fromStdString(candidate.summary);
        case Qt::TextAlignmentRole:
            return QVariant::fromValue(Qt::Alignment(Qt::AlignVCenter) |
                                       (isNumeric(column) ? Qt::AlignRight : Qt::AlignLeft));
        case Qt::FontRole:
            return isNumeric(column) || column == id_column ? QVariant(monoFont()) : QVariant();
        case Qt::ForegroundRole:
            return foreground(candidate, column);
        case Qt::BackgroundRole: {
            if (QString::fromStdString(candidate.id) == session_->secondary()) {
                QColor tint = colorsFor(QGuiApplication::palette()).communication;
                tint.setAlpha(56);
                return tint;
            }
            return {};
        }
        case sort_role:
            return sortKey(candidate, column);
        case standing_role:
            return static_cast<int>(standingOf(candidate));
        case search_role: {
            QString all = tunablesText(candidate.tunables) + QLatin1Char(' ') +
                          QString::fromStdString(candidate.summary + ' ' + candidate.decision_reason);
            for (const int searched : {id_column, verdict_column, strategy_column, directive_column, decision_column}) {
                all += QLatin1Char(' ') + text(candidate, searched);
            }
            if (candidate.evaluation) {
                all += QLatin1Char(' ') + QString::fromStdString(candidate.evaluation->message);
            }
            return all;
        }
        default:
            return {};
    }
}

QVariant CandidateTableModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || section < 0 || section >= column_count) {
        return QAbstractTableModel::headerData(section, orientation, role);
    }
    if (role == Qt::TextAlignmentRole) {
        return QVariant::fromValue(Qt::Alignment(Qt::AlignVCenter) |
                                   (isNumeric(section) ? Qt::AlignRight : Qt::AlignLeft));
    }
    QString note = session_->isImported() ? tr("imported") : session_->timesNote();
    if (!note.isEmpty()) {
        note[0] = note[0].toUpper();
    }
    const QString labels[column_count] = {tr("Id"),
                                          tr("Gen."),
                                          tr("Isl."),
                                          tr("Verdict"),
                                          note.isEmpty() ? tr("Speed-up ×") : tr("%1 ×").arg(note),
                                          tr("±"),
                                          note.isEmpty() ? tr("Time µs") : tr("%1 µs").arg(note),
                                          tr("Exposed µs"),
                                          tr("Strategy"),
                                          tr("Directive"),
                                          tr("Decision")};
    if (role == Qt::DisplayRole) {
        return labels[section];
    }
    if (role == Qt::ToolTipRole) {
        switch (section) {
            case speedup_column:
                return session_->isImported() ? tr("Speed-up over the seed of the run, by the other program's word")
                       : note.isEmpty()       ? tr("Speed-up over the strongest host baseline of this run")
                                              : tr("%1 speed-up over the strongest host baseline").arg(note);
            case interval_column:
                return tr("Half of the speed-up's 95 % interval");
            case time_column:
                return note.isEmpty() ? tr("Median makespan: the slowest rank")
                                      : tr("%1 makespan: the slowest rank").arg(note);
            case exposed_column:
                return note.isEmpty() ? tr("Communication that no computing hides")
                                      : tr("%1 communication that no computing hides").arg(note);
            default:
                return labels[section];
        }
    }
    return {};
}

}  // namespace cuco::ui
