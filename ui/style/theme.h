// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/timeline.h"

#include <QColor>
#include <QFont>
#include <QIcon>
#include <QPalette>
#include <QString>

class QApplication;

namespace cuco::ui {

/// All distances are multiples of this many pixels, or half of it.
inline constexpr int grid = 8;

/// The colours of the product: Okabe–Ito hues, the same in light and dark. Fills use the hue itself; text
/// and thin lines use `readable`, which moves it away from the background until the contrast is 4.5:1.
struct Colors {
    bool dark = false;
    QColor background;       ///< behind content: lists, plots, code
    QColor surface;          ///< behind controls: docks, bars
    QColor raised;           ///< cards and headers on a background
    QColor text, secondary;  ///< secondary still has 4.5:1 on background
    QColor border, grid_line;

    QColor compute{0x00, 0x72, 0xB2}, communication{0xE6, 0x9F, 0x00}, wait{0x99, 0x99, 0x99};
    QColor copy{0x00, 0x9E, 0x73}, reference{0xCC, 0x79, 0xA7}, failed{0xD5, 0x5E, 0x00};
    QColor selected{0x56, 0xB4, 0xE9};

    /// Backgrounds of changed lines in a diff, and of the words changed in them.
    QColor added_line, removed_line, added_word, removed_word;

    /// The hue, lighter or darker, with at least 4.5:1 against `background`.
    QColor readable(const QColor& hue) const;
    QColor of(Activity activity) const;
    QColor island(int island) const;  ///< readable; cycles after six
};

/// The colours that go with a palette made by applyTheme, light or dark. Call it where something is painted:
/// a change of the system's colours then needs no bookkeeping.
Colors colorsFor(const QPalette& palette);

enum class ColorScheme { system, light, dark };

/// Fusion with the product's palette, fonts and style sheet.
void applyTheme(QApplication& app, ColorScheme scheme);

/// Code and numbers: JetBrains Mono, else the system's fixed font. `step` points larger or smaller than text.
QFont monoFont(int step = 0);
/// Text: Inter, else the system's.
QFont textFont(int step = 0, QFont::Weight weight = QFont::Normal);

/// A stroke icon of resources/icons; "play", "diff", … Drawn in the text colour that the application has at
/// the time of painting.
QIcon themedIcon(const QString& name);

double contrastRatio(const QColor& first, const QColor& second);  ///< WCAG 2.1, 1 … 21

}  // namespace cuco::ui
