// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/keys/keychain.h"
#include "ui/shell/error_text.h"
#include "ui/shell/main_window.h"
#include "ui/shell/screenshot.h"
#include "ui/style/theme.h"

#include <QApplication>
#include <QCommandLineParser>
#include <QSettings>
#include <QTimer>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

constexpr int exit_failure = 1, exit_usage = 2, exit_environment = 3;

int complain(const QString& text, int code)
{
    std::fprintf(stderr, "cuco: %s\n", qPrintable(text));
    return code;
}

bool isSet(const char* variable)
{
    const char* value = std::getenv(variable);
    return value && *value != '\0';
}

bool hasArgument(int argc, char** argv, std::string_view name)
{
    return std::any_of(argv + 1, argv + argc, [name](std::string_view argument) {
        return argument == name || (argument.starts_with(name) && argument.substr(name.size()).starts_with('='));
    });
}

/// Qt ends the process with a message of its own when it finds no display; ours says what to do.
bool canShow(int argc, char** argv)
{
#ifdef Q_OS_LINUX
    return isSet("DISPLAY") || isSet("WAYLAND_DISPLAY") || isSet("QT_QPA_PLATFORM") ||
           hasArgument(argc, argv, "-platform") || hasArgument(argc, argv, "--platform");
#else
    (void)argc;
    (void)argv;
    return true;
#endif
}

struct Options {
    QCommandLineOption screenshot{QStringLiteral("screenshot"), QStringLiteral("Render one view into a file and exit."),
                                  QStringLiteral("OUT.png")};
    QCommandLineOption view{
        QStringLiteral("view"),
        QStringLiteral("The view to render: %1.").arg(cuco::ui::screenshotViews().join(QStringLiteral(", "))),
        QStringLiteral("VIEW"), QStringLiteral("population")};
    QCommandLineOption select{QStringLiteral("select"), QStringLiteral("Select a candidate; two are compared."),
                              QStringLiteral("ID[,ID]")};
    QCommandLineOption dark{QStringLiteral("dark"), QStringLiteral("Dark colours.")};
    QCommandLineOption light{QStringLiteral("light"), QStringLiteral("Light colours.")};
    QCommandLineOption size{QStringLiteral("size"), QStringLiteral("The window's size in pixels."),
                            QStringLiteral("WxH"), QStringLiteral("1280x800")};
};

cuco::ui::ColorScheme schemeOf(const QCommandLineParser& parser, const Options& options)
{
    const QString saved = QSettings().value(QStringLiteral("colors")).toString();
    if (parser.isSet(options.dark) || parser.isSet(options.light)) {
        return parser.isSet(options.dark) ? cuco::ui::ColorScheme::dark : cuco::ui::ColorScheme::light;
    }
    return saved == QStringLiteral("dark")    ? cuco::ui::ColorScheme::dark
           : saved == QStringLiteral("light") ? cuco::ui::ColorScheme::light
                                              : cuco::ui::ColorScheme::system;
}

int screenshot(const QCommandLineParser& parser, const Options& options)
{
    cuco::ui::ScreenshotRequest request;
    request.output = parser.value(options.screenshot);
    request.view = parser.value(options.view);
    request.select = parser.value(options.select);
    request.run_file = parser.positionalArguments().value(0);
    const QStringList sides = parser.value(options.size).split(QLatin1Char('x'));
    request.size = QSize(sides.value(0).toInt(), sides.value(1).toInt());
    if (sides.size() != 2 || request.size.width() < 200 || request.size.height() < 200 ||
        request.size.width() > 16'000 || request.size.height() > 16'000) {
        return complain(QStringLiteral("The size must be given as 1280x800, each side from 200 to 16000."), exit_usage);
    }
    if (const auto taken = cuco::ui::takeScreenshot(request); !taken) {
        const QString where = QString::fromStdString(taken.error().where);
        return complain(
            cuco::ui::sentence(taken.error()) + (where.isEmpty() ? QString() : QStringLiteral(" (%1)").arg(where)),
            exit_failure);
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv)
{
    const bool renders = hasArgument(argc, argv, "--screenshot");
    const bool only_text = hasArgument(argc, argv, "--help") || hasArgument(argc, argv, "-h") ||
                           hasArgument(argc, argv, "--version") || hasArgument(argc, argv, "-v");
    if (!canShow(argc, argv)) {
        if (!renders && !only_text) {
            return complain(QStringLiteral("No display: start under a desktop session, or use --screenshot, which "
                                           "renders with QT_QPA_PLATFORM=offscreen."),
                            exit_environment);
        }
        qputenv("QT_QPA_PLATFORM", "offscreen");
    }
    QApplication app(argc, argv);
    QApplication::setOrganizationName(QStringLiteral("cuco"));
    QApplication::setApplicationName(QStringLiteral("cuco"));
    QApplication::setApplicationDisplayName(QStringLiteral("CUCo Desktop"));
    QApplication::setApplicationVersion(QStringLiteral(CUCO_VERSION));
    QApplication::setDesktopFileName(QStringLiteral("cuco"));

    QCommandLineParser parser;
    const Options options;
    parser.setApplicationDescription(QStringLiteral("Finds faster multi-GPU CUDA kernels, and shows how."));
    parser.addHelpOption();
    parser.addVersionOption();
    parser.addOptions({options.screenshot, options.view, options.select, options.dark, options.light, options.size});
    parser.addPositionalArgument(QStringLiteral("FILE"),
                                 QStringLiteral("A run (.cuco) or a trace (.json, .json.gz, .sqlite)."),
                                 QStringLiteral("[FILE]"));
    parser.process(app);
    if (parser.positionalArguments().size() > 1) {
        return complain(QStringLiteral("Give one file at most."), exit_usage);
    }

    cuco::ui::applyTheme(app, schemeOf(parser, options));
    QApplication::setWindowIcon(QIcon(QStringLiteral(":/icons/cuco.svg")));
    if (renders) {
        return screenshot(parser, options);
    }
    cuco::ui::MainWindow window(cuco::ui::systemKeychain());
    window.show();
    if (!parser.positionalArguments().isEmpty()) {
        window.openFile(parser.positionalArguments().first());
    }
    // The nodes are looked at when the window stands.
    QTimer::singleShot(0, &window.nodes(), &cuco::ui::NodeProbes::start);
    return QApplication::exec();
}
