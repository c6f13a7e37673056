// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/inspector.h"

#include "ui/population/candidate_format.h"
#include "ui/shell/candidate_facts.h"
#include "ui/style/theme.h"

#include <QAction>
#include <QEvent>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QToolButton>
#include <QVBoxLayout>

namespace cuco::ui {

namespace {

constexpr int width_for_one = 32 * grid, width_for_two = 44 * grid;
constexpr qsizetype most_detail = 4000;  // characters of a compiler's output that are worth reading here

QLabel* makeLabel(QWidget* parent, Qt::TextFormat format)
{
    auto* label = new QLabel(parent);
    label->setTextFormat(format);
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextBrowserInteraction);
    return label;
}

QToolButton* makeButton(QWidget* parent, QAction* action)
{
    auto* button = new QToolButton(parent);
    button->setDefaultAction(action);
    button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    button->setFocusPolicy(Qt::StrongFocus);
    button->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    return button;
}

}  // namespace

Inspector::Inspector(RunSession* session, const InspectorActions& actions, QWidget* parent)
    : QScrollArea(parent), session_(session), body_(new QWidget(this))
{
    setObjectName(QStringLiteral("inspector"));
    setAccessibleName(tr("Inspector"));
    setFrameShape(QFrame::NoFrame);
    setWidgetResizable(true);
    setWidget(body_);

    empty_ = makeLabel(body_, Qt::PlainText);
    empty_->setText(tr("Select a candidate in the lineage, the chart or the table to see it here."));
    id_ = makeLabel(body_, Qt::PlainText);
    id_->setFont(monoFont(6));
    verdict_ = makeLabel(body_, Qt::RichText);
    verdict_->setFont(textFont(0, QFont::DemiBold));
    second_id_ = makeLabel(body_, Qt::PlainText);
    second_id_->setFont(monoFont(6));
    second_verdict_ = makeLabel(body_, Qt::RichText);
    second_verdict_->setFont(textFont(0, QFont::DemiBold));
    message_ = makeLabel(body_, Qt::PlainText);
    detail_ = makeLabel(body_, Qt::PlainText);
    detail_->setFont(monoFont(-2));
    buttons_ = new QWidget(body_);
    addButtons(actions);
    reason_box_ = makeReasonBox();

    auto* heading = new QGridLayout;
    heading->setHorizontalSpacing(grid);
    heading->setVerticalSpacing(0);
    heading->addWidget(id_, 0, 0);
    heading->addWidget(verdict_, 1, 0);
    heading->addWidget(second_id_, 0, 1);
    heading->addWidget(second_verdict_, 1, 1);
    auto* layout = new QVBoxLayout(body_);
    layout->setContentsMargins(grid, grid, grid, grid);
    layout->setSpacing(grid);
    layout->addWidget(empty_);
    layout->addLayout(heading);
    layout->addWidget(message_);
    layout->addWidget(buttons_);
    layout->addWidget(reason_box_);
    layout->addWidget(detail_);
    layout->addStretch(1);

    connect(session_, &RunSession::selectionChanged, this, [this] {
        reason_box_->hide();
        refresh();
    });
    connect(session_, &RunSession::candidateChanged, this, [this](const QString& id) {
        const Candidate* changed = session_->candidate(id);
        const bool is_shown = id == session_->primary() || id == session_->secondary();
        // A new candidate may be a child of the one that is shown.
        if (is_shown || (changed && changed->state == CandidateState::proposed)) {
            refresh();
        }
    });
    connect(session_, &RunSession::runReset, this, &Inspector::refresh);
    connect(session_, &RunSession::baselinesChanged, this, &Inspector::refresh);
    reason_box_->hide();
    refresh();
}

void Inspector::addButtons(const InspectorActions& actions)
{
    auto* layout = new QGridLayout(buttons_);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(grid / 2);
    auto* compare = new QToolButton(buttons_);
    compare->setText(tr("Compare"));
    compare->setIcon(themedIcon(QStringLiteral("compare")));
    compare->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    compare->setPopupMode(QToolButton::InstantPopup);
    compare->setFocusPolicy(Qt::StrongFocus);
    compare->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    compare->setToolTip(tr("Compare with another candidate; Ctrl+click picks any"));
    auto* menu = new QMenu(compare);
    menu->addActions({actions.compare_parent, actions.compare_best, actions.compare_baseline});
    menu->addSeparator();
    menu->addAction(actions.end_comparison);
    compare->setMenu(menu);
    layout->addWidget(makeButton(buttons_, actions.promote), 0, 0);
    layout->addWidget(makeButton(buttons_, actions.reject), 0, 1);
    layout->addWidget(compare, 1, 0);
    layout->addWidget(makeButton(buttons_, actions.open_source), 1, 1);
    layout->addWidget(makeButton(buttons_, actions.edit_copy), 2, 0, 1, 2);
    layout->addWidget(makeButton(buttons_, actions.undo), 3, 0, 1, 2);
}

