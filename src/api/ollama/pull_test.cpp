// SPDX-License-Identifier: Apache-2.0
//
// /api/pull, /api/create and /api/blobs.
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "api/api.h"
#include "api/testing/fake_exchange.h"
#include "api/testing/fake_service.h"

namespace hearth::api {
namespace {

namespace json = boost::json;
using testing::FakeExchange;
using testing::FakeService;

class OllamaFiles : public ::testing::Test {
 protected:
  void start(FakeExchange& exchange) {
    loop.spawn(handle(service, exchange, options));
    loop.run_ready();
  }
  void give(front::TransferEvent event) {
    service.transfer.events.push(std::move(event));
    loop.run_ready();
  }
  void give_progress(std::string stage, std::int64_t done = 0) {
    front::TransferProgress event;
    event.stage = std::move(stage);
    event.file = "smol.gguf";
    event.digest = "sha256:0123456789abcdef0123";
    event.done = done;
    event.total = 90;
    give(std::move(event));
  }

  SimEventLoop loop;
  FakeService service{loop};
  ApiOptions options{&loop.clock()};
};

TEST_F(OllamaFiles, PullSpeaksAsItsClientsExpect) {
  FakeExchange exchange{"POST", "/api/pull", R"({"name":"smol:1b","insecure":true})"};
  start(exchange);
  EXPECT_EQ(service.called, "pull smol:1b ");
  EXPECT_TRUE(service.pulled.insecure);
  for (const char* stage : {"queue", "metadata"}) give_progress(stage);
  give_progress("download");
  give_progress("download", 30);
  for (const char* stage : {"verify", "verify", "install"}) give_progress(stage);
  give(front::TransferDone{});
  EXPECT_EQ(exchange.header("Content-Type"), "application/x-ndjson");
  EXPECT_EQ(exchange.body,
            "{\"status\":\"pulling manifest\"}\n"
            "{\"status\":\"pulling 0123456789ab\",\"digest\":\"sha256:0123456789abcdef0123\","
            "\"total\":90}\n"
            "{\"status\":\"pulling 0123456789ab\",\"digest\":\"sha256:0123456789abcdef0123\","
            "\"total\":90,\"completed\":30}\n"
            "{\"status\":\"pulling 0123456789ab\",\"digest\":\"sha256:0123456789abcdef0123\","
            "\"total\":90,\"completed\":90}\n"
            "{\"status\":\"verifying sha256 digest\"}\n"
            "{\"status\":\"writing manifest\"}\n"
            "{\"status\":\"success\"}\n");
  EXPECT_TRUE(exchange.ended);
}

TEST_F(OllamaFiles, PullOfWhatIsThereSaysTheSame) {
  FakeExchange exchange{"POST", "/api/pull", R"({"model":"smol"})"};
  start(exchange);
  give(front::TransferDone{});
  EXPECT_TRUE(exchange.body.starts_with("{\"status\":\"pulling manifest\"}\n"));
  EXPECT_TRUE(exchange.body.ends_with("{\"status\":\"success\"}\n"));
}

TEST_F(OllamaFiles, PullWithoutAStream) {
  FakeExchange exchange{"POST", "/api/pull", R"({"model":"smol","stream":false})"};
  start(exchange);
  give_progress("download", 30);
  give(front::TransferDone{});
  EXPECT_EQ(exchange.body, R"({"status":"success"})");
}

TEST_F(OllamaFiles, PullErrorsAreLinesOrStatuses) {
  FakeExchange early{"POST", "/api/pull", R"({"model":"smol"})"};
  start(early);
  give(Error{ErrorCode::kNotFound, "the registry has no smol"});
  EXPECT_EQ(early.status, 404);
  EXPECT_EQ(early.body, R"({"error":"the registry has no smol"})");
  FakeExchange late{"POST", "/api/pull", R"({"model":"smol"})"};
  start(late);
  give_progress("download", 30);
  give(Error{ErrorCode::kNoSpace, "4 GiB are missing on /secret/data"});
  EXPECT_EQ(late.status, 200);
  EXPECT_TRUE(late.body.ends_with("\n{\"error\":\"4 GiB are missing on data\"}\n")) << late.body;
}

TEST_F(OllamaFiles, PullCallsTheFieldAsItsClientsDo) {
  for (const char* body : {R"({"model":"!"})", R"({"model":"!","stream":false})"}) {
    FakeExchange exchange{"POST", "/api/pull", body};
    start(exchange);
    give(Error{ErrorCode::kInvalid, "no such form"}.at("source"));
    EXPECT_EQ(exchange.status, 400);
    EXPECT_EQ(json::parse(exchange.body).at("field"), "model");
  }
}

TEST_F(OllamaFiles, PushIsRefusedWithTheReason) {
  FakeExchange exchange{"POST", "/api/push", R"({"model":"smol"})"};
  start(exchange);
  EXPECT_EQ(exchange.status, 501);
  EXPECT_NE(exchange.body.find("not uploaded"), std::string::npos);
}

TEST_F(OllamaFiles, CreateReadsAllThatIsSaid) {
  FakeExchange exchange{"POST", "/api/create", R"({"model":"pirate","from":"smol",
      "system":"arr","template":"t","license":["a","b"],"adapters":{"x.gguf":"sha256:1"},
      "parameters":{"temperature":0,"stop":["x"],"mirostat":1,"seed":null},
      "messages":[{"role":"user","content":"hi"}]})"};
  service.catalogue.front().digest = "ab";
  start(exchange);
  const front::CreateRequest& made = service.created;
  EXPECT_EQ(made.name, "pirate");
  EXPECT_EQ(made.from, "smol");
  EXPECT_EQ(made.system, "arr");
  EXPECT_EQ(made.chat_template, "t");
  EXPECT_EQ(made.license, "a\n\nb");
  ASSERT_EQ(made.adapters.size(), 1U);
  EXPECT_EQ(made.adapters.front().second, "sha256:1");
  EXPECT_EQ(json::parse(made.parameters),
            json::parse(R"({"temperature":0,"stop":["x"],"mirostat":1})"));
  EXPECT_EQ(json::parse(made.messages), json::parse(R"([{"role":"user","content":"hi"}])"));
  EXPECT_EQ(exchange.body,
            "{\"status\":\"using existing layer sha256:1\"}\n"
            "{\"status\":\"using existing layer sha256:ab\"}\n"
            "{\"status\":\"writing manifest\"}\n{\"status\":\"success\"}\n");
}

TEST_F(OllamaFiles, CreateReadsAModelfile) {
  FakeExchange exchange{"POST", "/api/create", R"({"name":"pirate","stream":false,
      "modelfile":"FROM smol\nSYSTEM arr\nPARAMETER temperature 0\n"})"};
  start(exchange);
  EXPECT_EQ(exchange.body, R"({"status":"success"})");
  EXPECT_EQ(service.created.from, "smol");
  EXPECT_EQ(service.created.system, "arr");
  EXPECT_EQ(json::parse(service.created.parameters).at("temperature").to_number<double>(), 0);
}

