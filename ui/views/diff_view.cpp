// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/diff_view.h"

#include "ui/engine/run_session.h"
#include "ui/style/theme.h"
#include "ui/views/diff/diff_panel.h"
#include "ui/views/missing_text.h"

#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QSettings>
#include <QShortcut>
#include <QSignalBlocker>
#include <QStackedLayout>
#include <QToolButton>
#include <QVBoxLayout>

namespace cuco::ui {

namespace {

constexpr QLatin1String parent_reference("parent"), seed_reference("seed"), best_reference("best");

QToolButton* textButton(const QString& text, const QString& tip)
{
    auto* button = new QToolButton;
    button->setText(text);
    button->setToolTip(tip);
    button->setAutoRaise(true);
    return button;
}

/// Both accesses at their lines, or in one note when they share it.
std::vector<DiffFault> faultsOf(const RaceReport& race)
{
    std::vector<DiffFault> faults;
    for (const auto* access : {&race.first, &race.second}) {
        const RaceAccess& other = access == &race.first ? race.second : race.first;
        if (access->line == 0)
            continue;
        std::string text = "race: " + describe(*access);
        if (other.line == access->line) {
            if (access == &race.second)
                continue;
            text += "\n     and: " + describe(other);
        } else {
            text += "\n     not ordered with: " + describe(other);
        }
        faults.push_back({static_cast<int>(access->line), std::move(text)});
    }
    return faults;
}

}  // namespace

DiffView::DiffView(RunSession* session, QWidget* parent)
    : QWidget(parent),
      session_(session),
      panel_(new DiffPanel(this)),
      content_(new QStackedLayout),
      reference_(parent_reference)
{
    message_ = new QLabel(this);
    message_->setTextFormat(Qt::PlainText);
    message_->setAlignment(Qt::AlignCenter);
    message_->setWordWrap(true);
    message_->setMargin(4 * grid);
    message_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    content_->addWidget(message_);
    content_->addWidget(panel_);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(buildToolBar());
    layout->addLayout(content_, 1);
    layout->addWidget(buildFindBar());
    setFocusProxy(panel_);

    const auto stale = [this] {
        stale_ = true;
        if (isVisible())
            refresh();
    };
    connect(session_, &RunSession::runReset, this, stale);
    connect(session_, &RunSession::selectionChanged, this, stale);
    connect(session_, &RunSession::candidateChanged, this, [this, stale](const QString& id) {
        // Its verdict may bring the line of a fault; the text itself never changes.
        if ((id == right_id_ || id == left_id_) && !both_judged_)
            stale();
    });
    connect(session_, &RunSession::baselinesChanged, this, [this, stale] {
        if (!message().isEmpty())
            stale();
    });
    connect(panel_, &DiffPanel::hunkChanged, this, &DiffView::updateHeading);
    auto* find_shortcut = new QShortcut(QKeySequence::Find, this);
    find_shortcut->setContext(Qt::WidgetWithChildrenShortcut);
    connect(find_shortcut, &QShortcut::activated, this, &DiffView::openFind);
}

QWidget* DiffView::buildToolBar()
{
    auto* bar = new QWidget(this);
    heading_ = new QLabel(bar);
    heading_->setFont(textFont(0, QFont::DemiBold));
    heading_->setTextFormat(Qt::PlainText);
    heading_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    counts_ = new QLabel(bar);
    counts_->setFont(monoFont(-1));

    reference_box_ = new QComboBox(bar);
    reference_box_->setEditable(true);
    reference_box_->setInsertPolicy(QComboBox::NoInsert);
    reference_box_->setMinimumContentsLength(12);
    reference_box_->setToolTip(tr("What to compare with; any candidate's id can be typed"));
    reference_box_->setAccessibleName(tr("Compare with"));
    connect(reference_box_, &QComboBox::activated, this,
            [this](int index) { compareAgainst(reference_box_->itemData(index).toString()); });
    connect(reference_box_->lineEdit(), &QLineEdit::returnPressed, this, [this] {
        const QString typed = reference_box_->currentText().trimmed();
        if (reference_box_->findText(typed) < 0)
            compareAgainst(typed);
    });

    const QSettings settings;
    const auto box = [&](const QString& text, const QString& key, bool otherwise, auto&& apply) {
        auto* check = new QCheckBox(text, bar);
        check->setChecked(settings.value(key, otherwise).toBool());
        apply(check->isChecked());
        connect(check, &QCheckBox::toggled, this, [key, apply](bool on) {
            QSettings().setValue(key, on);
            apply(on);
        });
        return check;
    };
    unified_ = box(tr("&Unified"), QStringLiteral("diff/unified"), false, [this](bool on) { panel_->setUnified(on); });
    folded_ =
        box(tr("F&old unchanged"), QStringLiteral("diff/folded"), true, [this](bool on) { panel_->setFolded(on); });
    ignore_white_space_ =
        box(tr("Ignore &white space"), QStringLiteral("diff/ignore_white_space"), false, [this](bool on) {
            if (auto done = panel_->setIgnoreWhiteSpace(on); !done)
                showMessage(errorText(tr("The difference cannot be shown"), done.error()));
        });

    QToolButton* previous = textButton(QStringLiteral("▲"), tr("Previous change (P)"));
    QToolButton* next = textButton(QStringLiteral("▼"), tr("Next change (N)"));
    previous->setAccessibleName(tr("Previous change"));
    next->setAccessibleName(tr("Next change"));
    connect(previous, &QToolButton::clicked, this, [this] { panel_->goToHunk(-1); });
    connect(next, &QToolButton::clicked, this, [this] { panel_->goToHunk(+1); });

    first_row_ = new QHBoxLayout;
    for (QWidget* widget : std::initializer_list<QWidget*>{heading_, counts_, previous, next})
        first_row_->addWidget(widget, widget == heading_ ? 1 : 0);
    auto* second_row = new QHBoxLayout;
    second_row->setSpacing(2 * grid);
    second_row->addWidget(new QLabel(tr("Compare with"), bar));
    second_row->addWidget(reference_box_);
    second_row->addStretch(1);
    for (QCheckBox* check : {unified_, folded_, ignore_white_space_})
        second_row->addWidget(check);
    auto* layout = new QVBoxLayout(bar);
    layout->setContentsMargins(grid, grid / 2, grid, grid / 2);
    layout->setSpacing(grid / 2);
    layout->addLayout(first_row_);
    layout->addLayout(second_row);
    return bar;
}

QWidget* DiffView::buildFindBar()
{
    find_bar_ = new QWidget(this);
    find_ = new QLineEdit(find_bar_);
    find_->setPlaceholderText(tr("Find in the source"));
    find_->setClearButtonEnabled(true);
    find_->setMaxLength(256);
    find_->installEventFilter(this);
    find_result_ = new QLabel(find_bar_);
    auto* layout = new QHBoxLayout(find_bar_);
    layout->setContentsMargins(grid, grid / 2, grid, grid / 2);
    layout->addWidget(find_, 1);
    layout->addWidget(find_result_);
    find_bar_->hide();
    return find_bar_;
}

void DiffView::addTool(QWidget* tool)
{
    first_row_->addWidget(tool);
}

QString DiffView::headingText() const
{
    return heading_->text() + QLatin1Char(' ') + counts_->text();
}

QString DiffView::message() const
{
    return content_->currentWidget() == message_ ? message_->text() : QString();
}

void DiffView::compareAgainst(const QString& reference)
{
    reference_ = reference;
    // A choice made here is no longer the comparison of the two selected.
    if (!session_->secondary().isEmpty()) {
        session_->compareWith({});  // shows it
        return;
    }
    stale_ = true;
    if (isVisible())
        refresh();
}

void DiffView::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    if (stale_)
        refresh();
}