QWidget* Inspector::makeReasonBox()
{
    auto* box = new QWidget(body_);
    reason_ = new QLineEdit(box);
    reason_->setObjectName(QStringLiteral("reason"));
    reason_->setMaxLength(500);
    decide_ = new QPushButton(box);
    decide_->setObjectName(QStringLiteral("decide"));
    auto* cancel = new QPushButton(tr("Cancel"), box);
    cancel->setShortcut(Qt::Key_Escape);
    auto* layout = new QGridLayout(box);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(grid / 2);
    layout->addWidget(reason_, 0, 0, 1, 2);
    layout->addWidget(decide_, 1, 0);
    layout->addWidget(cancel, 1, 1);
    connect(reason_, &QLineEdit::textChanged, this, [this](const QString& text) {
        decide_->setEnabled(reason_kind_ == DecisionKind::promoted || !text.trimmed().isEmpty());
    });
    connect(reason_, &QLineEdit::returnPressed, this, &Inspector::decide);
    connect(decide_, &QPushButton::clicked, this, &Inspector::decide);
    connect(cancel, &QPushButton::clicked, box, &QWidget::hide);
    return box;
}

void Inspector::askReason(DecisionKind kind)
{
    if (!session_->candidate(session_->primary())) {
        return;
    }
    const bool promotes = kind == DecisionKind::promoted;
    reason_kind_ = kind;
    reason_for_ = session_->primary();
    reason_->clear();
    reason_->setPlaceholderText(promotes ? tr("Why? (may stay empty)") : tr("Why? (needed)"));
    reason_->setAccessibleName(tr("Reason for %1").arg(reason_for_));
    decide_->setText(promotes ? tr("Promote %1").arg(reason_for_) : tr("Reject %1").arg(reason_for_));
    decide_->setEnabled(promotes);
    reason_box_->show();
    ensureWidgetVisible(reason_box_);
    reason_->setFocus(Qt::OtherFocusReason);
}

void Inspector::decide()
{
    if (!decide_->isEnabled()) {
        return;
    }
    reason_box_->hide();
    Q_EMIT decided(reason_for_, reason_kind_, reason_->text().trimmed());
}

void Inspector::refresh()
{
    const bool has_one = !session_->primary().isEmpty();
    const bool has_two = !session_->secondary().isEmpty();
    setMinimumWidth(has_two ? width_for_two : width_for_one);
    empty_->setVisible(!has_one);
    for (QWidget* widget : std::initializer_list<QWidget*>{id_, verdict_, buttons_}) {
        widget->setVisible(has_one);
    }
    second_id_->setVisible(has_two);
    second_verdict_->setVisible(has_two);
    showHeading(id_, verdict_, session_->primary());
    showHeading(second_id_, second_verdict_, session_->secondary());

    const Evaluation* evaluation = has_two ? nullptr : session_->evaluation(session_->primary());
    message_->setVisible(evaluation && !evaluation->message.empty());
    detail_->setVisible(evaluation && !evaluation->detail.empty());
    if (evaluation) {
        message_->setText(QString::fromStdString(evaluation->message));
        detail_->setText(QString::fromStdString(evaluation->detail).left(most_detail));
    }
    fillGrid();
}

