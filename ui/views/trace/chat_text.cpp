// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/trace/chat_text.h"

#include "ui/style/theme.h"
#include "ui/views/trace/call_format.h"

#include <QScrollBar>
#include <QTextBlock>
#include <QTextDocumentFragment>

namespace cuco::ui {

namespace {

constexpr qsizetype longest_message = 256 * 1024;
constexpr int most_marks = 2000;

QString roleName(ChatRole role)
{
    return role == ChatRole::user ? ChatText::tr("Asked") : ChatText::tr("Answered before");
}

}  // namespace

ChatText::ChatText(QWidget* parent) : StepText(parent) {}

void ChatText::append(const QString& label, const QColor& color, const std::string& markdown)
{
    const bool first = document()->isEmpty();
    QTextCursor cursor(document());
    cursor.movePosition(QTextCursor::End);
    QTextBlockFormat heading;
    heading.setTopMargin(first ? 0 : 2 * grid);
    heading.setBottomMargin(grid / 2);
    QTextCharFormat bold;
    bold.setFont(textFont(0, QFont::DemiBold));
    bold.setForeground(color);
    if (first)
        cursor.setBlockFormat(heading);
    else
        cursor.insertBlock(heading);
    cursor.insertText(label, bold);
    QTextDocument message;
    message.setDefaultFont(textFont());
    QString text = QString::fromStdString(markdown);
    if (text.size() > longest_message)
        text = text.left(longest_message) + tr("\n\n*The rest is too long to be shown here.*");
    if (text.trimmed().isEmpty())
        text = tr("*(nothing)*");
    message.setMarkdown(
        text, QTextDocument::MarkdownFeatures(QTextDocument::MarkdownDialectGitHub) | QTextDocument::MarkdownNoHTML);
    cursor.insertBlock(QTextBlockFormat(), QTextCharFormat());
    cursor.insertFragment(QTextDocumentFragment(&message));
}

void ChatText::appendFailure(const ChatError& error)
{
    const Colors colors = colorsFor(palette());
    QTextCursor cursor(document());
    cursor.movePosition(QTextCursor::End);
    QTextBlockFormat block;
    block.setTopMargin(2 * grid);
    QTextCharFormat red;
    red.setFont(textFont(0, QFont::DemiBold));
    red.setForeground(colors.readable(colors.failed));
    cursor.insertBlock(block);
    cursor.insertText(tr("✕ The call failed: %1").arg(errorName(error.kind)), red);
    red.setFont(textFont());
    cursor.insertBlock(QTextBlockFormat());
    cursor.insertText(QString::fromStdString(describe(error.error)), red);
}

void ChatText::showCall(const LlmCall& call, const IsCandidate& is_candidate)
{
    running_bytes_ = 0;
    const Colors colors = colorsFor(palette());
    document()->clear();
    document()->setDefaultFont(textFont());
    if (!call.request.system.empty())
        append(tr("System text"), colors.secondary, call.request.system);
    for (const ChatMessage& message : call.request.messages)
        append(roleName(message.role), colors.readable(colors.compute), message.text);
    const ChatResponse& answer = answerOf(call.result);
    if (call.result || !answer.text.empty())
        append(call.result ? tr("Answer") : tr("Answer, as far as it came"), colors.readable(colors.copy), answer.text);
    if (!call.result)
        appendFailure(call.result.error());
    styleHeadings();
    styleCode();
    styleTables();
    linkCandidates(is_candidate);
    moveCursor(QTextCursor::Start);
}

void ChatText::showRunning(const std::string& text)
{
    // Only whole characters: the rest of the last one comes with the next piece.
    std::size_t whole = text.size();
    for (int back = 0; whole > 0 && back < 4 && (static_cast<unsigned char>(text[whole - 1]) & 0xc0) == 0x80; ++back)
        --whole;
    if (whole > 0 && static_cast<unsigned char>(text[whole - 1]) >= 0xc0) {
        const auto lead = static_cast<unsigned char>(text[whole - 1]);
        const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
        whole = whole - 1 + length <= text.size() ? whole - 1 + length : whole - 1;
    }
    const bool follow = verticalScrollBar()->value() >= verticalScrollBar()->maximum() - grid;
    if (running_bytes_ == 0 || running_bytes_ > whole) {
        document()->clear();
        document()->setDefaultFont(textFont());
        running_bytes_ = 0;
    }
    QTextCursor cursor(document());
    cursor.movePosition(QTextCursor::End);
    QTextCharFormat plain;
    plain.setFont(monoFont());
    cursor.insertText(QString::fromUtf8(text.data() + running_bytes_, static_cast<qsizetype>(whole - running_bytes_)),
                      plain);
    running_bytes_ = whole;
    if (follow)
        verticalScrollBar()->setValue(verticalScrollBar()->maximum());
}

int ChatText::markAll(const QString& text)
{
    QList<QTextEdit::ExtraSelection> marks;
    if (!text.isEmpty()) {
        const Colors colors = colorsFor(palette());
        QTextCharFormat format;
        format.setBackground(colors.communication);
        format.setForeground(Qt::black);
        for (QTextCursor at = document()->find(text); !at.isNull() && marks.size() < most_marks;
             at = document()->find(text, at))
            marks.append({at, format});
    }
    setExtraSelections(marks);
    if (!marks.isEmpty()) {
        QTextCursor first = marks.front().cursor;
        first.setPosition(first.selectionStart());
        setTextCursor(first);
        ensureCursorVisible();
    }
    return static_cast<int>(marks.size());
}

}  // namespace cuco::ui
