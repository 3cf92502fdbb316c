// SPDX-License-Identifier: Apache-2.0
// Talking to the server that this page came from. The key, where one is wanted, stays in this tab.

import { signal } from "@preact/signals";

const KEY = "hearth-key";

export const key = signal(sessionStorage.getItem(KEY) ?? "");
// Why a key is asked for; empty: it is not.
export const keyWanted = signal("");

export class ApiError extends Error {
  constructor(readonly status: number, message: string) {
    super(message);
  }
}

export function setKey(value: string) {
  key.value = value;
  if (value) sessionStorage.setItem(KEY, value);
  else sessionStorage.removeItem(KEY);
  keyWanted.value = "";
}

async function refusal(response: Response): Promise<ApiError> {
  let message = response.statusText;
  try {
    const body = await response.json();
    message = body.error?.message ?? body.error ?? message;
  } catch {
    // no JSON: the status says what there is to say
  }
  if (response.status === 401) {
    keyWanted.value = key.value ? "This key is not known to the server." : "This server wants a key.";
  }
  return new ApiError(response.status, message);
}

// Errors: ApiError with the server's words, TypeError when it cannot be reached, AbortError.
export async function ask(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  if (key.value) headers.set("Authorization", `Bearer ${key.value}`);
  if (init.body) headers.set("Content-Type", "application/json");
  const response = await fetch(path, { ...init, headers, cache: "no-store" });
  if (!response.ok) throw await refusal(response);
  return response;
}

export async function get<T>(path: string, signalled?: AbortSignal): Promise<T> {
  return (await ask(path, signalled ? { signal: signalled } : {})).json();
}

export async function post<T>(path: string, body: unknown): Promise<T> {
  return (await ask(path, { method: "POST", body: JSON.stringify(body) })).json();
}

// Lines of a body as they come.
export async function* lines(response: Response): AsyncGenerator<string> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    rest += value;
    let end;
    while ((end = rest.indexOf("\n")) >= 0) {
      yield rest.slice(0, end);
      rest = rest.slice(end + 1);
    }
  }
  if (rest) yield rest;
}

export function textOf(error: unknown): string {
  if (error instanceof ApiError) return error.message;
  if (error instanceof TypeError) return "The server cannot be reached.";
  return error instanceof Error ? error.message : String(error);
}
