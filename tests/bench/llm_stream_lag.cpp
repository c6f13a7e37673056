// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
// How long a piece of a streamed answer takes from its arrival at the client to the end of the paint that shows it in
// the LLM traces view. A loopback server streams at a pace; client, trace, dispatcher, run model and view are the
// product's, and only the bridge's mailbox is a queued call here. Paints are those of Qt's offscreen platform.
//   llm_stream_lag [--pieces N] [--every MS] [--before BYTES]
#include "core/llm/openai_client.h"
#include "core/run/event_dispatcher.h"
#include "core/run/run_file.h"
#include "core/run/run_trace.h"
#include "tests/support/loopback_server.h"
#include "ui/engine/run_session.h"
#include "ui/style/theme.h"
#include "ui/views/trace/chat_text.h"
#include "ui/views/trace_view.h"

#include <QApplication>
#include <QTemporaryDir>
#include <QTimer>
#include <QTreeView>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <mutex>
#include <thread>

namespace cuco {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

struct Pace {
    int pieces = 300;
    std::chrono::milliseconds every{20};
    std::size_t before_bytes = 0;  ///< of the answer, sent in one piece first
};

/// When each byte of the answer had come, by its end.
class Arrivals {
public:
    void add(std::size_t bytes)
    {
        const std::scoped_lock guard(mutex_);
        total_ += bytes;
        pieces_.push_back({total_, Clock::now()});
    }
    /// Those that a paint of so many bytes shows for the first time.
    std::vector<double> shownBy(std::size_t bytes, Clock::time_point painted)
    {
        const std::scoped_lock guard(mutex_);
        std::vector<double> lags;
        while (next_ < pieces_.size() && pieces_[next_].first <= bytes)
            lags.push_back(std::chrono::duration<double, std::milli>(painted - pieces_[next_++].second).count());
        return lags;
    }

private:
    mutable std::mutex mutex_;
    std::vector<std::pair<std::size_t, Clock::time_point>> pieces_;
    std::size_t total_ = 0, next_ = 0;
};

/// Notes the arrival of text where the client has parsed it, before anything else is done with it.
class NotingClient final : public ChatClient {
public:
    NotingClient(ChatClient& inner, Arrivals& arrivals) : inner_(inner), arrivals_(arrivals) {}
    std::string provider() const override { return inner_.provider(); }
    ChatResult complete(const ChatRequest& request, const CallControl& control) override
    {
        CallControl noting = control;
        noting.on_text = [&](std::string_view piece) {
            arrivals_.add(piece.size());
            control.on_text(piece);
        };
        return inner_.complete(request, noting);
    }

private:
    ChatClient& inner_;
    Arrivals& arrivals_;
};

/// Lets each paint of the text come to its end, then looks at the clock.
class PaintWatch final : public QObject {
public:
    PaintWatch(QTextEdit* text, Arrivals& arrivals) : text_(text), arrivals_(arrivals)
    {
        text->viewport()->installEventFilter(this);
    }
    std::vector<double> lags_ms;

private:
    bool eventFilter(QObject* watched, QEvent* event) override
    {
        if (event->type() != QEvent::Paint || inside_)
            return false;
        inside_ = true;
        const auto bytes = static_cast<std::size_t>(text_->document()->characterCount() - 1);  // ASCII only
        QCoreApplication::sendEvent(watched, event);
        inside_ = false;
        const auto lags = arrivals_.shownBy(bytes, Clock::now());
        lags_ms.insert(lags_ms.end(), lags.begin(), lags.end());
        return true;
    }

    QTextEdit* text_;
    Arrivals& arrivals_;
    bool inside_ = false;
};

std::string delta(const std::string& text)
{
    return "data: " + nlohmann::json{{"choices", {{{"delta", {{"content", text}}}}}}}.dump() + "\n\n";
}

testing::LoopbackServer::Script streamAt(const Pace& pace)
{
    return [pace](const testing::LoopbackConnection& connection, const std::string&) {
        connection.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
        std::string before;
        while (before.size() < pace.before_bytes)
            before += fmt::format("int line_{} = 0; // some code that came before\n", before.size());
        if (!before.empty())
            connection.chunk(delta(before));
        auto next = Clock::now() + 500ms;
        for (int piece = 0; piece < pace.pieces; ++piece, next += pace.every) {
            std::this_thread::sleep_until(next);
            if (!connection.chunk(delta(piece % 8 == 7 ? "cudaStreamWait;\n" : "cudaStreamWait, ")))
                return false;
        }
        std::this_thread::sleep_for(500ms);  // the last piece is painted before the call ends
        connection.chunk("data: [DONE]\n\n");
        connection.chunk("");
        return true;
    };
}

std::string firstLineOf(const char* file, const std::string& key)
{
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);)
        if (line.starts_with(key))
            return key.empty() ? line : line.substr(std::min(line.size(), line.find(':') + 2));
    return "?";
}

