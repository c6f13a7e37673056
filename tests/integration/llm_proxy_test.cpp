// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/child_process.h"
#include "core/llm/embedding.h"
#include "core/llm/provider.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_servers.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <nlohmann/json.hpp>

#include <csignal>
#include <thread>

namespace cuco {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* proxy_key = "sk-planted-proxy";
constexpr const char* proxy_answer = "Hello from the proxy.";

/// "relayed" goes through the proxy twice, so that its answers are translated from one protocol into the other.
constexpr const char* proxy_config = R"(
model_list:
  - model_name: answers
    litellm_params: {model: openai/gpt-4o-mini, api_key: unused, mock_response: "Hello from the proxy."}
  - model_name: relayed
    litellm_params: {model: openai/answers, api_key: sk-planted-proxy, api_base: os.environ/CUCO_PROXY_URL}
  - model_name: limited
    litellm_params: {model: openai/gpt-4o-mini, api_key: unused, mock_response: "litellm.RateLimitError"}
  - model_name: broken
    litellm_params: {model: openai/gpt-4o-mini, api_key: unused, mock_response: "litellm.InternalServerError"}
  - model_name: embeds
    litellm_params: {model: openai/text-embedding-3-small, api_key: unused, mock_response: [0.25, -0.5, 1.0]}
general_settings: {master_key: sk-planted-proxy}
litellm_settings: {use_chat_completions_url_for_anthropic_messages: true, num_retries: 0}
router_settings: {num_retries: 0, disable_cooldowns: true}
)";

int freePort()
{
    const UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), size);
    ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size);
    return ntohs(address.sin_port);
}

/// LiteLLM's proxy in a process group of its own, which ends with this.
class Proxy {
public:
    /// Nothing when it does not answer in time; `said` is then the end of what it wrote.
    static std::unique_ptr<Proxy> start(const std::filesystem::path& program, std::string& said)
    {
        auto proxy = std::unique_ptr<Proxy>(new Proxy);
        proxy->url_ = "http://127.0.0.1:" + std::to_string(freePort());
        testing::writeText(proxy->folder_ / "config.yaml", proxy_config);
        Command command;
        command.argv = {program.string(), "--config", (proxy->folder_ / "config.yaml").string(),      "--host",
                        "127.0.0.1",      "--port",   proxy->url_.substr(proxy->url_.rfind(':') + 1), "--telemetry",
                        "False"};
        command.environment = scrubbedEnvironment();
        command.environment["HOME"] = proxy->folder_.path().string();
        command.environment["CUCO_PROXY_URL"] = proxy->url_ + "/v1";
        command.environment["LITELLM_LOCAL_MODEL_COST_MAP"] = "True";  // else it asks the network for one
        command.environment["PYTHONDONTWRITEBYTECODE"] = "1";
        auto child = ChildProcess::start(command);
        if (!child)
            return nullptr;
        proxy->child_.emplace(std::move(*child));
        proxy->drain_ = std::jthread([raw = proxy.get()](const std::stop_token& stop) { raw->drain(stop); });
        const auto end = std::chrono::steady_clock::now() + 150s;
        while (std::chrono::steady_clock::now() < end && !proxy->child_->exited()) {
            if (proxy->listening())
                return proxy;
            std::this_thread::sleep_for(100ms);
        }
        said = proxy->said();
        return nullptr;
    }
    ~Proxy()
    {
        if (!child_)
            return;
        child_->killGroup();
        child_->waitForExit(10s);
        drain_ = {};
        child_->reap();
    }
    const std::string& url() const { return url_; }

private:
    Proxy() = default;

    /// uvicorn binds its port when the application is ready.
    bool listening() const
    {
        const UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(url_.substr(url_.rfind(':') + 1))));
        return ::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    }

    /// A pipe that nobody reads would stop it.
    void drain(const std::stop_token& stop)
    {
        std::array<char, 4096> buffer{};
        while (!stop.stop_requested()) {
            std::array<pollfd, 2> waited{{{child_->out.get(), POLLIN, 0}, {child_->err.get(), POLLIN, 0}}};
            ::poll(waited.data(), waited.size(), 100);
            bool ended = true;
            for (const pollfd& pipe : waited)
                if (const ssize_t count = ::read(pipe.fd, buffer.data(), buffer.size()); count != 0) {
                    ended = false;
                    const std::scoped_lock lock(mutex_);
                    said_.append(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(0, count)));
                    said_.erase(0, said_.size() - std::min<std::size_t>(said_.size(), 4000));
                }
            if (ended)
                return;
        }
    }
    std::string said()
    {
        const std::scoped_lock lock(mutex_);
        return said_;
    }

    testing::TemporaryFolder folder_;
    std::string url_, said_;
    std::mutex mutex_;
    std::optional<ChildProcess> child_;
    std::jthread drain_;
};

class LlmProxy : public ::testing::Test {
protected:
    static void SetUpTestSuite()
    {
        ::setenv("no_proxy", "localhost,127.0.0.1", 1);
        std::signal(SIGPIPE, SIG_IGN);
        if (const auto program = testing::testServerProgram("litellm"))
            proxy = Proxy::start(*program, said);
    }
    static void TearDownTestSuite() { proxy.reset(); }

    void SetUp() override
    {
        if (!testing::testServerProgram("litellm"))
            GTEST_SKIP() << "LiteLLM is not installed (packaging/test-servers installs it)";
        ASSERT_TRUE(proxy) << "LiteLLM's proxy did not start. It said: " << said;
    }

