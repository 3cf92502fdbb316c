// SPDX-License-Identifier: Apache-2.0
// What the pages show: loaded once, then kept up to date by live events. Nothing here asks for
// anything that wakes a model.

import { batch, computed, effect, signal } from "@preact/signals";
import { ApiError, get, key, textOf } from "./api";
import { addEntry, catchUp } from "./history";
import { Resource } from "./resource";
import { connection, followVisibility, listen, type Listener } from "./stream";
import type {
  Entry, Finding, Guarded, Layers, Levels, Memory, Model, Move, PrefixView, Pull, Report, Stage, Version,
} from "./types";

export const models = signal<Model[] | null>(null);
export const modelsError = signal("");

export const version = new Resource<Version>("/api/hearth/version");
export const memory = new Resource<Memory>("/api/hearth/memory");
export const moves = new Resource<{ moves: Move[]; total: number }>("/api/hearth/moves");
export const levels = new Resource<Levels>("/api/hearth/levels");
export const prefix = new Resource<PrefixView>("/api/hearth/prefix");
export const doctor = new Resource<{ findings: Finding[] }>("/api/hearth/doctor");
export const reports = new Resource<{ directory?: string; reports: Report[] }>("/api/hearth/reports");
export const pulls = new Resource<{ pulls: Pull[] }>("/api/hearth/pulls");

// Without keys everybody is admin, and an older server that does not tell is taken at its word.
export const role = computed(() => version.data.value?.role ?? "admin");
export const mayUse = computed(() => role.value !== "read-only");
export const mayChange = computed(() => role.value === "admin");
export const mayWatch = computed(() => role.value !== "use");

// ---- requests under way ----

export interface Running {
  id: string;
  model: string;
  api: string;
  path: string;
  since: number; // performance.now() of its first byte, as near as events tell
  stages: Stage[];
}

export const running = signal<readonly Running[]>([]);
export const recent = signal<readonly Entry[]>([]);
const RECENT = 12;

// ---- models ----

const stale = new Set<string>();
let refreshTimer = 0;
const REFRESH_MS = 700;

function put(model: Model) {
  const list = models.value ?? [];
  const at = list.findIndex((m) => m.name === model.name);
  if (at < 0) models.value = [...list, model].sort((a, b) => (a.name < b.name ? -1 : 1));
  else models.value = list.with(at, model);
}

async function refreshStale() {
  refreshTimer = 0;
  const names = [...stale];
  stale.clear();
  for (const name of names) {
    try {
      put(await get<Model>(`/api/hearth/models/${encodeURI(name)}`));
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) await loadModels();
    }
  }
}

// Soon, once for all that happens until then.
export function refreshModel(name: string) {
  stale.add(name);
  refreshTimer ||= window.setTimeout(() => void refreshStale(), REFRESH_MS);
}

export async function loadModels() {
  try {
    models.value = (await get<{ models: Model[] }>("/api/hearth/models")).models;
    modelsError.value = "";
  } catch (error) {
    modelsError.value = textOf(error);
  }
}

export function modelNamed(name: string): Model | undefined {
  const wanted = name.toLowerCase();
  return models.value?.find((m) => m.name === wanted || m.name === `${wanted}:latest`);
}

// ---- events ----

// A load is told of as a stage only when it has ended; until then the model's level tells of it.
function withLoad(one: Running, isLoading: boolean): Running {
  const now = performance.now() - one.since;
  const open = one.stages.findIndex((stage) => stage.ms === undefined);
  if (isLoading && open < 0) return { ...one, stages: [...one.stages, { name: "load", start_ms: now }] };
  if (isLoading || open < 0 || one.stages[open]!.name !== "load") return one;
  const stage = one.stages[open]!;
  return { ...one, stages: one.stages.with(open, { ...stage, ms: now - stage.start_ms }) };
}

