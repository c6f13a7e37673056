// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/trace/call_page.h"

#include "ui/style/theme.h"
#include "ui/views/trace/call_format.h"
#include "ui/views/trace/chat_text.h"

#include <QDateTime>
#include <QLabel>
#include <QPlainTextEdit>
#include <QTabWidget>
#include <QVBoxLayout>

#include <nlohmann/json.hpp>

namespace cuco::ui {

namespace {

constexpr std::size_t longest_raw = 2u << 20;

/// JSON indented; anything else as it is.
QString readable(const std::string& body)
{
    if (body.empty())
        return CallPage::tr("Nothing travelled.");
    const auto json = nlohmann::json::parse(body, nullptr, false);
    std::string text = json.is_discarded() ? body : json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
    if (text.size() > longest_raw) {
        text.resize(longest_raw);
        return QString::fromStdString(text) + CallPage::tr("\n… The rest is too long to be shown.");
    }
    return QString::fromStdString(text);
}

QString stopText(StopReason reason)
{
    return QString::fromStdString(toString(reason)).replace(QLatin1Char('_'), QLatin1Char(' '));
}

}  // namespace

CallPage::CallPage(QWidget* parent)
    : QWidget(parent),
      title_(new QLabel(this)),
      facts_(new QLabel(this)),
      error_(new QLabel(this)),
      tabs_(new QTabWidget(this)),
      chat_(new ChatText(this)),
      request_(new QPlainTextEdit(this)),
      response_(new QPlainTextEdit(this))
{
    title_->setTextFormat(Qt::PlainText);
    title_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    title_->setWordWrap(true);
    facts_->setTextFormat(Qt::PlainText);
    facts_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    facts_->setWordWrap(true);
    error_->setTextFormat(Qt::PlainText);
    error_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    error_->setWordWrap(true);
    error_->hide();
    for (QPlainTextEdit* raw : {request_, response_}) {
        raw->setReadOnly(true);
        raw->setFrameShape(QFrame::NoFrame);
        raw->setFont(monoFont());
        raw->document()->setDocumentMargin(2 * grid);
    }
    tabs_->setDocumentMode(true);
    tabs_->addTab(chat_, tr("Conversation"));
    tabs_->addTab(request_, tr("Request"));
    tabs_->addTab(response_, tr("Response"));
    tabs_->setTabToolTip(1, tr("The body as it was sent, without the key"));
    tabs_->setTabToolTip(2, tr("The body as it came"));
    auto* heading = new QVBoxLayout;
    heading->setContentsMargins(2 * grid, grid, 2 * grid, grid);
    heading->setSpacing(grid / 2);
    heading->addWidget(title_);
    heading->addWidget(facts_);
    heading->addWidget(error_);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addLayout(heading);
    layout->addWidget(tabs_, 1);
    connect(chat_, &StepText::candidateClicked, this, &CallPage::candidateClicked);
}

QString CallPage::factsText() const
{
    return facts_->text();
}

QString CallPage::errorText() const
{
    return error_->text();
}

void CallPage::showFacts(const LlmCallSummary& summary, bool running)
{
    const Colors colors = colorsFor(palette());
    title_->setFont(textFont(2, QFont::DemiBold));
    title_->setText(callTitle(summary, running));
    QPalette secondary = facts_->palette();
    secondary.setColor(QPalette::WindowText, colors.secondary);
    facts_->setPalette(secondary);
    const QString time = QDateTime::fromMSecsSinceEpoch(summary.started_ms).toString(QStringLiteral("HH:mm:ss"));
    QStringList parts{QString::fromStdString(summary.agent), QString::fromStdString(summary.provider), time};
    parts.removeAll(QString());
    parts.removeDuplicates();
    if (!running) {
        const LlmTotals totals = totalsOf(summary);
        if (summary.usage.reported) {
            parts << tr("%1 tokens").arg(tokensText(totals));
            if (summary.usage.cache_read > 0)
                parts << tr("%1 of them from the cache").arg(summary.usage.cache_read);
            if (summary.usage.reasoning > 0)
                parts << tr("%1 reasoning").arg(summary.usage.reasoning);
        } else {
            parts << tr("tokens not reported");
        }
        parts << (summary.cost_usd ? tr("%1 (%2)").arg(costText(totals), QString::fromStdString(summary.cost_source))
                                   : tr("cost not known"));
        if (summary.total.count() > 0)
            parts << durationText(summary.total);
        if (summary.first_text.count() > 0)
            parts << tr("first text after %1").arg(durationText(summary.first_text));
        if (summary.attempts > 1)
            parts << tr("%1 attempts").arg(summary.attempts);
        if (!summary.error_kind && summary.stop_reason != StopReason::finished)
            parts << tr("ended by: %1").arg(stopText(summary.stop_reason));
    }
    facts_->setText(parts.join(QStringLiteral(" · ")));
    QPalette red = error_->palette();
    red.setColor(QPalette::WindowText, colors.readable(colors.failed));
    error_->setPalette(red);
    error_->setText(QString::fromStdString(summary.error));
    error_->setVisible(summary.error_kind.has_value());
}

void CallPage::showCall(const LlmCallSummary& summary, const LlmCall& call,
                        const std::function<bool(const QString& id)>& is_candidate)
{
    showFacts(summary, false);
    chat_->showCall(call, is_candidate);
    const ChatResponse& answer = answerOf(call.result);
    request_->setPlainText(readable(answer.raw_request));
    response_->setPlainText(readable(answer.raw_response));
}

void CallPage::showRunning(const LlmCallSummary& summary, const std::string& text)
{
    showFacts(summary, true);
    chat_->showRunning(text);
    request_->clear();
    response_->clear();
}

void CallPage::showError(const QString& sentence)
{
    title_->clear();
    facts_->clear();
    error_->clear();
    error_->hide();
    chat_->showSentence(sentence);
    request_->clear();
    response_->clear();
}

void CallPage::mark(const QString& text)
{
    chat_->markAll(text);
}

}  // namespace cuco::ui
