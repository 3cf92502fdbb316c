// SPDX-License-Identifier: Apache-2.0
import { bytes, duration, percent } from "../format";
import { LAYER_TEXT, PARTS, PART_TEXT, isNotNeeded, warmthOf, type Split } from "../layers";
import type { LayerName, LayerState } from "../types";

// One layer of one model: its level, as a word and as a bar.
export function LevelBar({ layer, state }: { layer: LayerName; state: LayerState }) {
  const idle = isNotNeeded(layer, state);
  const fraction = warmthOf(layer, state);
  const partly = state.fraction > 0 && state.fraction < 1 && layer !== "prefix";
  const word = idle ? "not needed" : partly ? `${state.level} ${percent(state.fraction)}` : state.level;
  const hint = [LAYER_TEXT[layer], state.detail, state.bytes > 0 ? bytes(state.bytes) : ""]
    .filter(Boolean).join("; ");
  return (
    <div class={`level ${layer}${idle ? " idle" : ""}`} title={hint}>
      <span class="level-name">{layer}</span>
      <span class="meter" aria-hidden="true">
        <span style={{ inlineSize: `${Math.max(0, Math.min(1, fraction)) * 100}%` }} />
      </span>
      <span class="level-word">{word}</span>
    </div>
  );
}

function told(split: Split, total: number): string {
  const parts = PARTS.filter((part) => split[part] >= 0.5)
    .map((part) => `${part === "work" ? "prompt" : part} ${duration(split[part])}`);
  return `${duration(total)}: ${parts.join(", ") || "nothing of it stamped"}`;
}

// A wait as one line, its parts side by side. `scale`: the wait that fills the line.
export function WaitBar({ split, scale }: { split: Split; scale?: number }) {
  const total = PARTS.reduce((sum, part) => sum + split[part], 0);
  const whole = Math.max(scale ?? total, total, 1e-9);
  const text = told(split, total);
  return (
    <span class="wait-bar" role="img" aria-label={text} title={text}>
      {PARTS.map((part) => split[part] > 0 && (
        <span key={part} class={`fill ${part}`}
          style={{ inlineSize: `${(split[part] / whole) * 100}%` }} />
      ))}
    </span>
  );
}

export function Legend({ parts }: { parts: readonly (keyof Split)[] }) {
  return (
    <ul class="legend">
      {parts.map((part) => (
        <li key={part} title={PART_TEXT[part]}>
          <span class={`swatch fill ${part}`} aria-hidden="true" />
          {part === "work" ? "prompt" : part}
        </li>
      ))}
    </ul>
  );
}
