// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/trace/step_text.h"

#include "ui/style/theme.h"

#include <QDateTime>
#include <QRegularExpression>
#include <QTextBlock>
#include <QTextCursor>
#include <QTextDocument>
#include <QTextTable>

namespace cuco::ui {

namespace {

constexpr qsizetype longest_body = 256 * 1024;
constexpr QLatin1String candidate_scheme("candidate");

bool isCode(const QTextBlock& block)
{
    return block.blockFormat().hasProperty(QTextFormat::BlockCodeLanguage) ||
           block.blockFormat().hasProperty(QTextFormat::BlockCodeFence) || block.blockFormat().nonBreakableLines();
}

}  // namespace

StepText::StepText(QWidget* parent) : QTextBrowser(parent)
{
    setFrameShape(QFrame::NoFrame);
    setOpenLinks(false);
    document()->setDocumentMargin(2 * grid);
    connect(this, &QTextBrowser::anchorClicked, this, [this](const QUrl& url) {
        if (url.scheme() == candidate_scheme)
            Q_EMIT candidateClicked(url.path());
    });
}

QVariant StepText::loadResource(int, const QUrl&)
{
    // Not a null one: the document would then open a local file itself.
    return QByteArray("");
}

void StepText::showSentence(const QString& sentence)
{
    setPlainText(sentence);
}

void StepText::showStep(const AgentStep& step, const std::function<bool(const QString& id)>& is_candidate)
{
    QString body = QString::fromStdString(step.body);
    if (body.size() > longest_body)
        body = body.left(longest_body) + tr("\n\n*The rest of this step is too long to be shown.*");
    document()->setDefaultFont(textFont());
    document()->setMarkdown(
        body, QTextDocument::MarkdownFeatures(QTextDocument::MarkdownDialectGitHub) | QTextDocument::MarkdownNoHTML);
    styleHeadings();
    styleCode();
    styleTables();
    linkCandidates(is_candidate);
    insertHeading(step);
    moveCursor(QTextCursor::Start);
}

void StepText::styleHeadings()
{
    for (QTextBlock block = document()->begin(); block.isValid(); block = block.next()) {
        const int level = block.blockFormat().headingLevel();
        if (level == 0)
            continue;
        QTextCursor cursor(block);
        cursor.movePosition(QTextCursor::EndOfBlock, QTextCursor::KeepAnchor);
        // Qt's own are up to twice as large as the text.
        QTextCharFormat heading;
        heading.setFont(textFont(level == 1 ? 1 : 0, QFont::DemiBold), QTextCharFormat::FontPropertiesSpecifiedOnly);
        heading.setProperty(QTextFormat::FontSizeAdjustment, 0);
        cursor.mergeCharFormat(heading);
        QTextBlockFormat space;
        space.setTopMargin(level <= 2 ? 3 * grid / 2 : grid);
        space.setBottomMargin(grid / 2);
        cursor.mergeBlockFormat(space);
    }
}

void StepText::styleCode()
{
    const Colors colors = colorsFor(palette());
    QTextCharFormat code;
    code.setFont(monoFont(), QTextCharFormat::FontPropertiesSpecifiedOnly);
    code.setFontFamilies({monoFont().family()});
    for (QTextBlock block = document()->begin(); block.isValid(); block = block.next()) {
        if (isCode(block)) {
            QTextCursor cursor(block);
            cursor.select(QTextCursor::BlockUnderCursor);
            cursor.mergeCharFormat(code);
            QTextBlockFormat format;
            format.setBackground(colors.surface);
            if (!block.previous().isValid() || !isCode(block.previous()))
                format.setTopMargin(grid / 2);
            if (!block.next().isValid() || !isCode(block.next()))
                format.setBottomMargin(grid);
            QTextCursor(block).mergeBlockFormat(format);
            continue;
        }
        for (auto fragment = block.begin(); !fragment.atEnd(); ++fragment) {
            if (!fragment.fragment().charFormat().fontFixedPitch())
                continue;
            QTextCursor cursor(document());
            cursor.setPosition(fragment.fragment().position());
            cursor.setPosition(fragment.fragment().position() + fragment.fragment().length(), QTextCursor::KeepAnchor);
            cursor.mergeCharFormat(code);
        }
    }
}

void StepText::styleTables()
{
    const Colors colors = colorsFor(palette());
    for (QTextFrame* frame : document()->rootFrame()->childFrames()) {
        if (auto* table = qobject_cast<QTextTable*>(frame)) {
            QTextTableFormat format = table->format();
            format.setCellPadding(grid / 2);
            format.setCellSpacing(0);
            format.setBorderCollapse(true);
            format.setBorder(1);
            format.setBorderBrush(colors.border);
            format.setBorderStyle(QTextFrameFormat::BorderStyle_Solid);
            table->setFormat(format);
        }
    }
}

void StepText::linkCandidates(const IsCandidate& is_candidate)
{
    static const QRegularExpression word(QStringLiteral("\\bc\\d+\\b"));
    const Colors colors = colorsFor(palette());
    for (QTextCursor found = document()->find(word); !found.isNull(); found = document()->find(word, found)) {
        const QString id = found.selectedText();
        if (isCode(found.block()) || !is_candidate(id))
            continue;
        QTextCharFormat link;
        link.setAnchor(true);
        link.setAnchorHref(candidate_scheme + QLatin1Char(':') + id);
        link.setForeground(colors.readable(colors.compute));
        link.setFontUnderline(true);
        found.mergeCharFormat(link);
    }
}

void StepText::insertHeading(const AgentStep& step)
{
    const Colors colors = colorsFor(palette());
    QTextCursor cursor(document());
    cursor.movePosition(QTextCursor::Start);
    cursor.insertBlock();
    cursor.movePosition(QTextCursor::Start);
    cursor.setBlockFormat({});
    QTextCharFormat title;
    title.setFont(textFont(2, QFont::DemiBold));
    title.setForeground(colors.text);
    cursor.insertText(QString::fromStdString(step.title), title);
    cursor.insertBlock(QTextBlockFormat(), QTextCharFormat());
    QTextCharFormat small;
    small.setFont(textFont(-1));
    small.setForeground(colors.secondary);
    const QString time = QDateTime::fromMSecsSinceEpoch(step.time_ms).toString(QStringLiteral("yyyy-MM-dd HH:mm:ss"));
    cursor.insertText(QString::fromStdString(step.agent) + QStringLiteral(" · ") + time, small);
    if (!step.candidate_id.empty()) {
        cursor.insertText(QStringLiteral(" · "), small);
        const QString id = QString::fromStdString(step.candidate_id);
        QTextCharFormat link = small;
        link.setAnchor(true);
        link.setAnchorHref(candidate_scheme + QLatin1Char(':') + id);
        link.setForeground(colors.readable(colors.compute));
        link.setFontUnderline(true);
        cursor.insertText(id, link);
    }
    QTextBlockFormat gap;
    gap.setBottomMargin(grid);
    cursor.mergeBlockFormat(gap);
}

}  // namespace cuco::ui
