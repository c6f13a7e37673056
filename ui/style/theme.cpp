// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/style/theme.h"

#include <QApplication>
#include <QFontDatabase>
#include <QStyleFactory>

#include <algorithm>
#include <array>
#include <cmath>

/// The icons are in a static library, which nothing would pull in by itself. Q_INIT_RESOURCE wants no namespace.
static void initIcons()
{
    Q_INIT_RESOURCE(cuco);
}

namespace cuco::ui {

namespace {

constexpr double text_contrast = 4.5;  // WCAG 2.1, level AA, text of normal size

double relativeLuminance(const QColor& color)
{
    const auto linear = [](double channel) {
        return channel <= 0.04045 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF());
}

Colors lightColors()
{
    Colors colors;
    colors.background = QColor(0xFF, 0xFF, 0xFF);
    colors.surface = QColor(0xF4, 0xF5, 0xF6);
    colors.raised = QColor(0xFA, 0xFA, 0xFB);
    colors.text = QColor(0x1B, 0x1C, 0x1E);
    colors.secondary = QColor(0x5C, 0x5F, 0x66);
    colors.border = QColor(0xD3, 0xD5, 0xD9);
    colors.grid_line = QColor(0xE8, 0xE9, 0xEC);
    colors.added_line = QColor(0xE3, 0xF3, 0xED);
    colors.removed_line = QColor(0xFB, 0xE9, 0xDE);
    colors.added_word = QColor(0xAE, 0xDF, 0xCB);
    colors.removed_word = QColor(0xF4, 0xC4, 0xA3);
    return colors;
}

Colors darkColors()
{
    Colors colors;
    colors.dark = true;
    colors.background = QColor(0x1E, 0x1F, 0x22);
    colors.surface = QColor(0x26, 0x27, 0x2B);
    colors.raised = QColor(0x2B, 0x2D, 0x31);
    colors.text = QColor(0xE3, 0xE5, 0xEA);
    colors.secondary = QColor(0xA6, 0xAA, 0xB2);
    colors.border = QColor(0x3F, 0x42, 0x48);
    colors.grid_line = QColor(0x33, 0x35, 0x3A);
    colors.added_line = QColor(0x1D, 0x36, 0x2E);
    colors.removed_line = QColor(0x42, 0x2A, 0x1C);
    colors.added_word = QColor(0x1C, 0x5A, 0x45);
    colors.removed_word = QColor(0x7A, 0x40, 0x16);
    return colors;
}

/// Paler than the 4.5:1 of the rest, from which WCAG exempts what is inactive.
QColor disabledText(const Colors& colors)
{
    return colors.dark ? QColor(0x75, 0x79, 0x80) : QColor(0x95, 0x98, 0x9E);
}

QPalette paletteOf(const Colors& colors)
{
    QPalette palette;
    const QColor disabled = disabledText(colors);
    palette.setColor(QPalette::Window, colors.surface);
    palette.setColor(QPalette::WindowText, colors.text);
    palette.setColor(QPalette::Base, colors.background);
    palette.setColor(QPalette::AlternateBase, colors.raised);
    palette.setColor(QPalette::Text, colors.text);
    palette.setColor(QPalette::Button, colors.raised);
    palette.setColor(QPalette::ButtonText, colors.text);
    palette.setColor(QPalette::BrightText, colors.readable(colors.failed));
    palette.setColor(QPalette::ToolTipBase, colors.raised);
    palette.setColor(QPalette::ToolTipText, colors.text);
    palette.setColor(QPalette::PlaceholderText, colors.secondary);
    palette.setColor(QPalette::Highlight, colors.dark ? QColor(0x1F, 0x4E, 0x6B) : QColor(0xC5, 0xE5, 0xF7));
    palette.setColor(QPalette::HighlightedText, colors.text);
    palette.setColor(QPalette::Link, colors.readable(colors.compute));
    palette.setColor(QPalette::LinkVisited, colors.readable(colors.compute));
    palette.setColor(QPalette::Light, colors.raised.lighter(105));
    palette.setColor(QPalette::Midlight, colors.raised);
    palette.setColor(QPalette::Mid, colors.border);
    palette.setColor(QPalette::Dark, colors.border.darker(110));
    palette.setColor(QPalette::Shadow, colors.dark ? QColor(0x12, 0x12, 0x14) : QColor(0xA8, 0xAA, 0xAE));
    for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText, QPalette::HighlightedText}) {
        palette.setColor(QPalette::Disabled, role, disabled);
    }
    return palette;
}

