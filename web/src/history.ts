// SPDX-License-Identifier: Apache-2.0
// The history of requests, as far back as somebody has asked for. Of each only what a list or a
// chart needs is kept; the rest is fetched with the one that is looked at.

import { signal } from "@preact/signals";
import { get, textOf } from "./api";
import { waitOf, type Split } from "./layers";
import type { Entry, LayerName, Verdict } from "./types";

export interface Row {
  id: string;
  at: number; // ms since 1970
  model: string;
  client: string; // the name of a key, or the dialect
  path: string;
  class: string | null;
  layer: LayerName | undefined;
  outcome: string;
  ttft: number | undefined;
  total: number;
  tokens: number;
  verdict: Verdict | undefined;
  wait: Split;
}

export const rows = signal<readonly Row[]>([]);
export const isWhole = signal(false);
export const isLoading = signal(false);
export const historyError = signal("");

const FIRST_PAGE = 200; // soon there
const PAGE = 500; // a longer one would be felt while scrolling

export function rowOf(entry: Entry): Row {
  return {
    id: entry.request_id,
    at: entry.started_us / 1000,
    model: entry.model,
    client: entry.key ? `key ${entry.key}` : entry.api,
    path: entry.path,
    class: entry.class,
    layer: entry.cold_layer,
    outcome: entry.outcome,
    ttft: entry.ttft_ms,
    total: entry.total_ms,
    tokens: entry.generated_tokens ?? 0,
    verdict: entry.verdict,
    wait: waitOf(entry),
  };
}

// One that has just ended.
export function addEntry(entry: Entry) {
  if (!began) return;
  rows.value = [rowOf(entry), ...rows.value.filter((row) => row.id !== entry.request_id)];
}

let began = false;

async function page(before: string, limit: number): Promise<Row[]> {
  const query = new URLSearchParams({ limit: String(limit) });
  if (before) query.set("before", before);
  const answer = await get<{ requests: Entry[] }>(`/api/hearth/requests?${query}`);
  return answer.requests.map(rowOf);
}

// The next older ones.
export async function loadOlder(): Promise<void> {
  if (isLoading.value || isWhole.value) return;
  isLoading.value = true;
  const limit = began ? PAGE : FIRST_PAGE;
  began = true;
  try {
    const older = await page(rows.value.at(-1)?.id ?? "", limit);
    const known = new Set(rows.value.map((row) => row.id));
    rows.value = [...rows.value, ...older.filter((row) => !known.has(row.id))];
    isWhole.value = older.length < limit;
    historyError.value = "";
  } catch (error) {
    historyError.value = textOf(error);
    isWhole.value = true;
  } finally {
    isLoading.value = false;
  }
}

// All from `since` on (ms since 1970), with a breath between pages so that scrolling stays smooth.
export async function loadBack(since = 0): Promise<void> {
  while (!isWhole.value && (rows.value.at(-1)?.at ?? Infinity) > since) {
    if (isLoading.value) return;
    await loadOlder();
    await new Promise((done) => setTimeout(done, 30));
  }
}

// After a gap in the events: what was missed comes in, or, where that was much, all comes anew.
export async function catchUp(): Promise<void> {
  if (!began) return;
  const newest = await page("", FIRST_PAGE);
  const known = new Set(rows.value.map((row) => row.id));
  const missed = newest.filter((row) => !known.has(row.id));
  if (missed.length < newest.length || newest.length === 0) {
    rows.value = [...missed, ...rows.value];
    return;
  }
  rows.value = newest;
  isWhole.value = newest.length < FIRST_PAGE;
  await loadBack();
}

// What starts of this class took here before, to the first token: the middle of the last ones.
export function usualStart(model: string, name: string): { ms: number; of: number } | undefined {
  const times = rows.value
    .filter((row) => row.model === model && row.class === name && row.ttft !== undefined)
    .slice(0, 20)
    .map((row) => row.ttft!)
    .sort((a, b) => a - b);
  const middle = times[Math.floor(times.length / 2)];
  return middle === undefined ? undefined : { ms: middle, of: times.length };
}
