// SPDX-License-Identifier: Apache-2.0
// The server's live events, read by fetch so that a key can be sent. Open only while the page is
// seen; comes back by itself after a restart of the server, later and later up to half a minute.

import { signal } from "@preact/signals";
import { ApiError, ask, keyWanted, lines } from "./api";

export type Connection = "connecting" | "live" | "lost" | "refused" | "paused";

export const connection = signal<Connection>("connecting");

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;

export interface Listener {
  onOpen(): void; // also after a gap: what was known is old now
  onEvent(type: string, data: unknown): void;
}

let stop = new AbortController();
let running = false;

async function read(listener: Listener, aborted: AbortSignal): Promise<void> {
  const response = await ask("/api/hearth/events", { signal: aborted });
  connection.value = "live";
  listener.onOpen();
  let type = "";
  let data = "";
  for await (const line of lines(response)) {
    if (line.startsWith("event: ")) type = line.slice(7);
    else if (line.startsWith("data: ")) data += line.slice(6);
    else if (line === "" && data) {
      listener.onEvent(type, JSON.parse(data));
      type = data = "";
    }
  }
}

function pause(ms: number, aborted: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const timer = setTimeout(done, ms);
    const now = () => {
      clearTimeout(timer);
      done();
    };
    aborted.addEventListener("abort", now, { once: true });
    addEventListener("online", now, { once: true });
  });
}

async function run(listener: Listener, aborted: AbortSignal): Promise<void> {
  let wait = FIRST_PAUSE_MS;
  while (!aborted.aborted) {
    try {
      await read(listener, aborted);
      wait = FIRST_PAUSE_MS;
    } catch (error) {
      if (aborted.aborted) return;
      const refused = error instanceof ApiError && (error.status === 401 || error.status === 403);
      if (refused) {
        connection.value = "refused";
        return;
      }
    }
    if (aborted.aborted) return;
    connection.value = "lost";
    await pause(wait, aborted);
    wait = Math.min(wait * 2, LONGEST_PAUSE_MS);
  }
}

// Begins, or begins anew with another key.
export function listen(listener: Listener) {
  stop.abort();
  stop = new AbortController();
  running = true;
  if (document.hidden) connection.value = "paused";
  else void run(listener, stop.signal);
}

export function followVisibility(listener: Listener) {
  document.addEventListener("visibilitychange", () => {
    if (!running || keyWanted.value) return;
    if (!document.hidden) {
      connection.value = "connecting";
      listen(listener);
      return;
    }
    stop.abort();
    connection.value = "paused";
  });
}