QString DiffView::resolve(const QString& id, const QString& reference) const
{
    const Candidate* candidate = session_->candidate(id);
    if (reference.startsWith(parent_reference)) {
        const auto nth = static_cast<std::size_t>(reference.section(QLatin1Char(':'), 1).toUInt());
        if (candidate && nth < candidate->parents.size())
            return QString::fromStdString(candidate->parents[nth]);
        const auto& baselines = session_->snapshot().baselines;
        return candidate && !baselines.empty() ? baselineId(baselines.front().name) : QString();
    }
    if (reference == seed_reference) {
        QString root = id;
        // A parent is always older, so a damaged run file cannot lead in a circle.
        while (candidate && !candidate->parents.empty()) {
            const QString older = QString::fromStdString(candidate->parents.front());
            const Candidate* next = session_->candidate(older);
            if (!next || next->number >= candidate->number)
                break;
            root = older;
            candidate = next;
        }
        return root;
    }
    if (reference == best_reference) {
        const Candidate* best = bestOf(session_->snapshot());
        return best ? QString::fromStdString(best->id) : QString();
    }
    return reference;
}

QString DiffView::roleOf(const QString& reference) const
{
    const Candidate* candidate = session_->candidate(right_id_);
    if (reference.startsWith(parent_reference) && candidate && !candidate->parents.empty())
        return tr(" (parent)");
    if (reference == seed_reference)
        return tr(" (seed)");
    return reference == best_reference ? tr(" (best)") : QString();
}

void DiffView::fillReferences()
{
    const QSignalBlocker blocker(reference_box_);
    reference_box_->clear();
    const Candidate* candidate = session_->candidate(session_->primary());
    const std::size_t parents = candidate ? candidate->parents.size() : 0;
    reference_box_->addItem(tr("Parent"), QString(parent_reference));
    for (std::size_t nth = 1; nth < parents; ++nth)
        reference_box_->addItem(tr("Parent %1").arg(nth + 1), QStringLiteral("parent:%1").arg(nth));
    reference_box_->addItem(tr("Seed"), QString(seed_reference));
    reference_box_->addItem(tr("Best"), QString(best_reference));
    for (const Baseline& baseline : session_->snapshot().baselines)
        reference_box_->addItem(session_->title(baselineId(baseline.name)), baselineId(baseline.name));
    const QString wanted = session_->secondary().isEmpty() ? reference_ : session_->secondary();
    const int index = reference_box_->findData(wanted);
    reference_box_->setCurrentIndex(index);
    if (index < 0)
        reference_box_->setEditText(wanted);
}

