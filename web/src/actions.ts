// SPDX-License-Identifier: Apache-2.0
// What can be done to a model's layers, and what it would cost, before it is done.

import { signal } from "@preact/signals";
import { ApiError, get, post, textOf } from "./api";
import { bytes, duration, shortName } from "./format";
import { rows, loadOlder, usualStart } from "./history";
import { memory, modelNamed, refreshModel } from "./store";
import type { LayerName, Model } from "./types";
import { tell } from "./parts/toasts";

export interface Action {
  verb: "load" | "unload" | "warm" | "cool" | "pin" | "unpin";
  model: string;
  layer: LayerName;
}

export interface Preview {
  says: string; // what will happen
  figures: { what: string; value: string }[];
  notes: string[]; // what one may regret
}

export const asked = signal<Action | null>(null);
export const preview = signal<Preview | null>(null);
export const previewError = signal("");

export function titleOf({ verb, model, layer }: Action): string {
  const name = shortName(model);
  if (verb === "load") return `Load ${name}`;
  if (verb === "unload") return `Unload ${name}`;
  const words = { warm: "Warm", cool: "Cool", pin: "Pin", unpin: "Let go of" };
  return `${words[verb]} the ${layer} of ${name}`;
}

// Who may: pinning and cooling change what others meet, so they are an admin's.
export function needsAdmin(verb: Action["verb"]): boolean {
  return verb === "cool" || verb === "pin" || verb === "unpin";
}

// ---- previews ----

function held(model: string): number {
  return (memory.data.value?.held ?? [])
    .filter((part) => part.model === model)
    .reduce((sum, part) => sum + part.bytes, 0);
}

function now(model: Model): string {
  return duration(model.predicted_ttft_ms);
}

// Measured here before, where it ever was.
function startCost(model: Model, name: string): { what: string; value: string } {
  const usual = usualStart(model.name, name);
  return {
    what: `${name} starts took here`,
    value: usual === undefined ? "not measured yet" : `${duration(usual.ms)} (${usual.of} of them)`,
  };
}

interface Details { need?: { weights_bytes?: number; kv_bytes?: number; total_bytes?: number } }

async function needOf(model: Model): Promise<number> {
  const details = await get<Details>(`/api/hearth/details/${encodeURI(model.name)}`);
  const need = details.need ?? {};
  return need.total_bytes ?? (need.weights_bytes ?? model.size) + (need.kv_bytes ?? 0);
}

async function previewLoad(model: Model): Promise<Preview> {
  const need = await needOf(model);
  const free = memory.data.value?.free_bytes;
  const notes = free !== undefined && need > free
    ? ["This is more than is free: other models will have to give way first."] : [];
  return {
    says: "Its weights are read into a worker, so that the next reply need not wait for that.",
    figures: [
      { what: "First token now", value: now(model) },
      { what: "Memory it wants", value: bytes(need) },
      { what: "Free within the budget", value: bytes(free) },
    ],
    notes,
  };
}

function previewUnload(model: Model): Preview {
  return {
    says: "Its memory is given back once nobody is in. The file may stay in the page cache.",
    figures: [
      { what: "Gives back", value: bytes(held(model.name)) },
      { what: "First token now", value: now(model) },
      startCost(model, "load-cold"),
    ],
    notes: model.active > 0 ? ["It is answering; it goes when that reply has ended."] : [],
  };
}

function previewWarm(model: Model, layer: LayerName): Preview {
  const state = model.layers[layer];
  const missing = Math.max(0, state.total - state.bytes);
  const says = {
    artifact: "Its files are read from end to end and compared with their digest.",
    pages: "What a load reads is brought into the page cache. The kernel may take it back.",
    weights: "Its weights are read into a worker.",
    compiled: "What a start computes is computed and kept.",
    prefix: "Its modules are brought back into memory.",
  }[layer];
  return {
    says,
    figures: [
      { what: layer === "artifact" ? "To be read" : "Still missing",
        value: bytes(layer === "artifact" ? model.size : missing) },
      { what: "First token now", value: now(model) },
    ],
    notes: [],
  };
}

interface CoolPreview {
  preview: { freed_bytes: number; fetch_bytes: number; source?: string; also: string[] };
}

