// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Time of one frame of the timeline with 1,000,000 intervals in 4 ranks of 4 lanes, 1280 × 800 pixels.
#include "ui/style/theme.h"
#include "ui/views/timeline/timeline_canvas.h"

#include <benchmark/benchmark.h>

#include <QApplication>
#include <QImage>
#include <QMouseEvent>

#include <fstream>
#include <random>
#include <string>

namespace {

using namespace cuco;
using namespace cuco::ui;

constexpr int ranks = 4, lanes_of_rank = 4, intervals_of_lane = 62'500;

std::shared_ptr<const Timeline> millionIntervals()
{
    auto timeline = std::make_shared<Timeline>();
    timeline->title = "1,000,000 intervals";
    for (int i = 0; i < 40; ++i)
        timeline->nameIndex("kernel_" + std::to_string(i));
    std::mt19937 random(1);
    for (int rank = 0; rank < ranks; ++rank) {
        for (int number = 0; number < lanes_of_rank; ++number) {
            Lane lane{rank, "stream " + std::to_string(number), {}};
            std::int64_t end = 0;
            for (int i = 0; i < intervals_of_lane; ++i) {
                const std::int64_t begin = end + random() % 2000;
                end = begin + 200 + random() % 8000;
                lane.intervals.push_back(
                    {begin, end, static_cast<std::uint32_t>(random() % 40), 0, 0, static_cast<Activity>(random() % 5)});
            }
            timeline->lanes.push_back(std::move(lane));
        }
    }
    return timeline;
}

struct Stage {
    Stage()
    {
        canvas.resize(1280, 800);
        canvas.setTimeline(millionIntervals());
        canvas.show();
        QApplication::processEvents();
    }
    void paint() { canvas.viewport()->render(&frame); }

    TimelineCanvas canvas;
    QImage frame{1280, 800, QImage::Format_ARGB32_Premultiplied};
};

/// Pans by a tenth each frame, so that nothing is kept from the frame before. The argument: 1/n of the time is seen.
void pan(benchmark::State& state)
{
    Stage stage;
    const TimeRange extent = stage.canvas.extent();
    const double length = extent.length() / static_cast<double>(state.range(0));
    double begin = extent.begin_ns;
    for (auto _ : state) {
        begin += length / 10;
        if (begin + length > extent.end_ns)
            begin = extent.begin_ns;
        if (state.range(0) == 1)
            stage.canvas.setBound(begin);  // all is seen and cannot move: another line paints all again
        stage.canvas.setRange({begin, begin + length});
        stage.paint();
    }
}
BENCHMARK(pan)->ArgName("zoom")->Arg(1)->Arg(100)->Arg(10'000)->Unit(benchmark::kMillisecond);

/// Zooms about the whole, so that the geometry is made anew each frame.
void zoomOut(benchmark::State& state)
{
    Stage stage;
    const TimeRange extent = stage.canvas.extent();
    double share = 1;
    for (auto _ : state) {
        share = share > 0.9 ? 0.8 : share + 0.001;
        stage.canvas.setRange({0, extent.length() * share});
        stage.paint();
    }
}
BENCHMARK(zoomOut)->Unit(benchmark::kMillisecond);

void hover(benchmark::State& state)
{
    Stage stage;
    int x = 200;
    for (auto _ : state) {
        x = x > 1200 ? 200 : x + 1;
        QMouseEvent event(QEvent::MouseMove, QPointF(x, 100), QPointF(x, 100), Qt::NoButton, Qt::NoButton,
                          Qt::NoModifier);
        QApplication::sendEvent(stage.canvas.viewport(), &event);
        stage.paint();
    }
}
BENCHMARK(hover)->Unit(benchmark::kMillisecond);

void index(benchmark::State& state)
{
    const auto timeline = millionIntervals();
    for (auto _ : state)
        benchmark::DoNotOptimize(TimelineIndex(timeline));
}
BENCHMARK(index)->Unit(benchmark::kMillisecond);

std::string cpuName()
{
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("model name"))
            return line.substr(line.find(':') + 2);
    }
    return "unknown";
}

}  // namespace

int main(int argc, char** argv)
{
    if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM"))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication application(argc, argv);
    applyTheme(application, ColorScheme::light);
    benchmark::Initialize(&argc, argv);
    benchmark::AddCustomContext("cpu", cpuName());
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
}
