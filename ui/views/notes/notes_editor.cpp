// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/notes/notes_editor.h"

#include "ui/engine/run_model.h"
#include "ui/population/candidate_format.h"
#include "ui/shell/error_text.h"
#include "ui/style/theme.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QMimeData>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QShortcut>
#include <QTextCursor>
#include <QVBoxLayout>

#include <functional>
#include <utility>

namespace cuco::ui {

namespace {

/// Takes no text at once that is many times longer than what may be saved.
class NotesText : public QPlainTextEdit {
public:
    NotesText(std::function<void()> refuse, QWidget* parent) : QPlainTextEdit(parent), refuse_(std::move(refuse)) {}

protected:
    void insertFromMimeData(const QMimeData* source) override
    {
        if (source->text().size() > static_cast<qsizetype>(4 * most_scratchpad_bytes))
            refuse_();
        else
            QPlainTextEdit::insertFromMimeData(source);
    }

private:
    std::function<void()> refuse_;
};

std::size_t bytesOf(const QPlainTextEdit& text)
{
    return static_cast<std::size_t>(text.toPlainText().toUtf8().size());
}

QString textOf(const ScratchpadVersion& version)
{
    return QString::fromStdString(version.notes.text);
}

}  // namespace

NotesEditor::NotesEditor(RunModel* run, const ScratchpadVersion& from, QWidget* parent)
    : QWidget(parent), run_(run), from_(from), latest_(from)
{
    text_ = new NotesText(
        [this] {
            refused_ = tr("What was to be pasted is far too long for notes. Paste a part of it.");
            check();
        },
        this);
    text_->setObjectName(QStringLiteral("notesText"));
    text_->setAccessibleName(tr("Notes, in Markdown"));
    text_->setPlaceholderText(tr("What models should know when they propose the next candidates, in Markdown"));
    text_->setFont(monoFont());
    text_->setTabChangesFocus(true);
    text_->setFrameShape(QFrame::NoFrame);
    text_->setPlainText(textOf(from));
    clean_ = text_->toPlainText();
    problem_ = new QLabel(this);
    problem_->setObjectName(QStringLiteral("notesProblem"));
    problem_->setTextFormat(Qt::PlainText);
    problem_->setWordWrap(true);
    problem_->setForegroundRole(QPalette::BrightText);
    problem_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    size_ = new QLabel(this);
    size_->setForegroundRole(QPalette::PlaceholderText);
    save_ = new QPushButton(tr("&Save"), this);
    save_->setObjectName(QStringLiteral("saveNotes"));
    save_->setToolTip(tr("Makes this the version that all later prompts have (Ctrl+S)"));
    revert_ = new QPushButton(tr("Re&vert"), this);
    revert_->setObjectName(QStringLiteral("revertNotes"));
    revert_->setToolTip(tr("Puts the latest version's text back; Ctrl+Z brings yours again"));
    close_ = new QPushButton(tr("C&lose"), this);
    close_->setObjectName(QStringLiteral("closeNotes"));
    close_->setToolTip(tr("Goes back to reading (Esc); what was typed stays until the run is closed"));

    auto* row = new QHBoxLayout;
    row->setContentsMargins(grid, grid / 2, grid, grid / 2);
    row->setSpacing(grid);
    for (QPushButton* button : {save_, revert_, close_})
        row->addWidget(button);
    row->addStretch(1);
    row->addWidget(size_);
    auto* problem_row = new QHBoxLayout;
    problem_row->setContentsMargins(grid, grid / 2, grid, 0);
    problem_row->addWidget(problem_);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(text_, 1);
    layout->addLayout(problem_row);
    layout->addLayout(row);
    setFocusProxy(text_);

    const auto shortcut = [this](const QKeySequence& keys, auto act) {
        auto* made = new QShortcut(keys, this);
        made->setContext(Qt::WidgetWithChildrenShortcut);
        connect(made, &QShortcut::activated, this, act);
    };
    shortcut(QKeySequence::Save, &NotesEditor::save);
    shortcut(Qt::Key_Escape, &NotesEditor::closed);
    connect(save_, &QPushButton::clicked, this, &NotesEditor::save);
    connect(revert_, &QPushButton::clicked, this, &NotesEditor::revert);
    connect(close_, &QPushButton::clicked, this, &NotesEditor::closed);
    connect(text_, &QPlainTextEdit::textChanged, this, [this] {
        refused_.clear();
        check();
    });
    check();
}

bool NotesEditor::isUnsaved() const
{
    return text_->toPlainText() != clean_;
}

void NotesEditor::setLatest(const ScratchpadVersion& latest)
{
    if (latest.number == latest_.number)
        return;
    const bool untouched = !isUnsaved();
    latest_ = latest;
    if (untouched)
        revert();
    check();
}

void NotesEditor::save()
{
    if (!save_->isEnabled() || !run_)
        return;
    saving_ = true;
    check();
    run_->editScratchpad(text_->toPlainText(), [editor = QPointer(this)](const Result<void>& done) {
        if (!editor)
            return;
        editor->saving_ = false;
        if (!done)
            editor->refused_ = sentence(done.error());
        editor->check();
        if (done)
            Q_EMIT editor->saved();
    });
}

void NotesEditor::revert()
{
    from_ = latest_;
    QTextCursor all(text_->document());
    all.select(QTextCursor::Document);
    all.insertText(textOf(latest_));  // can be undone
    clean_ = text_->toPlainText();
    check();
}

void NotesEditor::check()
{
    const std::size_t bytes = bytesOf(*text_);
    const bool fits = bytes <= most_scratchpad_bytes, unsaved = isUnsaved();
    size_->setText(tr("%1 of %2").arg(bytesText(bytes), bytesText(most_scratchpad_bytes)));
    QString problem = refused_;
    if (saving_)
        problem = tr("Saving…");
    else if (!fits)
        problem = tr("The notes are too long by %1. Shorten them.").arg(bytesText(bytes - most_scratchpad_bytes));
    else if (problem.isEmpty() && unsaved && latest_.number != from_.number)
        problem = tr("Meanwhile there is version %1, by %2; saving puts yours in its place. Revert takes its text.")
                      .arg(latest_.number)
                      .arg(QString::fromLatin1(writerOf(latest_.notes)));
    problem_->setText(problem);
    problem_->setVisible(!problem.isEmpty());
    text_->setReadOnly(saving_);
    save_->setEnabled(unsaved && fits && !saving_);
    revert_->setEnabled((unsaved || latest_.number != from_.number) && !saving_);
}

}  // namespace cuco::ui