async function previewCoolFiles(model: Model, layer: LayerName): Promise<Preview> {
  const { preview: told } = await post<CoolPreview>("/api/hearth/cool",
    { model: model.name, layer, preview: true });
  const figures = [{ what: "Gives back on disk", value: bytes(told.freed_bytes) }];
  if (layer === "artifact") {
    figures.push({ what: "To fetch again", value: bytes(told.fetch_bytes) });
    if (told.source) figures.push({ what: "From", value: told.source });
  }
  return {
    says: layer === "artifact"
      ? "Its files are deleted. The next request fetches them again."
      : "What was kept of its starts is deleted. The next start computes it anew.",
    figures,
    notes: told.also.length > 0 ? [`The same files serve ${told.also.join(", ")}.`] : [],
  };
}

async function previewCool(model: Model, layer: LayerName): Promise<Preview> {
  if (layer === "weights") return previewUnload(model);
  if (layer === "artifact" || layer === "compiled") return previewCoolFiles(model, layer);
  const state = model.layers[layer];
  const freed = { what: "Gives back", value: bytes(state.bytes) };
  if (layer === "pages") {
    return {
      says: "Its files leave the page cache. The kernel would take them anyway when it needs room.",
      figures: [freed, startCost(model, "storage-cold")],
      notes: [],
    };
  }
  return {
    says: "All that is kept of this model's prompts is deleted, in memory and on disk.",
    figures: [freed, { what: "Kept", value: state.detail ?? state.level }],
    notes: ["The next prompts are evaluated from their first token."],
  };
}

async function previewPin(model: Model, layer: LayerName): Promise<Preview> {
  const need = layer === "pages" ? model.layers.pages.total : await needOf(model);
  return {
    says: layer === "pages"
      ? "Its files are locked in memory: neither idle time nor another model drops them."
      : "Its weights stay loaded whatever keep_alive says, after a restart too.",
    figures: [
      { what: "Memory held for good", value: bytes(need) },
      { what: "Free within the budget", value: bytes(memory.data.value?.free_bytes) },
    ],
    notes: ["A pin that harms a service which comes first is let go; the start that remains is told."],
  };
}

function previewUnpin(model: Model, layer: LayerName): Preview {
  return {
    says: "It stays where it is until its memory is wanted.",
    figures: [{ what: "Can be given back", value: bytes(model.layers[layer].bytes) }],
    notes: [],
  };
}

async function previewOf(action: Action, model: Model): Promise<Preview> {
  switch (action.verb) {
    case "load": return previewLoad(model);
    case "unload": return previewUnload(model);
    case "warm": return action.layer === "weights" ? previewLoad(model) : previewWarm(model, action.layer);
    case "cool": return previewCool(model, action.layer);
    case "pin": return previewPin(model, action.layer);
    case "unpin": return previewUnpin(model, action.layer);
  }
}

export async function propose(action: Action) {
  const model = modelNamed(action.model);
  if (!model) return;
  asked.value = action;
  preview.value = null;
  previewError.value = "";
  try {
    await Promise.allSettled([memory.load(), rows.value.length === 0 ? loadOlder() : undefined]);
    const told = await previewOf(action, model);
    if (asked.value === action) preview.value = told;
  } catch (error) {
    if (asked.value === action) previewError.value = textOf(error);
  }
}

// ---- doing it ----

const DONE = {
  load: "is loaded", unload: "was unloaded", warm: "is warm", cool: "was cooled",
  pin: "is pinned", unpin: "is no longer pinned",
};

export async function perform(action: Action): Promise<void> {
  const { verb, model, layer } = action;
  const whole = verb === "load" || verb === "unload";
  const what = whole ? shortName(model) : `${layer} of ${shortName(model)}`;
  try {
    await post(`/api/hearth/${verb}`, whole ? { model } : { model, layer });
    tell(`${what} ${DONE[verb]}.`);
  } catch (error) {
    const hint = error instanceof ApiError && error.status === 403 ? " Another key may." : "";
    tell(`${titleOf(action)}: ${textOf(error)}${hint}`, "bad");
  }
  refreshModel(model);
  memory.touch();
}

// ---- remedies as the server words them ----

const COMMAND = /\bhearth (load|unload|stop|pin|unpin|warm|cool) ([\w./:@-]+)(?: --layer (\w+))?/;

// The action behind "…: hearth load smollm2", where these pages can do it.
export function actionOf(remedy: string | undefined): Action | null {
  const found = remedy?.match(COMMAND);
  if (!found) return null;
  const model = modelNamed(found[2]!);
  if (!model) return null;
  const verb = (found[1] === "stop" ? "unload" : found[1]) as Action["verb"];
  return { verb, model: model.name, layer: (found[3] as LayerName | undefined) ?? "weights" };
}
