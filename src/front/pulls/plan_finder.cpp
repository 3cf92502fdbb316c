// SPDX-License-Identifier: Apache-2.0
#include "front/pulls/plan_finder.h"

#include <utility>

#include "base/log.h"
#include "layers/artifact/source/ollama_registry.h"
#include "layers/artifact/source/plan_text.h"

namespace hearth::front {
namespace {

constexpr int kUnauthorized = 401;
constexpr int kForbidden = 403;
constexpr int kOk = 200;
constexpr int kPartialContent = 206;

std::string header_of(const wire::FetchedText& answer, std::string_view name) {
  for (const wire::HttpField& field : answer.headers) {
    if (field.name == name) return field.value;
  }
  return {};
}

IndexAnswer answer_of(wire::FetchedText text) {
  IndexAnswer answer;
  answer.status = text.status;
  for (wire::HttpField& field : text.headers) {
    answer.headers.push_back({std::move(field.name), std::move(field.value)});
  }
  answer.body = std::move(text.body);
  return answer;
}

// Nobody on the way can read what is sent there.
bool is_private(const std::string& endpoint) {
  const Result<HttpUrl> url = HttpUrl::parse(endpoint);
  if (!url) return false;
  return url->scheme == "https" || url->host == "localhost" || url->host == "::1" ||
         url->host.starts_with("127.");
}

wire::FetchText question_of(const IndexRequest& request) {
  wire::FetchText question;
  question.url = request.url;
  question.limit = request.limit;
  for (const HeaderField& field : request.headers) {
    question.headers.push_back({field.name, field.value});
  }
  return question;
}

}  // namespace

PlanFinder::PlanFinder(World world, ModelSource source, Fetcher& fetcher)
    : world_{std::move(world)}, source_{std::move(source)}, fetcher_{fetcher} {}

std::vector<wire::HttpField> PlanFinder::headers_for(const std::string& url) const {
  const Result<HttpUrl> file = HttpUrl::parse(url);
  const Result<HttpUrl> own = HttpUrl::parse(source_.endpoint);
  if (!credentials_ || !file || !own || file->origin() != own->origin()) return {};
  return {{credentials_->name, credentials_->value}};
}

Task<Result<>> PlanFinder::take_token() {
  // A mirror that somebody else named, "http://nas.lan/...", is not who the token is for.
  if (source_.kind != SourceKind::kHuggingFace || !source_.configured || !world_.token) {
    co_return Result<>{};
  }
  auto job = world_.token;
  const std::string token = co_await world_.disk.run(world_.loop, std::move(job));
  if (token.empty()) co_return Result<>{};
  if (!is_private(source_.endpoint)) {
    log::warn("pull.token_not_sent",
              {{"server", source_.endpoint}, {"why", "it would go there in clear text"}});
    co_return Result<>{};
  }
  Result<HeaderField> header = bearer(token);
  if (!header) co_return Failed{std::move(header).error()};
  credentials_ = std::move(*header);
  co_return Result<>{};
}

// A registry gives its tokens out where it refuses, so its index is asked though it is known.
Task<Result<>> PlanFinder::prepare() {
  Result<> taken = co_await take_token();
  if (!taken || source_.kind != SourceKind::kRegistry) co_return taken;
  std::optional<IndexRequest> request = index_request(source_);
  if (!request) co_return Result<>{};
  const Result<IndexAnswer> answer = co_await ask(std::move(*request));
  if (!answer) co_return Failed{answer.error()};
  co_return Result<>{};
}

Task<Result<IndexAnswer>> PlanFinder::ask(IndexRequest request) {
  wire::FetchText question = question_of(request);
  for (wire::HttpField& field : headers_for(request.url))
    question.headers.push_back(std::move(field));
  Result<wire::FetchedText> text = co_await fetcher_.text(std::move(question));
  if (!text) co_return Failed{std::move(text).error()};
  IndexAnswer answer = answer_of(std::move(*text));
  answer.with_token = credentials_.has_value();
  const bool may_ask_again = source_.kind == SourceKind::kRegistry && !credentials_;
  if (answer.status != kUnauthorized || !may_ask_again) co_return answer;
  co_return co_await ask_registry_again(std::move(request), std::move(answer));
}

Task<Result<IndexAnswer>> PlanFinder::ask_registry_again(IndexRequest request,
                                                         IndexAnswer refused) {
  const Result<IndexRequest> wanted = registry::token_request(source_, refused);
  if (!wanted) co_return Failed{wanted.error()};
  wire::FetchText question = question_of(*wanted);
  Result<wire::FetchedText> text = co_await fetcher_.text(std::move(question));
  if (!text) co_return Failed{std::move(text).error()};
  Result<HeaderField> header = registry::token_header(answer_of(std::move(*text)));
  if (!header) co_return Failed{std::move(header).error()};
  credentials_ = std::move(*header);
  co_return co_await ask(std::move(request));
}

Task<Result<FetchPlan>> PlanFinder::find() {
  Result<> taken = co_await take_token();
  if (!taken) co_return Failed{std::move(taken).error()};
  IndexAnswer answer;
  if (std::optional<IndexRequest> request = index_request(source_)) {
    Result<IndexAnswer> asked = co_await ask(std::move(*request));
    if (!asked) co_return Failed{std::move(asked).error()};
    answer = std::move(*asked);
  }
  Result<FetchPlan> plan = plan_of(source_, answer);
  if (!plan) co_return plan;
  Result<> texts = co_await fetch_texts(&*plan);
  if (!texts) co_return Failed{std::move(texts).error()};
  co_return plan;
}

// Asks for one byte, since what is wanted is its header. A server that sends all of it instead has
// said too much for a text, and then nothing is known.
Task<bool> PlanFinder::is_unchanged(hearth::Origin::File file) {
  // A date says nothing of what was written twice within its second.
  if (!file.etag.starts_with("\"")) co_return false;
  wire::FetchText question;
  question.url = file.url;
  question.headers = headers_for(file.url);
  question.headers.push_back({"Range", "bytes=0-0"});
  question.limit = Bytes{1};
  const Result<wire::FetchedText> answer = co_await fetcher_.text(std::move(question));
  if (!answer || answer->status != kPartialContent) co_return false;
  const std::string size = "/" + std::to_string(file.size.count());
  const bool same_size = header_of(*answer, "content-range").ends_with(size);
  co_return same_size&& header_of(*answer, "etag") == file.etag;
}

Task<std::optional<Error>> PlanFinder::refusal(std::string url) {
  if (source_.kind != SourceKind::kHuggingFace) co_return std::nullopt;
  wire::FetchText question;
  question.headers = headers_for(url);
  question.url = std::move(url);
  question.headers.push_back({"Range", "bytes=0-0"});
  question.limit = Bytes{1};
  const Result<wire::FetchedText> text = co_await fetcher_.text(std::move(question));
  const bool refused = text && (text->status == kUnauthorized || text->status == kForbidden);
  if (!refused) co_return std::nullopt;
  IndexAnswer answer = answer_of(*text);
  answer.with_token = credentials_.has_value();
  const Result<FetchPlan> plan = plan_of(source_, answer);
  if (plan) co_return std::nullopt;
  co_return plan.error();
}

Task<Result<>> PlanFinder::fetch_texts(FetchPlan* plan) {
  for (const PlannedFile& file : std::vector<PlannedFile>{plan->texts}) {
    wire::FetchText question;
    question.url = file.url;
    question.limit = kMaxPlanText;
    question.headers = headers_for(file.url);
    const Result<wire::FetchedText> text = co_await fetcher_.text(std::move(question));
    if (!text) co_return Failed{text.error()};
    if (text->status != kOk) {
      co_return fail(
          ErrorCode::kUnavailable,
          "the " + file.name + " of the model: the server says " + std::to_string(text->status));
    }
    if (Result<> applied = apply_text(*plan, file, text->body); !applied) co_return applied;
  }
  co_return Result<>{};
}

}  // namespace hearth::front