function onLevels(event: { model: string; layers: Layers }) {
  const model = modelNamed(event.model);
  const isLoading = event.layers.weights?.level === "loading";
  running.value = running.value.map((one) =>
    (modelNamed(one.model)?.name === event.model ? withLoad(one, isLoading) : one));
  if (model) put({ ...model, layers: { ...model.layers, ...event.layers } });
  refreshModel(event.model);
  memory.touch();
}

interface UnderWay {
  request_id: string;
  outcome: "running";
  model: string;
  api: string;
  path: string;
  elapsed_ms?: number;
  ttft_ms?: number;
  stages?: Stage[];
}

// What the server has stamped, and what is going on beyond it.
function stagesOf(event: UnderWay, known: Running | undefined): Stage[] {
  const told = event.stages ?? [];
  if (event.ttft_ms !== undefined) return [...told, { name: "decode", start_ms: event.ttft_ms }];
  const loads = told.some((stage) => stage.name === "load")
    ? [] : known?.stages.filter((stage) => stage.name === "load") ?? [];
  return [...told, ...loads];
}

function onUnderWay(event: UnderWay) {
  const known = running.value.find((one) => one.id === event.request_id);
  const { request_id: id, api, path } = event;
  const model = event.model || known?.model || "";
  const since = performance.now() - (event.elapsed_ms ?? 0);
  const one = { id, model, api, path, since, stages: stagesOf(event, known) };
  running.value = known ? running.value.map((r) => (r === known ? one : r)) : [...running.value, one];
}

function onRequest(event: Entry | UnderWay) {
  if (event.outcome === "running") {
    onUnderWay(event as UnderWay);
    return;
  }
  const entry = event as Entry;
  running.value = running.value.filter((r) => r.id !== entry.request_id);
  recent.value = [entry, ...recent.value].slice(0, RECENT);
  addEntry(entry);
  refreshModel(entry.model);
  memory.touch();
  doctor.touch();
  prefix.touch();
}

interface PullEvent {
  source: string; name: string; state: string; stage: string;
  done: number; total: number; rate: number; eta_ms?: number;
}

function onPull(event: PullEvent) {
  const list = pulls.data.value?.pulls;
  const at = list?.findIndex((p) => p.source === event.source) ?? -1;
  if (!list || at < 0 || event.state === "done" || event.state !== list[at]!.state) {
    pulls.touch();
    return;
  }
  const { done, total, rate, ...rest } = event;
  const now = { ...list[at]!, ...rest, done_bytes: done, total_bytes: total, bytes_per_s: rate };
  pulls.data.value = { pulls: list.with(at, now) };
}

const ON: Record<string, (event: never) => void> = {
  levels: onLevels,
  request: onRequest,
  pull: onPull,
  model: () => void loadModels(),
  move: () => { moves.touch(); memory.touch(); },
  services: (event: { protected: Guarded[] }) => {
    const known = levels.data.value;
    if (known) levels.data.value = { ...known, protected: event.protected };
  },
  warmth: (event: Levels) => { levels.data.value = event; },
  lost: () => void loadAll(),
};

async function loadRunning() {
  const { requests } = await get<{ requests: UnderWay[] }>("/api/hearth/running");
  running.value = [];
  for (const request of requests) onUnderWay(request);
}

async function loadRecent() {
  const { requests } = await get<{ requests: Entry[] }>(`/api/hearth/requests?limit=${RECENT}`);
  recent.value = requests;
}

// Whatever a gap in the events may have hidden.
export async function loadAll() {
  await Promise.allSettled([
    loadModels(), loadRunning(), loadRecent(), catchUp(), version.load(), memory.load(), levels.load(),
    ...[moves, doctor, pulls, prefix].map((resource) => resource.refresh()),
  ]);
}

const listener: Listener = {
  onOpen: () => void loadAll(),
  onEvent: (type, data) => batch(() => ON[type]?.(data as never)),
};

export function start() {
  followVisibility(listener);
  effect(() => {
    key.value;
    listen(listener);
  });
  effect(() => {
    // Who may not watch sees what a key of any role may see.
    if (connection.value === "refused") void Promise.allSettled([loadModels(), version.load()]);
  });
}
