// SPDX-License-Identifier: Apache-2.0
#include "api/fields.h"

#include <gtest/gtest.h>

#include <functional>

namespace hearth::api {
namespace {

namespace json = boost::json;

struct BadBody {
  const char* name;
  std::string body;
};

class BodyOf : public testing::TestWithParam<BadBody> {};

TEST_P(BodyOf, IsRefused) {
  const auto parsed = parse_body(GetParam().body);
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().code(), ErrorCode::kInvalid);
}

INSTANTIATE_TEST_SUITE_P(Bytes, BodyOf,
                         testing::Values(BadBody{"Empty", ""}, BadBody{"Blank", " \n"},
                                         BadBody{"List", "[]"}, BadBody{"Text", "\"x\""},
                                         BadBody{"CutShort", "{\"a\":"},
                                         BadBody{"NoUtf8", "{\"a\":\"\xff\xfe\"}"},
                                         BadBody{"Latin1", "{\"a\":\"\xe9\"}"},
                                         BadBody{"LoneSurrogate", R"({"a":"\ud800"})"},
                                         BadBody{"TooDeep", "{\"a\":" + std::string(1000, '[')}),
                         [](const auto& test) { return test.param.name; });

TEST(Body, MayBeginWithAByteOrderMarkAndHoldNul) {
  EXPECT_TRUE(parse_body("\xef\xbb\xbf{}"));
  EXPECT_TRUE(parse_body(R"({"a":"\u0000"})"));
}

struct GetCase {
  const char* name;
  const char* body;
  void (*read)(const Fields&);
  const char* field;  // empty: no error
};

class Getter : public testing::TestWithParam<GetCase> {};

TEST_P(Getter, NamesTheFieldAtFault) {
  const json::object object = json::parse(GetParam().body).as_object();
  Fields::FirstError error;
  GetParam().read(Fields{object, "", error});
  EXPECT_EQ(error ? error->field() : "", GetParam().field);
}

void read_text(const Fields& f) { (void)f.text("x"); }
void read_required(const Fields& f) { (void)f.required_text("x"); }
void read_flag(const Fields& f) { (void)f.flag("x"); }
void read_integer(const Fields& f) { (void)f.integer("x", {0, 10}); }
void read_number(const Fields& f) { (void)f.number("x", {0, 1}); }
void read_inner(const Fields& f) {
  if (const auto inner = f.object("x")) (void)inner->flag("y");
}
void read_element(const Fields& f) {
  if (const auto* list = f.list("x")) {
    if (const auto inner = f.element("x", *list, 1)) (void)inner->text("y");
  }
}

INSTANTIATE_TEST_SUITE_P(
    Members, Getter,
    testing::Values(GetCase{"Text", R"({"x":"a"})", read_text, ""},
                    GetCase{"NullIsAbsent", R"({"x":null})", read_text, ""},
                    GetCase{"TextAsNumber", R"({"x":1})", read_text, "x"},
                    GetCase{"RequiredAbsent", R"({})", read_required, "x"},
                    GetCase{"RequiredEmpty", R"({"x":""})", read_required, "x"},
                    GetCase{"FlagAsText", R"({"x":"yes"})", read_flag, "x"},
                    GetCase{"FlagAsNumber", R"({"x":1})", read_flag, "x"},
                    GetCase{"Integer", R"({"x":10})", read_integer, ""},
                    GetCase{"IntegerWithPoint", R"({"x":5.0})", read_integer, ""},
                    GetCase{"IntegerTooLarge", R"({"x":11})", read_integer, "x"},
                    GetCase{"IntegerHuge", R"({"x":18446744073709551615})", read_integer, "x"},
                    GetCase{"IntegerFraction", R"({"x":1.5})", read_integer, "x"},
                    GetCase{"IntegerHugeDouble", R"({"x":1e300})", read_integer, "x"},
                    GetCase{"NumberFromInteger", R"({"x":1})", read_number, ""},
                    GetCase{"NumberOutside", R"({"x":-0.1})", read_number, "x"},
                    GetCase{"NumberAsText", R"({"x":"1"})", read_number, "x"},
                    GetCase{"Inner", R"({"x":{"y":"no"}})", read_inner, "x.y"},
                    GetCase{"InnerNoObject", R"({"x":[]})", read_inner, "x"},
                    GetCase{"Element", R"({"x":[{},{"y":1}]})", read_element, "x[1].y"},
                    GetCase{"ElementNoObject", R"({"x":[1,2]})", read_element, "x[1]"}),
    [](const auto& test) { return test.param.name; });

TEST(Fields, KeepsTheFirstError) {
  const json::object object = json::parse(R"({"a":1,"b":2})").as_object();
  Fields::FirstError error;
  const Fields body{object, "", error};
  (void)body.text("b");
  (void)body.text("a");
  EXPECT_EQ(error->field(), "b");
  EXPECT_NE(error->message().find("b: a string is expected, not a number"), std::string::npos);
}

}  // namespace
}  // namespace hearth::api