void Inspector::showHeading(QLabel* id_label, QLabel* verdict, const QString& id)
{
    id_label->setText(isBaselineId(id) ? QString::fromStdString(baselineName(id)) : id);
    const Colors colors = colorsFor(palette());
    QString text;
    QColor color = colors.secondary;
    if (const Candidate* candidate = session_->candidate(id)) {
        text = standingSymbol(*candidate) + QLatin1Char(' ') + standingText(*candidate);
        if (candidate->evaluation && candidate->evaluation->verified() && candidate->evaluation->self_reported) {
            text += tr(", by its own word");
        }
        if (const Decision* decision = lastDecisionOn(session_->snapshot().decisions, candidate->id)) {
            text += QStringLiteral(" · ") + decisionText(decision);
        }
        switch (standingOf(*candidate)) {
            case Standing::verified:
                color = colors.readable(colors.copy);
                break;
            case Standing::failed:
                color = colors.readable(colors.failed);
                break;
            case Standing::in_flight:
                break;
        }
    } else if (isBaselineId(id)) {
        text = tr("host-driven baseline");
    }
    verdict->setText(QStringLiteral("<span style=\"color:%1\">%2</span>").arg(color.name(), text.toHtmlEscaped()));
}

void Inspector::fillGrid()
{
    // A box of its own, so that the lines of the one before go all at once.
    delete grid_box_;
    grid_box_ = new QWidget(body_);
    auto* lines = new QGridLayout(grid_box_);
    lines->setContentsMargins(0, 0, 0, 0);
    lines->setHorizontalSpacing(grid);
    lines->setVerticalSpacing(grid / 2);
    lines->setColumnStretch(1, 1);

    const QString second = session_->secondary();
    const QList<Fact> facts = factsOf(*session_, session_->primary());
    QList<Fact> others = second.isEmpty() ? QList<Fact>() : factsOf(*session_, second);
    const auto same_line = [](const Fact& first, const Fact& other) {
        return first.section == other.section && first.label == other.label;
    };
    QString section;
    int row = 0;
    const auto add_value = [&](const Fact& fact, int column, const QString& owner) {
        QLabel* value = makeLabel(grid_box_, Qt::RichText);
        value->setText(fact.value);
        value->setFont(fact.is_number ? monoFont() : textFont());
        connect(value, &QLabel::linkActivated, this, [this, owner](const QString& link) { followLink(link, owner); });
        lines->addWidget(value, row, column, Qt::AlignTop);
    };
    const auto add_label = [&](const Fact& fact) {
        if (fact.section != section) {
            section = fact.section;
            auto* heading = new QLabel(section, grid_box_);
            heading->setFont(textFont(0, QFont::DemiBold));
            heading->setContentsMargins(0, row == 0 ? 0 : grid, 0, 0);
            lines->addWidget(heading, row++, 0, 1, second.isEmpty() ? 2 : 3);
        }
        auto* label = new QLabel(fact.label, grid_box_);
        label->setTextFormat(Qt::RichText);
        label->setWordWrap(true);
        label->setMinimumWidth(13 * grid);
        label->setForegroundRole(QPalette::PlaceholderText);
        lines->addWidget(label, row, 0, Qt::AlignTop);
    };
    for (const Fact& fact : facts) {
        add_label(fact);
        add_value(fact, 1, session_->primary());
        for (qsizetype i = 0; i < others.size(); ++i) {
            if (same_line(fact, others[i])) {
                add_value(others.takeAt(i), 2, second);
                break;
            }
        }
        ++row;
    }
    for (const Fact& fact : others) {
        add_label(fact);
        add_value(fact, 2, second);
        ++row;
    }
    if (!second.isEmpty()) {
        lines->setColumnStretch(2, 1);
    }
    auto* layout = static_cast<QVBoxLayout*>(body_->layout());
    layout->insertWidget(layout->indexOf(detail_), grid_box_);
    grid_box_->setVisible(!session_->primary().isEmpty());
}

void Inspector::changeEvent(QEvent* event)
{
    QScrollArea::changeEvent(event);
    // The coloured words are rich text, which does not follow a palette.
    if (event->type() == QEvent::PaletteChange && reason_box_) {
        refresh();
    }
}

void Inspector::followLink(const QString& link, const QString& owner)
{
    const QString value = link.section(QLatin1Char(':'), 1);
    if (link.startsWith(QStringLiteral("candidate:"))) {
        // The label that was clicked goes with the grid: leave its signal first.
        QMetaObject::invokeMethod(
            this, [this, value] { session_->select(value); }, Qt::QueuedConnection);
    } else if (link.startsWith(QStringLiteral("line:"))) {
        QMetaObject::invokeMethod(
            this, [this, owner, line = value.toInt()] { session_->openSource(owner, line); }, Qt::QueuedConnection);
    }
}

}  // namespace cuco::ui
