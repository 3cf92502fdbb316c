// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from "preact/hooks";
import type { Stage } from "../types";
import { duration, percent, shortName, when } from "../format";
import { PARTS, emptySplit, waitOf } from "../layers";
import { link } from "../route";
import { mayWatch, modelNamed, recent, running, type Running } from "../store";
import { Legend, WaitBar } from "./bars";
import { ClassTag } from "./class_tag";
import { Waterfall } from "./waterfall";

const TICK_MS = 250;

// Time that passes, while something is under way.
function useNow(going: boolean): number {
  const [now, setNow] = useState(performance.now());
  useEffect(() => {
    if (!going) return;
    const timer = setInterval(() => setNow(performance.now()), TICK_MS);
    return () => clearInterval(timer);
  }, [going]);
  return now;
}

// What is known of a request before its last word.
function doing(one: Running): string {
  const open = one.stages.find((stage) => stage.ms === undefined);
  const weights = modelNamed(one.model)?.layers.weights;
  if (weights?.level === "loading") return `loading, ${percent(weights.fraction)}`;
  if (open?.name === "decode") return "writing";
  if (weights?.level !== "resident") return "waiting for the model";
  return one.stages.some((stage) => stage.name === "tokenize") ? "reading the prompt" : "waiting for a turn";
}

// With what is going on now, where the server has not stamped it yet.
function stagesNow(one: Running): Stage[] {
  if (doing(one) !== "reading the prompt") return one.stages;
  const ends = one.stages.map((stage) => stage.start_ms + (stage.ms ?? 0));
  return [...one.stages, { name: "prefill", start_ms: Math.max(0, ...ends) }];
}

function Under({ one, now }: { one: Running; now: number }) {
  const passed = Math.max(0, now - one.since);
  const written = one.stages.find((stage) => stage.name === "decode");
  return (
    <li class="live-one">
      <div class="row">
        <strong>{shortName(one.model)}</strong>
        <span class="muted">{one.path}</span>
        <span class="grow doing">{doing(one)}</span>
        <span class="figure">{duration(passed)}</span>
      </div>
      {one.stages.length > 0
        ? <Waterfall stages={stagesNow(one)} total={passed} ttft={written?.start_ms} live />
        : <WaitBar split={{ ...emptySplit(), other: passed }} />}
    </li>
  );
}

export function Live() {
  const going = running.value;
  const now = useNow(going.length > 0);
  if (!mayWatch.value) {
    return <section class="card"><h2>Replies</h2><p class="muted">Live requests want a read-only or an admin's key.</p></section>;
  }
  const waits = recent.value.map((entry) => ({ entry, wait: waitOf(entry) }));
  const scale = Math.max(1, ...waits.map(({ entry }) => entry.ttft_ms ?? entry.total_ms));
  return (
    <section class="card" aria-labelledby="live-title">
      <header><h2 id="live-title">Replies</h2><Legend parts={PARTS} /></header>
      {going.length > 0 && (
        <ul class="live">{going.map((one) => <Under key={one.id} one={one} now={now} />)}</ul>
      )}
      {waits.length === 0 && going.length === 0 && (
        <p class="muted">Nobody has asked anything yet. The <a href={link("chat")}>chat</a> is a place to begin.</p>
      )}
      <ol class="replies">
        {waits.map(({ entry, wait }) => (
          <li key={entry.request_id}>
            <a href={link("history", entry.request_id)}>
              <time>{when(entry.started_us)}</time>
              <span class="name">{shortName(entry.model)}</span>
              <ClassTag name={entry.class} outcome={entry.outcome} />
              <WaitBar split={wait} scale={scale} />
              <span class="figure">{duration(entry.ttft_ms ?? entry.total_ms)}</span>
            </a>
          </li>
        ))}
      </ol>
    </section>
  );
}