struct RefusedCreate {
  const char* name;
  const char* body;
  const char* field;
};
class CreateRefusal : public OllamaFiles, public ::testing::WithParamInterface<RefusedCreate> {};

TEST_P(CreateRefusal, NamesTheField) {
  FakeExchange exchange{"POST", "/api/create", GetParam().body};
  start(exchange);
  EXPECT_EQ(exchange.status, 400);
  EXPECT_EQ(json::parse(exchange.body).at("field"), GetParam().field) << exchange.body;
  EXPECT_EQ(service.called, "");
}

INSTANTIATE_TEST_SUITE_P(
    Ollama, CreateRefusal,
    ::testing::Values(
        RefusedCreate{"NoName", R"({"from":"smol"})", "model"},
        RefusedCreate{"OfNothing", R"({"model":"x"})", "from"},
        RefusedCreate{"OfEmptyThings", R"({"model":"x","from":"","files":{}})", "from"},
        RefusedCreate{"OfTwo", R"({"model":"x","from":"a","files":{"a":"sha256:1"}})", "from"},
        RefusedCreate{"OfAPath", R"({"model":"x","path":"/m/a.gguf"})", "path"},
        RefusedCreate{"Quantized", R"({"model":"x","from":"a","quantize":"q4_0"})", "quantize"},
        RefusedCreate{"Rendered", R"({"model":"x","from":"a","renderer":"r"})", "renderer"},
        RefusedCreate{"NoSuchOption", R"({"model":"x","from":"a","parameters":{"temprature":1}})",
                      "parameters.temprature"},
        RefusedCreate{"BadOption", R"({"model":"x","from":"a","parameters":{"top_p":7}})",
                      "parameters.top_p"},
        RefusedCreate{"Digest", R"({"model":"x","files":{"a":5}})", "files.a"},
        RefusedCreate{"License", R"({"model":"x","from":"a","license":[5]})", "license[0]"},
        RefusedCreate{"Role", R"({"model":"x","from":"a","messages":[{"role":"tool"}]})",
                      "messages[0].role"},
        RefusedCreate{"Modelfile", R"({"model":"x","modelfile":"FORM a"})", "modelfile"},
        RefusedCreate{"ModelfileOfAPath", R"({"model":"x","modelfile":"FROM ./a.gguf"})",
                      "modelfile"}),
    [](const auto& test) { return test.param.name; });

