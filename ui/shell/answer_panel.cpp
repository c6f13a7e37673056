// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/answer_panel.h"

#include "ui/engine/prompt_desk.h"
#include "ui/engine/run_model.h"
#include "ui/style/theme.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QShortcut>
#include <QSignalBlocker>
#include <QSplitter>
#include <QVBoxLayout>

namespace cuco::ui {

namespace {

QPlainTextEdit* makeText(QWidget* parent, const char* name)
{
    auto* text = new QPlainTextEdit(parent);
    text->setObjectName(QString::fromLatin1(name));
    text->setFont(monoFont());
    text->setTabChangesFocus(true);
    text->setMinimumHeight(8 * grid);
    return text;
}

QVBoxLayout* makeColumn(QWidget* box)
{
    auto* column = new QVBoxLayout(box);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(grid / 2);
    return column;
}

}  // namespace

AnswerPanel::AnswerPanel(QWidget* parent) : QWidget(parent)
{
    setObjectName(QStringLiteral("answerPanel"));
    heading_ = new QLabel(this);
    heading_->setObjectName(QStringLiteral("answerHeading"));
    heading_->setTextFormat(Qt::PlainText);
    heading_->setWordWrap(true);
    auto* sides = new QSplitter(Qt::Horizontal, this);
    sides->setChildrenCollapsible(false);
    sides->addWidget(makePrompt());
    sides->addWidget(makeAnswer());
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(grid, grid, grid, grid);
    layout->setSpacing(grid);
    layout->addWidget(heading_);
    layout->addWidget(sides, 1);
    showFirst();
}

QWidget* AnswerPanel::makePrompt()
{
    auto* box = new QWidget(this);
    prompt_ = makeText(box, "prompt");
    prompt_->setReadOnly(true);
    prompt_->setAccessibleName(tr("Prompt"));
    copy_ = new QPushButton(tr("&Copy prompt"), box);
    copy_->setObjectName(QStringLiteral("copyPrompt"));
    connect(copy_, &QPushButton::clicked, this,
            [this] { QGuiApplication::clipboard()->setText(prompt_->toPlainText()); });
    auto* row = new QHBoxLayout;
    row->addWidget(copy_);
    row->addStretch(1);
    auto* column = makeColumn(box);
    column->addWidget(prompt_, 1);
    column->addLayout(row);
    return box;
}

QWidget* AnswerPanel::makeAnswer()
{
    auto* box = new QWidget(this);
    answer_ = makeText(box, "answer");
    answer_->setPlaceholderText(tr("Paste the whole answer here"));
    answer_->setAccessibleName(tr("Answer"));
    submit_ = new QPushButton(tr("S&ubmit"), box);
    submit_->setObjectName(QStringLiteral("submitAnswer"));
    submit_->setToolTip(tr("Gives the answer to the run (Ctrl+Enter)"));
    give_up_ = new QPushButton(tr("Stop &waiting"), box);
    give_up_->setObjectName(QStringLiteral("stopWaiting"));
    give_up_->setToolTip(tr("Leaves the prompt without an answer; the run pauses"));
    connect(submit_, &QPushButton::clicked, this, &AnswerPanel::submit);
    connect(give_up_, &QPushButton::clicked, this, &AnswerPanel::giveUp);
    for (const int key : {Qt::Key_Return, Qt::Key_Enter}) {
        auto* shortcut = new QShortcut(QKeySequence(Qt::CTRL | key), box);
        shortcut->setContext(Qt::WidgetWithChildrenShortcut);
        connect(shortcut, &QShortcut::activated, this, &AnswerPanel::submit);
    }
    connect(answer_, &QPlainTextEdit::textChanged, this, [this] {
        const QString text = answer_->toPlainText();
        submit_->setEnabled(!text.trimmed().isEmpty());
        if (desk_ && number_ != 0) {
            desk_->setDraft(number_, text);
        }
    });
    auto* row = new QHBoxLayout;
    row->setSpacing(grid);
    row->addWidget(submit_);
    row->addWidget(give_up_);
    row->addStretch(1);
    auto* column = makeColumn(box);
    column->addWidget(answer_, 1);
    column->addLayout(row);
    return box;
}

void AnswerPanel::setRun(RunModel* run)
{
    if (desk_) {
        disconnect(desk_, nullptr, this, nullptr);
    }
    desk_ = run ? &run->prompts() : nullptr;
    number_ = 0;
    if (desk_) {
        connect(desk_, &PromptDesk::changed, this, &AnswerPanel::showFirst);
    }
    showFirst();
}

bool AnswerPanel::isWanted() const
{
    return number_ != 0;
}

void AnswerPanel::showFirst()
{
    const auto waiting = desk_ ? desk_->waiting() : std::vector<ManualPrompt>();
    const int number = waiting.empty() ? 0 : waiting.front().number;
    if (number != 0) {
        heading_->setText(
            waiting.size() == 1
                ? tr("The run waits for an answer to this prompt.")
                : tr("The run waits for an answer to this prompt; %1 more follow.").arg(waiting.size() - 1));
    }
    if (number != number_ || number == 0) {
        number_ = number;
        const QString draft = desk_ && number != 0 ? desk_->draft(number) : QString();
        prompt_->setPlainText(number != 0 ? QString::fromStdString(waiting.front().text) : QString());
        answer_->setPlainText(draft);
        submit_->setEnabled(!draft.trimmed().isEmpty());
    }
    Q_EMIT wantedChanged();
}

void AnswerPanel::submit()
{
    if (desk_ && number_ != 0 && submit_->isEnabled()) {
        desk_->answer(number_, answer_->toPlainText());
    }
}

void AnswerPanel::giveUp()
{
    if (desk_ && number_ != 0) {
        desk_->giveUp(number_);
    }
}

}  // namespace cuco::ui
