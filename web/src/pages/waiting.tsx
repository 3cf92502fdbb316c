// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from "preact/hooks";
import { midnight } from "../format";
import { isLoading, isWhole, loadBack, rows } from "../history";
import { LAYERS, PARTS, emptySplit, type Part, type Split } from "../layers";
import { DayBars, type Day } from "../parts/day_bars";
import { Legend } from "../parts/bars";
import { Facts } from "../parts/facts";
import { Findings } from "../parts/findings";
import { mayWatch } from "../store";

const DAYS = matchMedia("(max-width: 760px)").matches ? 7 : 14;
const AVOIDABLE: readonly Part[] = LAYERS;

function daysOf(since: number): Day[] {
  const days = new Map<number, Day>();
  for (let i = 0; i < DAYS; ++i) {
    const at = new Date(since);
    at.setDate(at.getDate() + i);
    days.set(at.getTime(), { at: at.getTime(), split: emptySplit(), replies: 0, cold: 0 });
  }
  for (const row of rows.value) {
    const day = days.get(midnight(row.at));
    if (!day) continue;
    for (const part of PARTS) day.split[part] += row.wait[part];
    ++day.replies;
    if (row.class !== "warm" && row.class !== null) ++day.cold;
  }
  return [...days.values()];
}

function since(): number {
  const at = new Date(midnight());
  at.setDate(at.getDate() - DAYS + 1);
  return at.getTime();
}

function sum(days: Day[]): Split {
  const out = emptySplit();
  for (const day of days) for (const part of PARTS) out[part] += day.split[part];
  return out;
}

// Seconds that somebody waited, day by day, and what would save them.
export function Waiting() {
  const [all, setAll] = useState(false);
  useEffect(() => { void loadBack(since()); }, []);
  if (!mayWatch.value) return <p class="muted">This wants a read-only or an admin's key.</p>;
  const days = daysOf(since());
  const parts = all ? PARTS : AVOIDABLE;
  const total = sum(days);
  return (
    <div class="page waiting">
      <div class="page-head">
        <h1>Waiting</h1>
        <p class="muted">for first tokens, the last {DAYS} days{isLoading.value || !isWhole.value ? ", reading…" : ""}</p>
      </div>
      <section class="card" aria-labelledby="days-title">
        <header>
          <h2 id="days-title">{all ? "All waiting" : "Waiting for cold layers"}, by day</h2>
          <Legend parts={parts} />
          <button type="button" onClick={() => setAll(!all)} aria-pressed={all}>
            Prompts and queues too
          </button>
        </header>
        <DayBars days={days} parts={parts} total={total} />
      </section>
      <Findings />
      <Facts />
    </div>
  );
}
