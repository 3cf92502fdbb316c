// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, useState } from "preact/hooks";
import { get, textOf } from "../api";
import { bytes, count, duration, shortName, when } from "../format";
import type { Entry } from "../types";
import { BeforeView, VerdictView } from "./account_view";
import { ClassTag } from "./class_tag";
import { Icon } from "./icon";
import { Waterfall } from "./waterfall";

function Figures({ entry }: { entry: Entry }) {
  const figures: [string, string][] = [
    ["First token", duration(entry.ttft_ms)],
    ["In all", duration(entry.total_ms)],
    ["Prompt", entry.prompt_tokens === undefined ? "–"
      : `${count(entry.prompt_tokens)} tokens, ${count(entry.cached_tokens ?? 0)} not evaluated again`],
    ["Reply", entry.generated_tokens === undefined ? "–"
      : `${count(entry.generated_tokens)} tokens${entry.tokens_per_s ? `, ${entry.tokens_per_s.toFixed(1)} a second` : ""}`],
    ["Read from disk", bytes(entry.bytes_read)],
    ["Side by side", duration(entry.overlap_ms)],
    ["Not accounted for", duration(entry.other_ms)],
  ];
  return (
    <dl class="figures">
      {figures.map(([what, value]) => <div key={what}><dt>{what}</dt><dd>{value}</dd></div>)}
    </dl>
  );
}

function useEntry(id: string) {
  const [entry, setEntry] = useState<Entry | null>(null);
  const [error, setError] = useState("");
  useEffect(() => {
    const leave = new AbortController();
    get<Entry>(`/api/hearth/requests/${encodeURIComponent(id)}`, leave.signal)
      .then(setEntry, (e) => { if (!leave.signal.aborted) setError(textOf(e)); });
    return () => leave.abort();
  }, [id]);
  return { entry, error };
}

export function RequestDetail({ id }: { id: string }) {
  const { entry, error } = useEntry(id);
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => { title.current?.focus({ preventScroll: true }); }, [entry !== null]);
  return (
    <aside class="card detail" aria-label="One reply">
      <a class="button back" href="#/history" aria-label="Close"><Icon name="close" /></a>
      {error && <p class="error" role="alert">{error}</p>}
      {!entry && !error && <p class="muted">Reading…</p>}
      {entry && (
        <>
          <h2 ref={title} tabIndex={-1}>{shortName(entry.model)}, {when(entry.started_us)}</h2>
          <p class="muted">
            <ClassTag name={entry.class} outcome={entry.outcome} /> · {entry.path} · <code>{entry.request_id}</code>
            {entry.shared && " · joined a load under way"}
          </p>
          {entry.message && <p class="error">{entry.message}</p>}
          <VerdictView account={entry} />
          <Waterfall stages={entry.stages} total={entry.total_ms} ttft={entry.ttft_ms} />
          <Figures entry={entry} />
          <BeforeView account={entry} />
        </>
      )}
    </aside>
  );
}
