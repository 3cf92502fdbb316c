// SPDX-License-Identifier: Apache-2.0
import { bytes, duration, shortName, when } from "../format";
import { link } from "../route";
import { memory, models, recent, running } from "../store";

const FELT_MS = 150; // a delay that somebody notices

// What one wants to know first, in one line.
export function Figures() {
  const known = memory.use();
  const list = models.value ?? [];
  const loaded = list.filter((m) => m.layers.weights.level === "resident").length;
  // Who came before this page was opened is known to the models alone.
  const answering = Math.max(running.value.length, list.reduce((sum, m) => sum + m.active, 0));
  const waiting = list.reduce((sum, m) => sum + m.queued, 0);
  const slow = recent.value.find((entry) => (entry.verdict?.cost_ms ?? 0) >= FELT_MS);
  return (
    <section class="strip" aria-label="At a glance">
      <div>
        <span class="what">Loaded</span>
        <span class="value">{loaded} <small>of {list.length} models</small></span>
      </div>
      <div>
        <span class="what">Answering</span>
        <span class="value">{answering} <small>{waiting > 0 ? `${waiting} waiting` : "nobody waits"}</small></span>
      </div>
      {known && (
        <div>
          <span class="what">Memory held</span>
          <span class="value">{bytes(known.held_bytes)} <small>of {bytes(known.limit_bytes)}</small></span>
        </div>
      )}
      {slow && (
        <a class="last-slow" href={link("history", slow.request_id)}>
          <span class="what">Last slow reply, {when(slow.started_us)}</span>
          <span class="said">
            {slow.verdict!.text || `${shortName(slow.model)} cost ${duration(slow.verdict!.cost_ms)}`}
          </span>
        </a>
      )}
    </section>
  );
}
