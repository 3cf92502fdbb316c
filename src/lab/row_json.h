// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json.hpp>
#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/json.h"

namespace hearth::lab {

// Members of a struct into a JSON object, one call each; what is unset or empty is left out, and so
// is a number that JSON has no word for.
class MemberWriter {
 public:
  void operator()(const char* name, double value) {
    if (value - value == 0) object_[name] = value;
  }
  template <std::integral Number>
  void operator()(const char* name, Number value) {
    object_[name] = value;
  }
  void operator()(const char* name, Bytes value) { object_[name] = value.count(); }
  void operator()(const char* name, const std::string& text) {
    if (!text.empty()) object_[name] = repair_utf8(text);
  }
  template <class T>
  void operator()(const char* name, const std::optional<T>& value) {
    if (value) (*this)(name, *value);
  }
  template <class T>
  void operator()(const char* name, const std::map<std::string, T>& values) {
    MemberWriter members;
    for (const auto& [key, value] : values) members(repair_utf8(key).c_str(), value);
    add(name, std::move(members));
  }
  void operator()(const char* name, const std::vector<std::string>& texts) {
    boost::json::array array;
    for (const std::string& text : texts) array.emplace_back(repair_utf8(text));
    if (!array.empty()) object_[name] = std::move(array);
  }
  void add(const char* name, MemberWriter&& members) {
    if (!members.object_.empty()) object_[name] = std::move(members.object_);
  }

  boost::json::object take() { return std::move(object_); }

 private:
  boost::json::object object_;
};

// The way back: what is missing leaves the member as it is; what is of another kind is remembered.
class MemberReader {
 public:
  explicit MemberReader(const boost::json::object& object) : object_{&object} {}

  template <std::same_as<double> Number>
  void operator()(const char* name, Number& into) {
    read(name, [&](const boost::json::value& v) { return v.is_number() && take(v, into); });
  }
  template <std::integral Number>
  void operator()(const char* name, Number& into) {
    read(name, [&](const boost::json::value& v) { return v.is_number() && take(v, into); });
  }
  void operator()(const char* name, bool& into) {
    read(name, [&](const boost::json::value& v) {
      if (v.is_bool()) into = v.get_bool();
      return v.is_bool();
    });
  }
  void operator()(const char* name, Bytes& into) {
    std::uint64_t count = 0;
    (*this)(name, count);
    if (object_->contains(name)) into = Bytes{count};
  }
  void operator()(const char* name, std::string& into) {
    read(name, [&](const boost::json::value& v) {
      if (v.is_string()) into = v.as_string();
      return v.is_string();
    });
  }
  template <class T>
  void operator()(const char* name, std::optional<T>& into) {
    if (object_->contains(name)) (*this)(name, into.emplace());
  }
  template <class T>
  void operator()(const char* name, std::map<std::string, T>& into) {
    MemberReader members = below(name);
    for (const auto& [key, value] : *members.object_) {
      const std::string of{key};
      members(of.c_str(), into[of]);
    }
    add(members);
  }
  void operator()(const char* name, std::vector<std::string>& into) {
    read(name, [&](const boost::json::value& v) {
      if (!v.is_array()) return false;
      for (const auto& each : v.as_array()) {
        if (!each.is_string()) return false;
        into.emplace_back(each.as_string());
      }
      return true;
    });
  }

  // An empty one where there is none. It lives no longer than this one's object.
  MemberReader below(const char* name) {
    static const boost::json::object kNone;
    MemberReader members{kNone};
    read(name, [&](const boost::json::value& v) {
      if (v.is_object()) members.object_ = &v.as_object();
      return v.is_object();
    });
    return members;
  }
  void add(const MemberReader& members) {
    if (wrong_.empty()) wrong_ = members.wrong_;
  }

  // The first member that was of another kind than expected; empty: none.
  const std::string& wrong() const { return wrong_; }

 private:
  template <class Take>
  void read(const char* name, Take&& take_it) {
    const boost::json::value* found = object_->if_contains(name);
    if (found != nullptr && !take_it(*found) && wrong_.empty()) wrong_ = name;
  }
  template <class Number>
  static bool take(const boost::json::value& value, Number& into) {
    boost::json::error_code inexact;
    const auto number = value.to_number<Number>(inexact);
    if (!inexact) into = number;
    return !inexact;
  }

  const boost::json::object* object_;
  std::string wrong_;
};

}  // namespace hearth::lab