    static ProviderSettings settingsFor(const std::string& protocol, const std::string& model)
    {
        ProviderSettings settings{.provider = protocol, .model = model};
        settings.base_url = proxy->url() + (protocol == "openai" ? "/v1" : "");
        settings.key_name = "PROXY_KEY";
        settings.attempts = 2;
        settings.call_limit = 60s;
        return settings;
    }

    static ChatResult ask(const ProviderSettings& settings, bool stream, const Spending& spending = {},
                          const std::string& key = proxy_key)
    {
        const auto client = makeChatClient(
            settings, [&](const std::string&) { return Secret(key); }, spending);
        if (!client) {
            ADD_FAILURE() << describe(client.error());
            return std::unexpected(ChatError{});
        }
        ChatRequest request;
        request.model = settings.model;
        request.system = "You are terse.";
        request.cache_system = true;
        request.messages = {{.text = "Say hello.", .cacheable = true}};
        request.max_output_tokens = 64;
        request.stream = stream;
        return (*client)->complete(request, {});
    }

    static inline std::unique_ptr<Proxy> proxy;
    static inline std::string said;
};

TEST_F(LlmProxy, BothProtocolsAreUnderstoodStreamedAndInOnePiece)
{
    for (const std::string protocol : {"openai", "anthropic"})
        for (const std::string model : {"answers", "relayed"})
            for (const bool stream : {false, true}) {
                SCOPED_TRACE(protocol + " " + model + (stream ? " streamed" : " in one piece"));
                const auto result = ask(settingsFor(protocol, model), stream);
                ASSERT_TRUE(result) << describe(result.error().error);
                EXPECT_EQ(result->text, proxy_answer);
                EXPECT_EQ(result->stop_reason, StopReason::finished);
                EXPECT_TRUE(result->usage.reported);
                EXPECT_GT(result->usage.input, 0);
                EXPECT_GT(result->usage.output, 0);
                EXPECT_EQ(result->model, model);
            }
}

TEST_F(LlmProxy, AStreamOfEachProtocolComesInPieces)
{
    for (const std::string protocol : {"openai", "anthropic"}) {
        const auto result = ask(settingsFor(protocol, "relayed"), true);
        ASSERT_TRUE(result) << describe(result.error().error);
        EXPECT_THAT(result->raw_response, HasSubstr(protocol == "openai" ? "data: [DONE]" : "event: message_stop"));
    }
}

TEST_F(LlmProxy, TheCallIsSettledAtTheUsageThatTheProxyReports)
{
    ProviderSettings settings = settingsFor("openai", "answers");
    settings.prices = {{"", "answers", 100, 1000, 0, 0, 0, ""}};
    const Spending spending{std::make_shared<Budget>(5.0), {}};
    const auto result = ask(settings, true, spending);
    ASSERT_TRUE(result) << describe(result.error().error);
    const double cost =
        1e-6 * (100.0 * static_cast<double>(result->usage.input) + 1000.0 * static_cast<double>(result->usage.output));
    EXPECT_NEAR(spending.budget->state().spent_usd, cost, 1e-12);
}

TEST_F(LlmProxy, ItsFailuresHaveTheirClasses)
{
    for (const std::string protocol : {"openai", "anthropic"})
        for (const bool stream : {false, true}) {
            SCOPED_TRACE(protocol + (stream ? " streamed" : " in one piece"));
            const auto limited = ask(settingsFor(protocol, "limited"), stream);
            ASSERT_FALSE(limited);
            EXPECT_EQ(limited.error().kind, ChatErrorKind::rate_limit);
            EXPECT_EQ(limited.error().http_status, 429);
            EXPECT_EQ(limited.error().partial.attempts, 2);
            EXPECT_THAT(limited.error().error.what, HasSubstr("mock rate limit"));
            const auto broken = ask(settingsFor(protocol, "broken"), stream);
            ASSERT_FALSE(broken);
            EXPECT_EQ(broken.error().kind, ChatErrorKind::server);
            const auto unknown = ask(settingsFor(protocol, "nobody"), stream);
            ASSERT_FALSE(unknown);
            EXPECT_EQ(unknown.error().http_status, 400);
            EXPECT_THAT(unknown.error().error.what, HasSubstr("nobody"));
        }
}

TEST_F(LlmProxy, AWrongKeyIsRefusedAndNotRepeated)
{
    const auto result = ask(settingsFor("openai", "answers"), false, {}, "sk-planted-wrong-key");
    ASSERT_FALSE(result);
    EXPECT_GE(result.error().http_status, 400);
    EXPECT_THAT(describe(result.error().error) + result.error().partial.raw_response,
                ::testing::Not(HasSubstr("sk-planted-wrong-key")));
}

TEST_F(LlmProxy, EmbeddingsAreRead)
{
    ProviderSettings settings = settingsFor("openai", "answers");
    settings.embedding_model = "embeds";
    const auto client = makeEmbeddingClient(settings, [](const std::string&) { return Secret(proxy_key); });
    ASSERT_TRUE(client) << describe(client.error());
    const auto result = (*client)->complete(embeddingRequest("embeds", "a text"), {});
    ASSERT_TRUE(result) << describe(result.error().error);
    EXPECT_THAT(embeddingOf(*result).value(), ElementsAre(0.25f, -0.5f, 1.0f));
}

}  // namespace
}  // namespace cuco
