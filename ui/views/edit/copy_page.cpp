// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/edit/copy_page.h"

#include "core/source/kernel_source.h"
#include "ui/engine/run_model.h"
#include "ui/shell/error_text.h"
#include "ui/style/theme.h"
#include "ui/views/diff/diff_panel.h"
#include "ui/views/edit/copy_editor.h"
#include "ui/views/missing_text.h"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QShortcut>
#include <QStackedWidget>
#include <QVBoxLayout>

#include <algorithm>

namespace cuco::ui {

namespace {

constexpr std::chrono::milliseconds typing_pause{250};
constexpr int longest_note = 1000;  ///< characters, which are fewer bytes than the engine takes

}  // namespace

CopyPage::CopyPage(RunModel* run, const QString& parent_id, const std::string& source, QWidget* parent)
    : QWidget(parent),
      run_(run),
      parent_id_(parent_id),
      original_(source),
      screen_(run->screen()),
      editor_(new CopyEditor(source, this)),
      panel_(new DiffPanel(this)),
      pages_(new QStackedWidget(this))
{
    editor_->setObjectName(QStringLiteral("copySource"));
    editor_->setAccessibleName(tr("A copy of the source of %1").arg(parent_id));
    pages_->addWidget(editor_);
    pages_->addWidget(panel_);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(buildHeading());
    layout->addWidget(pages_, 1);
    layout->addWidget(buildFooter());
    setFocusProxy(editor_);

    check_timer_.setSingleShot(true);
    check_timer_.setInterval(typing_pause);
    connect(&check_timer_, &QTimer::timeout, this, &CopyPage::check);
    connect(editor_, &CopyEditor::edited, this, &CopyPage::edit);
    connect(editor_, &CopyEditor::refused, this, [this](const QString& why) {
        refused_ = why;
        updateState();
    });
    connect(editor_, &CopyEditor::left, note_, qOverload<>(&QWidget::setFocus));
    for (const int key : {Qt::Key_Return, Qt::Key_Enter}) {
        auto* shortcut = new QShortcut(QKeySequence(Qt::CTRL | key), this);
        shortcut->setContext(Qt::WidgetWithChildrenShortcut);
        connect(shortcut, &QShortcut::activated, this, &CopyPage::submit);
    }
    check();
}

QWidget* CopyPage::buildHeading()
{
    auto* bar = new QWidget(this);
    heading_ = new QLabel(tr("A copy of %1").arg(parent_id_), bar);
    heading_->setFont(textFont(0, QFont::DemiBold));
    heading_->setTextFormat(Qt::PlainText);
    heading_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    changes_ = new QCheckBox(tr("C&hanges"), bar);
    changes_->setObjectName(QStringLiteral("copyChanges"));
    changes_->setToolTip(tr("What differs from %1").arg(parent_id_));
    connect(changes_, &QCheckBox::toggled, this, &CopyPage::showChanges);
    auto* row = new QHBoxLayout(bar);
    row->setContentsMargins(grid, grid / 2, grid, grid / 2);
    row->addWidget(heading_, 1);
    row->addWidget(changes_);
    return bar;
}

QWidget* CopyPage::buildFooter()
{
    auto* bar = new QWidget(this);
    status_ = new QLabel(bar);
    status_->setObjectName(QStringLiteral("copyStatus"));
    status_->setTextFormat(Qt::PlainText);
    status_->setWordWrap(true);
    status_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    note_ = new QLineEdit(bar);
    note_->setObjectName(QStringLiteral("copyNote"));
    note_->setMaxLength(longest_note);
    note_->setPlaceholderText(tr("Note: what you changed, for the list and later prompts"));
    note_->setAccessibleName(tr("Note"));
    submit_ = new QPushButton(tr("E&valuate as child of %1").arg(parent_id_), bar);
    submit_->setObjectName(QStringLiteral("submitCopy"));
    submit_->setToolTip(tr("Screened, built, verified and timed like every candidate (Ctrl+Enter)"));
    back_ = new QPushButton(tr("&Back to the diff"), bar);
    back_->setObjectName(QStringLiteral("hideCopy"));
    back_->setToolTip(tr("What was typed stays until the run is closed"));
    discard_ = new QPushButton(tr("Throw &away…"), bar);
    discard_->setObjectName(QStringLiteral("discardCopy"));
    connect(submit_, &QPushButton::clicked, this, &CopyPage::submit);
    connect(back_, &QPushButton::clicked, this, &CopyPage::backRequested);
    connect(discard_, &QPushButton::clicked, this, &CopyPage::discardRequested);
    connect(note_, &QLineEdit::textChanged, this, &CopyPage::changed);

    auto* row = new QHBoxLayout;
    row->setSpacing(grid);
    for (QPushButton* button : {submit_, back_, discard_})
        row->addWidget(button);
    row->addStretch(1);
    auto* layout = new QVBoxLayout(bar);
    layout->setContentsMargins(grid, grid / 2, grid, grid / 2);
    layout->setSpacing(grid / 2);
    layout->addWidget(status_);
    layout->addWidget(note_);
    layout->addLayout(row);
    return bar;
}

bool CopyPage::isUnsaved() const
{
    return state_ != State::submitted && (!note_->text().trimmed().isEmpty() || editor_->source() != original_);
}

QString CopyPage::childId() const
{
    if (state_ != State::submitted || !run_)
        return {};
    const auto& candidates = run_->snapshot().candidates;
    for (std::size_t i = candidates_before_; i < candidates.size(); ++i)
        if (candidates[i].proposer == person_proposer && candidates[i].source_sha256 == submitted_sha256_)
            return QString::fromStdString(candidates[i].id);
    return {};
}

void CopyPage::edit()
{
    refused_.clear();
    differs_ = editor_->source() != original_;
    check_timer_.start();
    updateState();
    Q_EMIT changed();
}

void CopyPage::check()
{
    check_timer_.stop();
    const std::string source = editor_->source();
    differs_ = source != original_;
    passes_ = false;
    problem_.clear();
    int line = 0;
    if (!screen_) {
        problem_ = sentence(screen_.error());
    } else {
        const Evaluation screened = screen_->check(source);
        passes_ = screened.verified();
        if (!passes_) {
            line = static_cast<int>(screened.at.line);
            problem_ = QString::fromStdString(screened.message);
            editor_->setFault(line, QString::fromStdString(screened.at.message));
        }
    }
    if (line == 0)
        editor_->setFault(0, {});
    updateState();
}

void CopyPage::updateState()
{
    const bool writes = state_ == State::writing;
    QString text;
    bool is_fault = false;
    if (state_ == State::submitting) {
        text = tr("Handing it to the run…");
    } else if (state_ == State::submitted) {
        text = tr("Submitted. It is evaluated as a child of %1 and then stands among the candidates.").arg(parent_id_);
    } else if (!refused_.isEmpty() || !problem_.isEmpty()) {
        text = refused_.isEmpty() ? problem_ : refused_;
        is_fault = true;
    } else if (!differs_) {
        text = tr("Nothing is changed yet. Esc leaves the source.");
    } else {
        text = tr("The screen finds nothing wrong with it. Esc leaves the source.");
    }
    status_->setText(text);
    status_->setForegroundRole(is_fault ? QPalette::BrightText : QPalette::PlaceholderText);
    editor_->setReadOnly(!writes);
    note_->setReadOnly(!writes);
    submit_->setEnabled(writes && differs_ && passes_);
    discard_->setEnabled(writes);
}

void CopyPage::showChanges(bool shown)
{
    pages_->setCurrentWidget(shown ? static_cast<QWidget*>(panel_) : editor_);
    if (!shown) {
        editor_->setFocus();
        return;
    }
    panel_->setUnified(width() < 88 * grid);
    DiffSide left{parent_id_.toStdString(), original_, {}}, right{"copy", editor_->source(), {}};
    if (auto compared = panel_->setSides(std::move(left), std::move(right)); !compared) {
        refused_ = errorText(tr("The difference cannot be shown"), compared.error());
        updateState();
    }
}

void CopyPage::submit()
{
    check();  // what was typed last, too
    if (!submit_->isEnabled() || !run_)
        return;
    state_ = State::submitting;
    refused_.clear();
    updateState();
    const std::string source = editor_->source();
    candidates_before_ = run_->snapshot().candidates.size();
    submitted_sha256_ = sha256Hex(source);
    run_->submit(parent_id_, source, note_->text().trimmed(), [page = QPointer(this)](const Result<void>& done) {
        if (!page)
            return;
        page->state_ = done ? State::submitted : State::writing;
        if (!done)
            page->refused_ = sentence(done.error());
        page->updateState();
        Q_EMIT page->changed();
    });
}

}  // namespace cuco::ui
