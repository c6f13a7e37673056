// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "processes.h"

#include "report.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <map>
#include <thread>

namespace cuco_harness {
namespace {

std::string contentOf(int descriptor)
{
    std::string text;
    char buffer[1 << 16];
    lseek(descriptor, 0, SEEK_SET);
    for (ssize_t got; (got = read(descriptor, buffer, sizeof buffer)) > 0;)
        text.append(buffer, size_t(got));
    return text;
}

class Children {
public:
    explicit Children(const std::function<void(size_t, int)>& body) : body_(body) {}

    std::vector<Reported> run(size_t count)
    {
        const size_t most = std::max(1u, std::thread::hardware_concurrency());
        while ((!failed_ && reports_.size() < count) || !running_.empty()) {
            if (!failed_ && reports_.size() < count && running_.size() < most)
                begin();
            else
                waitForOne();
        }
        return std::move(reports_);
    }

private:
    void begin()
    {
        const size_t number = reports_.size();
        reports_.emplace_back();
        const int descriptor = memfd_create("report", MFD_CLOEXEC);
        const pid_t child = descriptor < 0 ? -1 : fork();
        if (child == 0) {
            body_(number, descriptor);
            _exit(0);
        }
        if (child < 0) {
            failed_ = true;
            reports_.back().text = environmentLine();
            return;
        }
        running_[child] = {number, descriptor};
    }

    void waitForOne()
    {
        int status = 0;
        const pid_t child = waitpid(-1, &status, 0);
        const auto found = running_.find(child);
        if (found == running_.end()) {
            if (child < 0 && errno != EINTR)
                _exit(1);  // somebody else has waited for them
            return;
        }
        const auto [number, descriptor] = found->second;
        running_.erase(found);
        Reported& report = reports_[number];
        report.status = status;
        report.text = contentOf(descriptor);
        close(descriptor);
        const std::string end = ReportLine("done").text() + "\n";
        report.complete = report.text.ends_with(end);
        if (report.complete)
            report.text.resize(report.text.size() - end.size());
        failed_ = failed_ || !report.complete || report.text.find("{\"event\":\"failure\"") != std::string::npos;
    }

    static std::string environmentLine()
    {
        Failure failure;
        failure.kind = "environment";
        failure.message = "The harness cannot start a process of its own.";
        return failure.toLine().text() + "\n";
    }

    const std::function<void(size_t, int)>& body_;
    std::vector<Reported> reports_;
    struct Child {
        size_t number;
        int descriptor;
    };
    std::map<pid_t, Child> running_;
    bool failed_ = false;
};

}  // namespace

std::vector<Reported> inProcesses(size_t count, const std::function<void(size_t, int)>& body)
{
    return Children(body).run(count);
}

}  // namespace cuco_harness
