// SPDX-License-Identifier: Apache-2.0
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { duration, shortName, when } from "../format";
import { shown } from "../filter";
import type { Row } from "../history";
import { argument, link } from "../route";
import { WaitBar } from "./bars";
import { ClassTag } from "./class_tag";

const AHEAD = 10; // rows drawn beyond what is seen
const phone = matchMedia("(max-width: 760px)");
const rowHeight = () => (phone.matches ? 56 : 34);

function Line({ row, index, scale, height }: { row: Row; index: number; scale: number; height: number }) {
  return (
    <div role="row" aria-rowindex={index + 2} class="history-row"
      style={{ insetBlockStart: `${index * height}px`, blockSize: `${height}px` }}>
      <a href={link("history", row.id)} aria-current={argument.value === row.id ? "true" : undefined}>
        <span role="cell"><time>{when(row.at * 1000)}</time></span>
        <span role="cell" class="name">{shortName(row.model)}</span>
        <span role="cell" class="name muted client">{row.client}</span>
        <span role="cell"><ClassTag name={row.class} outcome={row.outcome} /></span>
        <span role="cell" class="bar"><WaitBar split={row.wait} scale={scale} /></span>
        <span role="cell" class="figure">{duration(row.ttft ?? row.total)}</span>
      </a>
    </div>
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
  const [seen, setSeen] = useState({ top: 0, size: 600 });
  const measure = () => {
    const element = box.current;
    if (element) setSeen({ top: element.scrollTop, size: element.clientHeight });
  };
  useLayoutEffect(() => {
    measure();
    addEventListener("resize", measure);
    return () => removeEventListener("resize", measure);
  }, []);
  const list = shown.value;
  const height = rowHeight();
  const first = Math.max(0, Math.floor(seen.top / height) - AHEAD);
  const last = Math.min(list.length, Math.ceil((seen.top + seen.size) / height) + AHEAD);
  const scale = scaleOf(list);
  return (
    <div class="card history-list" role="table" aria-label="Replies" aria-rowcount={list.length + 1}>
      <div role="row" class="history-head" aria-rowindex={1}>
        <span role="columnheader">when</span>
        <span role="columnheader">model</span>
        <span role="columnheader" class="client">client</span>
        <span role="columnheader">class</span>
        <span role="columnheader" class="bar">wait for the first token</span>
        <span role="columnheader" class="figure">wait</span>
      </div>
      <div class="history-scroll" role="rowgroup" tabIndex={0} aria-label="Replies, newest first"
        ref={box} onScroll={measure}>
        <div role="presentation" style={{ blockSize: `${list.length * height}px` }}>
          {list.slice(first, last).map((row, i) => (
            <Line key={row.id} row={row} index={first + i} scale={scale} height={height} />
          ))}
        </div>
      </div>
    </div>
  );
}