Result<DiffSide> DiffView::sideOf(const QString& id) const
{
    auto source = session_->source(id);
    if (!source)
        return std::unexpected(source.error());
    DiffSide side;
    side.name = session_->title(id).toStdString();
    side.text = std::move(*source);
    if (const Evaluation* evaluation = session_->evaluation(id); evaluation && !evaluation->verified()) {
        if (evaluation->race)
            side.faults = faultsOf(*evaluation->race);
        else if (evaluation->at.line > 0)
            side.faults = {{static_cast<int>(evaluation->at.line),
                            evaluation->at.message.empty() ? evaluation->message : evaluation->at.message}};
    }
    return side;
}

void DiffView::refresh()
{
    stale_ = false;
    fillReferences();
    right_id_ = session_->primary();
    left_id_.clear();
    both_judged_ = false;
    if (right_id_.isEmpty()) {
        showMessage(session_->run() ? tr("Select a candidate to see what changed in it.")
                                    : tr("Open a run, or start one, to compare its sources."));
        return;
    }
    const bool two_selected = !session_->secondary().isEmpty();
    left_id_ = two_selected ? session_->secondary() : resolve(right_id_, reference_);
    // A seed has no parent: its source is shown by itself.
    const bool alone = left_id_.isEmpty();
    if (alone)
        left_id_ = right_id_;
    if (!session_->evaluation(left_id_) && !session_->candidate(left_id_)) {
        showMessage(tr("This run has no candidate “%1”. Choose another above.").arg(left_id_));
        return;
    }
    auto left = sideOf(left_id_);
    auto right = sideOf(right_id_);
    for (const auto* side : {&left, &right}) {
        if (!*side) {
            showMessage(errorText(
                tr("The source of %1 cannot be read").arg(session_->title(side == &left ? left_id_ : right_id_)),
                side->error()));
            return;
        }
    }
    heading_->setText(alone ? tr("%1, which has nothing to be compared with").arg(session_->title(right_id_))
                            : session_->title(left_id_) + (two_selected ? QString() : roleOf(reference_)) +
                                  QStringLiteral(" ↔ ") + session_->title(right_id_));
    both_judged_ = session_->evaluation(left_id_) && session_->evaluation(right_id_);
    content_->setCurrentWidget(panel_);
    if (auto done = panel_->setSides(std::move(*left), std::move(*right)); !done)
        showMessage(errorText(tr("The difference cannot be shown"), done.error()));
    else if (alone)
        panel_->showSourceLine(1);
}

void DiffView::showMessage(const QString& text)
{
    heading_->setText(right_id_.isEmpty() ? QString() : session_->title(right_id_));
    counts_->clear();
    message_->setText(text);
    content_->setCurrentWidget(message_);
}

void DiffView::updateHeading()
{
    const LineDiff& diff = panel_->diff();
    const int hunks = panel_->hunks();
    if (hunks == 0) {
        counts_->setText(tr("no differences"));
        return;
    }
    const QString place = panel_->currentHunk() >= 0 ? tr("change %1 of %2").arg(panel_->currentHunk() + 1).arg(hunks)
                          : hunks == 1               ? tr("1 change")
                                                     : tr("%1 changes").arg(hunks);
    counts_->setText(QStringLiteral("+%1 −%2  %3").arg(diff.added).arg(diff.removed).arg(place));
}

void DiffView::keyPressEvent(QKeyEvent* event)
{
    if (event->modifiers() == Qt::NoModifier && event->key() == Qt::Key_N)
        panel_->goToHunk(+1);
    else if (event->modifiers() == Qt::NoModifier && event->key() == Qt::Key_P)
        panel_->goToHunk(-1);
    else
        QWidget::keyPressEvent(event);
}

void DiffView::openFind()
{
    find_bar_->show();
    find_->setFocus();
    find_->selectAll();
}

void DiffView::closeFind()
{
    find_bar_->hide();
    panel_->setFocus();
}

void DiffView::find(bool forward)
{
    find_result_->setText(panel_->find(find_->text(), forward) ? QString() : tr("not found"));
}

bool DiffView::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == find_ && event->type() == QEvent::KeyPress) {
        const auto* key = static_cast<QKeyEvent*>(event);
        if (key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter) {
            find(!(key->modifiers() & Qt::ShiftModifier));
            return true;
        }
        if (key->key() == Qt::Key_Escape) {
            closeFind();
            return true;
        }
    }
    return QWidget::eventFilter(watched, event);
}

}  // namespace cuco::ui
