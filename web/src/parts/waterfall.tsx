// SPDX-License-Identifier: Apache-2.0
import { useState } from "preact/hooks";
import { bytes, duration } from "../format";
import { partOf } from "../layers";
import type { Stage } from "../types";

interface Lane {
  name: string;
  stages: Stage[];
  ms: number;
  bytes: number;
}

// Stages of one name share a lane; lanes come in the order in which they begin.
function lanesOf(stages: Stage[], until: number): Lane[] {
  const lanes = new Map<string, Lane>();
  for (const stage of [...stages].sort((a, b) => a.start_ms - b.start_ms)) {
    if (stage.start_ms >= until && stage.start_ms > 0) continue;
    const lane = lanes.get(stage.name) ?? { name: stage.name, stages: [], ms: 0, bytes: 0 };
    lane.stages.push(stage);
    lane.ms += Math.min(stage.ms ?? Infinity, Math.max(0, until - stage.start_ms));
    lane.bytes += stage.bytes ?? 0;
    lanes.set(stage.name, lane);
  }
  return [...lanes.values()];
}

interface Props {
  stages: Stage[];
  total: number; // ms
  ttft?: number | undefined;
  live?: boolean;
}

// Where a request's time went, lane by lane. With a first token it shows the way there, and the
// whole on demand, because writing often takes longer than all before it.
export function Waterfall({ stages, total, ttft, live }: Props) {
  const [whole, setWhole] = useState(false);
  const canZoom = !live && ttft !== undefined && ttft > 0 && ttft < total * 0.9;
  const until = canZoom && !whole ? ttft : Math.max(total, 1e-6);
  const x = (ms: number) => (Math.min(ms, until) / until) * 100;
  const lanes = lanesOf(stages, until);
  const reads = lanes.some((lane) => lane.bytes > 0);
  const width = (s: Stage) => Math.max(0.35, x(s.start_ms + (s.ms ?? Infinity)) - x(s.start_ms));
  return (
    <div class="waterfall">
      <table>
        <caption>
          <span>{canZoom && !whole ? `To the first token: ${duration(until)}` : `In all: ${duration(until)}`}</span>
          {canZoom && (
            <button type="button" class="link" onClick={() => setWhole(!whole)}>
              {whole ? "only to the first token" : `the whole reply, ${duration(total)}`}
            </button>
          )}
        </caption>
        <tbody>
          {lanes.map((lane) => (
            <tr key={lane.name}>
              <th scope="row">{lane.name}</th>
              <td class="lane" aria-hidden="true">
                {lane.stages.map((s, i) => (
                  <span key={i} class={`fill ${partOf(s.name)}${s.shared ? " shared" : ""}${live && s.ms === undefined ? " open" : ""}`}
                    title={`${s.name}: ${duration(s.ms)} from ${duration(s.start_ms)}`}
                    style={{ insetInlineStart: `${Math.min(x(s.start_ms), 99.65)}%`, inlineSize: `${width(s)}%` }} />
                ))}
                {ttft !== undefined && until > ttft && (
                  <span class="first-token" style={{ insetInlineStart: `${x(ttft)}%` }} />
                )}
              </td>
              <td class="figure">{duration(lane.ms)}</td>
              {reads && <td class="figure muted">{lane.bytes > 0 ? bytes(lane.bytes) : ""}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
