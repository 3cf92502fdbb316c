// SPDX-License-Identifier: Apache-2.0
// One conversation. It lives in this tab alone: neither page nor server keeps it.

import { signal } from "@preact/signals";
import { ask, lines, textOf } from "./api";
import type { Account } from "./types";

export interface Turn {
  role: "user" | "assistant";
  text: string;
  thinking: string;
  progress: string; // what the model is doing before it says anything
  account: Account | null;
  ttft: number | undefined; // ms, as this page saw it
  error: string;
}

export const turns = signal<readonly Turn[]>([]);
export const busy = signal(false);
export const chosen = signal(""); // the model

let stopper: AbortController | null = null;

function turn(role: Turn["role"], text: string): Turn {
  return { role, text, thinking: "", progress: "", account: null, ttft: undefined, error: "" };
}

function change(part: Partial<Turn>) {
  const last = turns.value.length - 1;
  turns.value = turns.value.with(last, { ...turns.value[last]!, ...part });
}

interface Progress {
  stage: string;
  fraction?: number;
  ahead?: number;
  eta_ms?: number;
}

function told(progress: Progress): string {
  if (progress.ahead !== undefined && progress.ahead > 0) return `waiting, ${progress.ahead} before us`;
  const percent = progress.fraction ? `, ${Math.floor(progress.fraction * 100)} %` : "";
  return `${progress.stage}${percent}`;
}

interface Chunk {
  choices: { delta: { content?: string; reasoning_content?: string } }[];
  hearth?: Account;
  error?: { message: string };
}

// Text comes faster than it needs to be drawn, so it is gathered between frames.
class Gatherer {
  private text = "";
  private thinking = "";
  private frame = 0;
  private first = true;

  constructor(private readonly since: number) {}

  take(chunk: Chunk) {
    if (chunk.error) change({ error: chunk.error.message });
    if (chunk.hearth) change({ account: chunk.hearth });
    const delta = chunk.choices[0]?.delta;
    if (!delta) return;
    this.text += delta.content ?? "";
    this.thinking += delta.reasoning_content ?? "";
    if (this.first && (this.text || this.thinking)) {
      this.first = false;
      change({ ttft: performance.now() - this.since, progress: "" });
    }
    this.frame ||= requestAnimationFrame(() => this.flush());
  }

  flush() {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    change({ text: this.text, thinking: this.thinking });
  }
}

async function follow(response: Response, gatherer: Gatherer) {
  for await (const line of lines(response)) {
    if (line.startsWith(": progress ")) {
      change({ progress: told(JSON.parse(line.slice(11)) as Progress) });
    } else if (line.startsWith("data: {")) {
      gatherer.take(JSON.parse(line.slice(6)) as Chunk);
    }
  }
}

export async function say(text: string): Promise<void> {
  const messages = [...turns.value.filter((t) => !t.error), turn("user", text)]
    .map(({ role, text: content }) => ({ role, content }));
  turns.value = [...turns.value, turn("user", text), turn("assistant", "")];
  busy.value = true;
  stopper = new AbortController();
  const gatherer = new Gatherer(performance.now());
  try {
    const body = JSON.stringify({ model: chosen.value, messages, stream: true, return_progress: true });
    const response = await ask("/v1/chat/completions", { method: "POST", body, signal: stopper.signal });
    await follow(response, gatherer);
  } catch (error) {
    if (!stopper.signal.aborted) change({ error: textOf(error) });
  }
  gatherer.flush();
  change({ progress: "" });
  busy.value = false;
}

export function stop() {
  stopper?.abort();
}

export function clear() {
  stop();
  turns.value = [];
}
