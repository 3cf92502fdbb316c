// SPDX-License-Identifier: Apache-2.0
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { duration, shortName, when } from "../format";
import { shown } from "../filter";
import type { Row } from "../history";
import { argument, link } from "../route";
import { WaitBar } from "./bars";
import { ClassTag } from "./class_tag";

const AHEAD = 8; // rows drawn beyond what is seen
const phone = matchMedia("(max-width: 760px)");
const rowHeight = () => (phone.matches ? 56 : 34);

interface LineProps {
  row: Row;
  index: number;
  of: number;
  scale: number;
  height: number;
}

function Line({ row, index, of, scale, height }: LineProps) {
  return (
    <li class="history-row" aria-posinset={index + 1} aria-setsize={of}
      style={{ insetBlockStart: `${index * height}px`, blockSize: `${height}px` }}>
      <a href={link("history", row.id)} aria-current={argument.value === row.id ? "true" : undefined}>
        <time>{when(row.at * 1000)}</time>
        <span class="name">{shortName(row.model)}</span>
        <span class="name muted client">{row.client}</span>
        <ClassTag name={row.class} outcome={row.outcome} />
        <WaitBar split={row.wait} scale={scale} />
        <span class="figure">{duration(row.ttft ?? row.total)}</span>
      </a>
    </li>
  );
}

// The wait that fills a line: one that nine of ten stay below, so that a single long one does not
// make all others vanish.
function scaleOf(list: readonly Row[]): number {
  const some = list.slice(0, 500).map((row) => row.ttft ?? row.total).sort((a, b) => a - b);
  return Math.max(100, some[Math.floor(some.length * 0.9)] ?? 100);
}

// However many there are, only those in sight are drawn.
export function HistoryList() {
  const box = useRef<HTMLDivElement>(null);
  const frame = useRef(0);
  const [seen, setSeen] = useState({ top: 0, size: 600 });
  const measure = () => {
    frame.current = 0;
    const element = box.current;
    if (element) setSeen({ top: element.scrollTop, size: element.clientHeight });
  };
  const soon = () => { frame.current ||= requestAnimationFrame(measure); };
  useLayoutEffect(() => {
    measure();
    addEventListener("resize", soon);
    return () => {
      cancelAnimationFrame(frame.current);
      removeEventListener("resize", soon);
    };
  }, []);
  const list = shown.value;
  const scale = useMemo(() => scaleOf(list), [list]);
  const height = rowHeight();
  const first = Math.max(0, Math.floor(seen.top / height) - AHEAD);
  const last = Math.min(list.length, Math.ceil((seen.top + seen.size) / height) + AHEAD);
  return (
    <section class="card history-list" aria-label="Replies">
      <div class="history-head" aria-hidden="true">
        <span>when</span>
        <span>model</span>
        <span class="client">client</span>
        <span>class</span>
        <span>wait for the first token</span>
        <span class="figure">wait</span>
      </div>
      <div class="history-scroll" tabIndex={0} role="region" aria-label="Replies, newest first"
        ref={box} onScroll={soon}>
        <ol style={{ blockSize: `${list.length * height}px` }}>
          {list.slice(first, last).map((row, i) => (
            <Line key={row.id} row={row} index={first + i} of={list.length} scale={scale} height={height} />
          ))}
        </ol>
      </div>
    </section>
  );
}
