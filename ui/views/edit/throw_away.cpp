// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/edit/throw_away.h"

#include <QCoreApplication>
#include <QMessageBox>
#include <QPushButton>

namespace cuco::ui {

bool mayThrowAway(QWidget* window, const QStringList& unsaved)
{
    if (unsaved.isEmpty())
        return true;
    const auto text = [](const char* source) { return QCoreApplication::translate("ThrowAway", source); };
    QMessageBox box(QMessageBox::Warning, text("Throw away what you wrote?"),
                    text("This is neither saved nor submitted:\n\n%1").arg(unsaved.join(QLatin1Char('\n'))),
                    QMessageBox::Cancel, window);
    box.setObjectName(QStringLiteral("unsaved"));
    box.setTextFormat(Qt::PlainText);
    const QPushButton* lose = box.addButton(text("&Throw away"), QMessageBox::DestructiveRole);
    box.setDefaultButton(QMessageBox::Cancel);
    box.exec();
    return box.clickedButton() == lose;
}

}  // namespace cuco::ui