// ---- blobs ----

constexpr const char* kBlob = "/api/blobs/sha256:ab";

TEST_F(OllamaFiles, ABlobIsThereOrNot) {
  FakeExchange absent{"HEAD", kBlob};
  start(absent);
  EXPECT_EQ(service.called, "blob sha256:ab");
  EXPECT_EQ(absent.status, 404);
  service.blob_size = Bytes{5};
  FakeExchange present{"HEAD", kBlob};
  start(present);
  EXPECT_EQ(present.status, 200);
  FakeExchange got{"GET", kBlob};
  start(got);
  EXPECT_EQ(got.status, 405);
}

TEST_F(OllamaFiles, ABlobComesInPieces) {
  FakeExchange exchange{"POST", kBlob};
  exchange.edit().headers.push_back({"Content-Length", "6"});
  exchange.chunks = {"abc", "de", "f"};
  start(exchange);
  EXPECT_EQ(exchange.status, 201);
  EXPECT_EQ(service.called, "receive_blob sha256:ab");
  EXPECT_EQ(service.uploaded.bytes, "abcdef");
  EXPECT_TRUE(service.uploaded.finished);
}

TEST_F(OllamaFiles, ABlobThatIsThereIsHeardOut) {
  service.blob_size = Bytes{5};
  FakeExchange exchange{"POST", kBlob};
  exchange.chunks = {"abc", "de"};
  start(exchange);
  EXPECT_EQ(exchange.status, 200);
  EXPECT_TRUE(exchange.chunks.empty());
  FakeExchange asking{"POST", kBlob};
  asking.edit().headers.push_back({"Expect", "100-continue"});
  asking.chunks = {"abc"};
  start(asking);
  EXPECT_EQ(asking.status, 200);
  EXPECT_EQ(asking.chunks.size(), 1U) << "not even invited";
}

TEST_F(OllamaFiles, ABlobWithAnotherDigestIsNotKept) {
  service.uploaded.refusal = Error{ErrorCode::kInvalid, "the content is sha256:cd"};
  FakeExchange exchange{"POST", kBlob};
  exchange.chunks = {"abc"};
  start(exchange);
  EXPECT_EQ(exchange.status, 400);
  EXPECT_EQ(exchange.body, R"({"error":"the content is sha256:cd"})");
  EXPECT_TRUE(service.uploaded.dropped);
}

TEST_F(OllamaFiles, ABlobThatStopsIsDropped) {
  FakeExchange exchange{"POST", kBlob};
  exchange.chunks = {"abc", std::string{FakeExchange::kCutHere}};
  start(exchange);
  EXPECT_EQ(exchange.answers, 0);
  EXPECT_TRUE(service.uploaded.dropped);
}

TEST_F(OllamaFiles, OnlyBlobsAreStreamed) {
  const auto delivery = [](const char* method, const char* path) {
    return body_delivery(FakeExchange{method, path}.request());
  };
  EXPECT_EQ(delivery("POST", kBlob), http::BodyDelivery::kStreamed);
  EXPECT_EQ(delivery("HEAD", kBlob), http::BodyDelivery::kWhole);
  EXPECT_EQ(delivery("POST", "/api/create"), http::BodyDelivery::kWhole);
  EXPECT_EQ(delivery("PUT", "/nowhere"), http::BodyDelivery::kWhole);
}

}  // namespace
}  // namespace hearth::api