void measure(const Pace& pace)
{
    const QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("run.cuco"));
    RunConfig config;
    config.workload = "gemm_allgather";
    config.proposer = "fastpath";
    auto file = RunFile::create(path.toStdString(), config);
    auto run = ui::RunModel::open(path);
    if (!file || !run) {
        fmt::print(stderr, "{}\n", describe(!file ? file.error() : run.error()));
        std::exit(3);
    }
    ui::RunSession session;
    session.setRun(run->get());
    ui::TraceView view(&session);
    view.resize(1000, 700);
    view.show();
    Arrivals arrivals;
    PaintWatch watch(view.findChild<ui::ChatText*>(), arrivals);
    auto* tree = view.findChild<QTreeView*>();
    QObject::connect(&session, &ui::RunSession::llmCallStarted, &view, [tree] {
        tree->expandAll();
        QModelIndex last = tree->model()->index(0, 0);
        while (tree->model()->rowCount(last) > 0)
            last = tree->model()->index(tree->model()->rowCount(last) - 1, 0, last);
        tree->setCurrentIndex(last);
    });

    const testing::LoopbackServer loopback({streamAt(pace)});
    std::thread engine([&] {
        EventDispatcher dispatcher([model = run->get()](const RunEvent& event) {
            QMetaObject::invokeMethod(
                model, [model, event] { model->apply(event); }, Qt::QueuedConnection);
        });
        RunTrace trace(**file, [&](const RunEvent& event) { dispatcher.post(event); });
        OpenAiSettings settings;
        settings.server = {loopback.url(), "", {}};
        OpenAiClient client(settings);
        NotingClient noting(client, arrivals);
        const ModelPrices prices;
        ChatRequest request;
        request.model = "m";
        request.messages = {{.text = "Stream."}};
        const auto result = TracedClient(noting, trace, prices, {"bench", 0, "c0"}).complete(request, {});
        if (!result)
            fmt::print(stderr, "{}\n", describe(result.error().error));
        dispatcher.flush();
        QMetaObject::invokeMethod(qApp, &QCoreApplication::quit, Qt::QueuedConnection);
    });
    QCoreApplication::exec();
    engine.join();

    auto& lags = watch.lags_ms;
    std::ranges::sort(lags);
    if (lags.empty()) {
        fmt::print(stderr, "Nothing was painted.\n");
        std::exit(1);
    }
    const auto at = [&](double share) {
        return lags[std::min(lags.size() - 1, static_cast<std::size_t>(share * static_cast<double>(lags.size())))];
    };
    fmt::print(
        "{} pieces, one every {} ms, after {} bytes: {} painted; lag median {:.1f} ms, 99 % {:.1f} ms, longest "
        "{:.1f} ms\n",
        pace.pieces, pace.every.count(), pace.before_bytes, lags.size(), at(0.5), at(0.99), lags.back());
}

}  // namespace
}  // namespace cuco

int main(int argc, char** argv)
{
    if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM"))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    ::setenv("no_proxy", "127.0.0.1", 1);
    QApplication application(argc, argv);
    cuco::ui::applyTheme(application, cuco::ui::ColorScheme::light);
    fmt::print("{}, {} cores, load {}, Qt {}, {}\n", cuco::firstLineOf("/proc/cpuinfo", "model name"),
               std::thread::hardware_concurrency(), cuco::firstLineOf("/proc/loadavg", ""), qVersion(),
               QGuiApplication::platformName().toStdString());
    std::vector<cuco::Pace> paces{
        {}, {.pieces = 600, .every = std::chrono::milliseconds(5)}, {.before_bytes = 100'000}};
    cuco::Pace own;
    bool has_own = false;
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string name = argv[i];
        const int value = std::atoi(argv[i + 1]);
        has_own = true;
        if (name == "--pieces")
            own.pieces = std::max(1, value);
        else if (name == "--every")
            own.every = std::chrono::milliseconds(std::max(0, value));
        else if (name == "--before")
            own.before_bytes = static_cast<std::size_t>(std::max(0, value));
    }
    if (has_own)
        paces = {own};
    for (const cuco::Pace& pace : paces)
        cuco::measure(pace);
}
