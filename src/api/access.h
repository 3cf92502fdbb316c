// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "front/access_rules.h"
#include "http/message.h"

namespace hearth::api {

struct Arrival {
  std::optional<std::string> refusal;  // what is wrong; nothing where all is well
  std::string origin;                  // whose page asks, as it was sent; empty: no page
};

// Keeps web pages from using a server on their visitor's machine. A page that rebinds its own DNS
// name to this address still sends that name as Host, and any page of another site sends its
// Origin.
//
// Host is known when it is an address, a name that nobody can register (a single label, localhost,
// *.localhost, *.local, *.internal), or in `rules.hosts`: a name, "*.home.example" for all names
// below one, "*" for all. Ports are not looked at. HTTP/1.0 clients may leave Host out.
//
// Origin is allowed when its page comes from the very host that was called (on any port), from a
// loopback address, or under a name that nobody can register; when it is a desktop program's own
// scheme (app, file, tauri, vscode-file, vscode-webview), which no web page can have; or when
// `rules.origins` lists it. `rules.hosts` says nothing about pages of other hosts than the one
// called: its "*" opens this server to every name, and not to every page.
//   "https://chat.home.example"   this one; a port counts, unless it is the scheme's own
//   "https://*.home.example"      names below one
//   "http://box:*"                any port
//   "chrome-extension://*"        all of a scheme
//   "chat.home.example"           http and https, any port
//   "null"                        pages without an origin: files, sandboxed frames
//   "*"                           all but "null"
Arrival arrival_of(const http::HttpRequest& request, const front::AccessRules& rules);

}  // namespace hearth::api
