// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/error_bar.h"

#include "ui/shell/error_text.h"
#include "ui/style/theme.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QToolButton>
#include <QVBoxLayout>

namespace cuco::ui {

ErrorBar::ErrorBar(QWidget* parent)
    : QFrame(parent),
      sentence_(new QLabel(this)),
      details_(new QLabel(this)),
      count_(new QLabel(this)),
      details_button_(new QPushButton(tr("Details"), this)),
      dismiss_button_(new QToolButton(this))
{
    setObjectName(QStringLiteral("errorBar"));
    setAccessibleName(tr("Error"));
    for (QLabel* label : {sentence_, details_}) {
        label->setTextFormat(Qt::PlainText);
        label->setWordWrap(true);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    }
    details_->setFont(monoFont(-1));
    details_button_->setCheckable(true);
    dismiss_button_->setIcon(themedIcon(QStringLiteral("close")));
    dismiss_button_->setAutoRaise(true);
    dismiss_button_->setFocusPolicy(Qt::StrongFocus);
    dismiss_button_->setToolTip(tr("Dismiss"));
    dismiss_button_->setAccessibleName(tr("Dismiss"));

    auto* row = new QHBoxLayout;
    row->setSpacing(grid);
    row->addWidget(sentence_, 1);
    row->addWidget(count_);
    row->addWidget(details_button_);
    row->addWidget(dismiss_button_);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(2 * grid, grid, grid, grid);
    layout->addLayout(row);
    layout->addWidget(details_);
    connect(details_button_, &QPushButton::toggled, details_, &QWidget::setVisible);
    connect(dismiss_button_, &QToolButton::clicked, this, &ErrorBar::dismiss);
    hide();
}

void ErrorBar::add(const Error& error)
{
    errors_ << error;
    showFirst();
}

void ErrorBar::dismiss()
{
    if (!errors_.isEmpty()) {
        errors_.removeFirst();
    }
    showFirst();
}

QString ErrorBar::text() const
{
    return sentence_->text();
}

void ErrorBar::showFirst()
{
    setVisible(!errors_.isEmpty());
    if (errors_.isEmpty()) {
        return;
    }
    const Error& error = errors_.first();
    sentence_->setText(sentence(error));
    details_->setText(QString::fromStdString(error.where));
    details_button_->setVisible(!error.where.empty());
    details_button_->setChecked(false);
    details_->hide();
    count_->setVisible(errors_.size() > 1);
    count_->setText(tr("1 of %1").arg(errors_.size()));
}

void ErrorBar::paintEvent(QPaintEvent*)
{
    const Colors colors = colorsFor(palette());
    QPainter painter(this);
    painter.fillRect(rect(), colors.removed_line);
    painter.fillRect(QRect(0, 0, grid / 2, height()), colors.failed);
}

}  // namespace cuco::ui
