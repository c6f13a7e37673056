// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/trace/prompt_diff.h"

#include "ui/style/theme.h"
#include "ui/views/diff/diff_panel.h"
#include "ui/views/missing_text.h"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>

namespace cuco::ui {

namespace {

DiffSide sideOf(int id, const LlmCall& call)
{
    DiffSide side;
    side.name = "#" + std::to_string(id) + " " + call.request.model;
    if (!call.request.system.empty())
        side.text = "[system]\n" + call.request.system + "\n";
    for (const ChatMessage& message : call.request.messages)
        side.text += "[" + toString(message.role) + "]\n" + message.text + "\n";
    return side;
}

}  // namespace

PromptDiff::PromptDiff(QWidget* parent) : QWidget(parent), heading_(new QLabel(this)), panel_(new DiffPanel(this))
{
    heading_->setTextFormat(Qt::PlainText);
    heading_->setWordWrap(true);
    auto* unified = new QCheckBox(tr("Unified"), this);
    auto* bar = new QHBoxLayout;
    bar->setContentsMargins(2 * grid, grid, 2 * grid, grid);
    bar->addWidget(heading_, 1);
    bar->addWidget(unified);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addLayout(bar);
    layout->addWidget(panel_, 1);
    connect(unified, &QCheckBox::toggled, panel_, &DiffPanel::setUnified);
}

QString PromptDiff::headingText() const
{
    return heading_->text();
}

void PromptDiff::showCalls(int left_id, const LlmCall& left, int right_id, const LlmCall& right)
{
    if (auto shown = panel_->setSides(sideOf(left_id, left), sideOf(right_id, right)); !shown) {
        heading_->setText(errorText(tr("The prompts cannot be compared"), shown.error()));
        return;
    }
    const LineDiff& diff = panel_->diff();
    heading_->setText(diff.hunks.empty() ? tr("#%1 and #%2 were asked the same.").arg(left_id).arg(right_id)
                                         : tr("Prompts of #%1 (left) and #%2 (right): +%3 −%4 lines")
                                               .arg(left_id)
                                               .arg(right_id)
                                               .arg(diff.added)
                                               .arg(diff.removed));
}

}  // namespace cuco::ui