QString styleSheetOf(const Colors& colors)
{
    // Only what Fusion's palette cannot say. No backgrounds by role here, so that views stay palette driven.
    return QStringLiteral(
               "QToolTip { color: %1; background: %2; border: 1px solid %3; padding: 4px; }"
               "QMainWindow::separator { background: %3; width: 1px; height: 1px; }"
               "QSplitter::handle { background: %3; }"
               "QStatusBar::item { border: none; }"
               "QDockWidget::title { padding: 8px; text-align: left; }"
               "QDockWidget::close-button { subcontrol-position: right center; right: 8px; }"
               "QTabWidget::pane { border: none; border-top: 1px solid %3; }"
               "QTabBar::tab { padding: 8px 12px; border: none; border-bottom: 2px solid transparent; color: %4; }"
               "QTabBar::tab:selected { color: %1; border-bottom: 2px solid %5; }"
               "QTabBar::tab:hover { color: %1; }"
               "QTabBar::tab:focus { text-decoration: underline; }"
               "QHeaderView::section { background: %6; color: %4; border: none; border-bottom: 1px solid %3;"
               " padding: 4px; }"
               "QPushButton, cuco--ui--Inspector QToolButton { background: %2; border: 1px solid %3;"
               " border-radius: 4px; padding: 4px 12px; }"
               "cuco--ui--Inspector QToolButton { padding: 4px; }"
               "QPushButton:flat { background: transparent; border-color: transparent; }"
               "QPushButton:hover, cuco--ui--Inspector QToolButton:hover { background: %7; }"
               "QPushButton:pressed, QPushButton:checked, cuco--ui--Inspector QToolButton:pressed { background: %3; }"
               "QPushButton:default, QPushButton:focus, cuco--ui--Inspector QToolButton:focus {"
               " border-color: %8; }"
               "QPushButton:disabled, cuco--ui--Inspector QToolButton:disabled { color: %9; }")
        .arg(colors.text.name(), colors.raised.name(), colors.border.name(), colors.secondary.name(),
             colors.selected.name(), colors.surface.name(), colors.grid_line.name(),
             colors.readable(colors.selected).name(), disabledText(colors).name());
}

QString installedFamily(const char* wanted, QFontDatabase::SystemFont otherwise)
{
    const QString name = QString::fromLatin1(wanted);
    return QFontDatabase::hasFamily(name) ? name : QFontDatabase::systemFont(otherwise).family();
}

}  // namespace

double contrastRatio(const QColor& first, const QColor& second)
{
    const auto [darker, lighter] = std::minmax({relativeLuminance(first), relativeLuminance(second)});
    return (lighter + 0.05) / (darker + 0.05);
}

QColor Colors::readable(const QColor& hue) const
{
    QColor color = hue.toHsl();
    const double step = dark ? 0.01 : -0.01;
    // `raised` in the dark and `surface` in the light are the harder backgrounds.
    const QColor& hardest = dark ? raised : surface;
    double lightness = color.lightnessF();
    while (contrastRatio(color, hardest) < text_contrast && lightness > 0 && lightness < 1) {
        lightness = std::clamp(lightness + step, 0.0, 1.0);
        color.setHslF(hue.hslHueF(), hue.hslSaturationF(), static_cast<float>(lightness));
    }
    return color.toRgb();
}

QColor Colors::of(Activity activity) const
{
    switch (activity) {
        case Activity::compute:
            return compute;
        case Activity::communication:
            return communication;
        case Activity::copy:
            return copy;
        case Activity::wait:
            return wait;
        case Activity::host:
            return secondary;
    }
    return secondary;
}

QColor Colors::island(int island) const
{
    const std::array<QColor, 6> hues{compute, communication, copy, reference, selected, QColor(0x8C, 0x6B, 0xB1)};
    return readable(hues[static_cast<std::size_t>(std::abs(island)) % hues.size()]);
}

Colors colorsFor(const QPalette& palette)
{
    return palette.color(QPalette::Base).lightnessF() < 0.5F ? darkColors() : lightColors();
}

void applyTheme(QApplication& app, ColorScheme scheme)
{
    initIcons();
    const bool system_is_dark = app.palette().color(QPalette::Window).lightnessF() < 0.5F;
    const bool dark = scheme == ColorScheme::dark || (scheme == ColorScheme::system && system_is_dark);
    const Colors colors = dark ? darkColors() : lightColors();
    app.setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
    app.setPalette(paletteOf(colors));
    app.setFont(textFont());
    app.setStyleSheet(styleSheetOf(colors));
}

QFont textFont(int step, QFont::Weight weight)
{
    static const QString family = installedFamily("Inter", QFontDatabase::GeneralFont);
    QFont font(family);
    font.setPointSize(10 + step);
    font.setWeight(weight);
    return font;
}

QFont monoFont(int step)
{
    static const QString family = installedFamily("JetBrains Mono", QFontDatabase::FixedFont);
    QFont font(family);
    font.setStyleHint(QFont::Monospace);
    font.setPointSize(10 + step);
    return font;
}

}  // namespace cuco::ui
