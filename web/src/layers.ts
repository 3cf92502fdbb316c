// SPDX-License-Identifier: Apache-2.0
// The five layers, what stages belong to which, and where the time until the first token went.

import type { Entry, LayerName, LayerState, Stage } from "./types";

export const LAYERS: readonly LayerName[] = ["artifact", "pages", "weights", "compiled", "prefix"];

export const LAYER_TEXT: Record<LayerName, string> = {
  artifact: "the model's files on disk",
  pages: "those files in the page cache",
  weights: "weights loaded in a worker",
  compiled: "what a start computes and keeps",
  prefix: "evaluated beginnings of prompts",
};

export const CLASSES = [
  "artifact-cold", "storage-cold", "load-cold", "compile-cold", "prefix-cold", "warm",
] as const;

const LAYER_OF_CLASS: Record<string, LayerName> = {
  "artifact-cold": "artifact", "storage-cold": "pages", "load-cold": "weights",
  "compile-cold": "compiled", "prefix-cold": "prefix",
};

export function layerOfClass(name: string | null): LayerName | undefined {
  return name === null ? undefined : LAYER_OF_CLASS[name];
}

// What a moment of waiting is put down to, coldest first: of stages that run side by side the
// coldest counts, so that the parts add up to the whole.
export const PARTS = [...LAYERS, "queue", "work", "other"] as const;
export type Part = (typeof PARTS)[number];
export type Split = Record<Part, number>;

export const PART_TEXT: Record<Part, string> = {
  artifact: "fetching and checking files",
  pages: "reading from disk",
  weights: "starting a worker, loading, making contexts",
  compiled: "compiling and repacking",
  prefix: "bringing back or repeating evaluated prompts",
  queue: "waiting for a turn",
  work: "reading the prompt, first token",
  other: "nothing that was stamped",
};

const PART_OF_STAGE: Record<string, Part> = {
  queue: "queue", "artifact.metadata": "artifact", "artifact.download": "artifact",
  "artifact.verify": "artifact", spawn: "weights", read: "pages", load: "weights",
  compile: "compiled", context: "weights", tokenize: "work", restore: "prefix", prefill: "work",
  first_decode: "work", decode: "work",
};

export function partOf(stage: string): Part {
  return PART_OF_STAGE[stage] ?? "other";
}

export function emptySplit(): Split {
  return Object.fromEntries(PARTS.map((part) => [part, 0])) as Split;
}

// Of `stages` between 0 and `until` (ms). A sweep over their edges.
export function split(stages: Stage[], until: number): Split {
  const out = emptySplit();
  const spans = stages
    .map((s) => ({
      rank: PARTS.indexOf(partOf(s.name)),
      from: Math.min(s.start_ms, until),
      to: Math.min(s.start_ms + (s.ms ?? Infinity), until),
    }))
    .filter((s) => s.to > s.from);
  const edges = [...new Set([0, until, ...spans.flatMap((s) => [s.from, s.to])])].sort((a, b) => a - b);
  for (let i = 0; i + 1 < edges.length; ++i) {
    const [from, to] = [edges[i]!, edges[i + 1]!];
    let best = PARTS.length - 1;
    for (const s of spans) if (s.from <= from && s.to >= to) best = Math.min(best, s.rank);
    out[PARTS[best]!] += to - from;
  }
  return out;
}

// The wait of a finished request. What a missing prefix cost was spent on the prompt once more.
export function waitOf(entry: Entry): Split {
  const out = split(entry.stages, entry.ttft_ms ?? entry.total_ms);
  if (entry.verdict?.layer === "prefix") {
    const again = Math.min(out.work, entry.verdict.cost_ms ?? 0);
    out.work -= again;
    out.prefix += again;
  }
  return out;
}

const SCALE: Partial<Record<LayerName, Record<string, number>>> = {
  compiled: { none: 0, stored: 0.5, live: 1 },
  prefix: { none: 0, "on disk": 0.34, disk: 0.34, "in RAM": 0.67, memory: 0.67, live: 1 },
};

// How much of a layer's bar is filled: what is there, or where on its scale the level stands.
export function warmthOf(layer: LayerName, state: LayerState): number {
  const scale = SCALE[layer];
  if (scale) return scale[state.level] ?? state.fraction;
  return state.fraction;
}

// A layer that has nothing to keep for this model.
export function isNotNeeded(layer: LayerName, state: LayerState): boolean {
  return layer === "compiled" && state.level === "none" && state.total === 0;
}
