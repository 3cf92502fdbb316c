// SPDX-License-Identifier: Apache-2.0
// Where we are: #/page/argument.

import { computed, signal } from "@preact/signals";

const hash = signal(location.hash);
addEventListener("hashchange", () => { hash.value = location.hash; });

const parts = computed(() => {
  const [, page = "", ...rest] = hash.value.split("/");
  return { page: page || "now", argument: decodeURIComponent(rest.join("/")) };
});

export const page = computed(() => parts.value.page);
export const argument = computed(() => parts.value.argument);

export function link(to: string, about = ""): string {
  return `#/${to}${about ? `/${encodeURIComponent(about)}` : ""}`;
}

export function go(to: string, about = "") {
  location.hash = link(to, about);
}
