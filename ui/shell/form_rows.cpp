// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/form_rows.h"

#include "ui/style/theme.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>

#include <algorithm>

namespace cuco::ui {

QHBoxLayout* withButton(QWidget* field, QPushButton* button)
{
    auto* row = new QHBoxLayout;
    row->setSpacing(grid);
    row->addWidget(field, 1);
    row->addWidget(button);
    button->setAutoDefault(false);
    return row;
}

void addRow(QFormLayout* form, const QString& text, QLayout* row, QWidget* buddy)
{
    auto* label = new QLabel(text);
    label->setBuddy(buddy);
    form->addRow(label, row);
}

QFormLayout* makeForm(QWidget* parent)
{
    auto* form = new QFormLayout(parent);
    form->setContentsMargins(0, 0, 0, 0);
    form->setHorizontalSpacing(2 * grid);
    form->setVerticalSpacing(grid);
    form->setFieldGrowthPolicy(QFormLayout::ExpandingFieldsGrow);
    form->setLabelAlignment(Qt::AlignRight | Qt::AlignVCenter);
    return form;
}

void fitHeight(QLabel* label)
{
    label->ensurePolished();
    label->setMinimumHeight(std::max(0, label->heightForWidth(least_field_width)));  // -1 without a text
}

void setRowVisible(QFormLayout* form, QWidget* field, bool visible)
{
    for (int row = 0; row < form->rowCount(); ++row) {
        QLayoutItem* item = form->itemAt(row, QFormLayout::FieldRole);
        if (item && (item->widget() == field || (item->layout() && item->layout()->indexOf(field) >= 0))) {
            form->setRowVisible(row, visible);
        }
    }
}

}  // namespace cuco::ui
