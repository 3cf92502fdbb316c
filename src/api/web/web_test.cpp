// SPDX-License-Identifier: Apache-2.0
#include "api/web/web.h"

#include <gtest/gtest.h>

#include "api/api.h"
#include "api/testing/fake_exchange.h"
#include "api/testing/fake_service.h"
#include "api/web/web_assets.h"

namespace hearth::api {
namespace {

using testing::FakeExchange;
using testing::FakeService;

class Web : public ::testing::Test {
 protected:
  FakeExchange get(std::string path, http::Headers headers = {}) {
    FakeExchange exchange{"GET", std::move(path)};
    for (http::Header& header : headers) exchange.edit().headers.push_back(std::move(header));
    loop.spawn(handle(service, exchange));
    loop.run_ready();
    return exchange;
  }

  SimEventLoop loop;
  FakeService service{loop};
};

const http::Header kBrowser{"Accept", "text/html,application/xhtml+xml,*/*;q=0.8"};

TEST_F(Web, BrowsersGetAPageOthersALine) {
  EXPECT_EQ(get("/").body, "Hearth is running");
  EXPECT_EQ(get("/", {{"Accept", "*/*"}}).body, "Hearth is running");
  const FakeExchange page = get("/", {kBrowser});
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.header("Content-Type"), "text/html; charset=utf-8");
  EXPECT_EQ(page.header("Content-Encoding"), "gzip");
  EXPECT_TRUE(page.body.starts_with("\x1f\x8b"));
}

TEST_F(Web, EveryFileIsServedWithItsRules) {
  ASSERT_FALSE(web_assets().empty());
  for (const WebAsset& asset : web_assets()) {
    const FakeExchange file = get("/ui/" + std::string{asset.path});
    EXPECT_EQ(file.status, 200) << asset.path;
    EXPECT_EQ(file.header("ETag"), asset.etag);
    EXPECT_EQ(file.header("X-Content-Type-Options"), "nosniff");
    EXPECT_NE(file.header("Content-Security-Policy").find("frame-ancestors 'none'"),
              std::string::npos);
    EXPECT_EQ(file.body.size(), asset.gzip.size());
  }
}

TEST_F(Web, WhoHasAFileIsNotSentItAgain) {
  const std::string tag{web_assets().front().etag};
  const std::string path = "/ui/" + std::string{web_assets().front().path};
  const FakeExchange known = get(path, {{"If-None-Match", "\"other\", " + tag}});
  EXPECT_EQ(known.status, 304);
  EXPECT_TRUE(known.body.empty());
  EXPECT_EQ(known.header("ETag"), tag);
  EXPECT_EQ(get(path, {{"If-None-Match", "\"other\""}}).status, 200);
}

TEST_F(Web, RefusesWhatIsNotThere) {
  EXPECT_EQ(get("/ui/none.js").status, 404);
  EXPECT_EQ(get("/ui/index.html", {{"Accept-Encoding", "identity"}}).status, 406);
}

}  // namespace
}  // namespace hearth::api
