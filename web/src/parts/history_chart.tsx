// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef } from "preact/hooks";
import type uPlot from "uplot";
import { narrow, shown } from "../filter";
import type { Row } from "../history";
import { CLASSES, layerOfClass } from "../layers";

const HEIGHT = 152;
const REDRAW_MS = 300;
const GRID_PX = 70; // at least, between two marks

type Columns = uPlot.AlignedData;

// One series a class; a first token in less than a millisecond is drawn as one.
function columnsOf(list: readonly Row[]): Columns {
  const old = [...list].reverse().filter((row) => row.ttft !== undefined);
  const times = old.map((row) => row.at / 1000);
  const series = CLASSES.map((name) =>
    old.map((row) => (row.class === name ? Math.max(1, row.ttft!) : null)));
  return [times, ...series] as Columns;
}

function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

const hour = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const second = new Intl.DateTimeFormat(undefined, { minute: "2-digit", second: "2-digit" });
const date = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });

// The day at midnight, else the hour; of a stretch of minutes, the second.
function timeMarks(_: uPlot, marks: number[]): string[] {
  const close = marks.length > 1 && marks[1]! - marks[0]! < 60;
  if (close) return marks.map((s) => second.format(s * 1000));
  return marks.map((s) => {
    const at = new Date(s * 1000);
    return at.getHours() + at.getMinutes() === 0 ? date.format(at) : hour.format(at);
  });
}

// Powers of ten alone.
function tens(_: uPlot, marks: number[]): (number | null)[] {
  return marks.map((ms) => (Number.isInteger(Math.log10(ms)) ? ms : null));
}

function waitMarks(_: uPlot, marks: (number | null)[]): (string | null)[] {
  return marks.map((ms) => (ms === null ? null : ms < 1000 ? `${ms} ms` : `${ms / 1000} s`));
}

function optionsFor(width: number): uPlot.Options {
  const axis = { stroke: colour("soft"), grid: { stroke: colour("line"), width: 1 }, ticks: { show: false }, font: "12px system-ui, sans-serif" };
  return {
    width, height: HEIGHT, legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: true, y: false, setScale: false } },
    scales: { x: { time: true }, y: { distr: 3, log: 10 } },
    axes: [
      { ...axis, size: 28, space: GRID_PX, values: timeMarks },
      { ...axis, size: 54, grid: { ...axis.grid, filter: tens as never }, filter: tens as never, values: waitMarks as never },
    ],
    series: [{}, ...CLASSES.map((name) => ({ label: name, paths: () => null, points: { show: false } }))],
    hooks: { draw: [dots], setSelect: [choose] },
  };
}

const DOT = 4; // of CSS pixels

// Squares one by one: a path of ten thousand circles takes a second where there is no GPU.
function dots(plot: uPlot) {
  const size = DOT * devicePixelRatio;
  const [times, ...series] = plot.data;
  const { left, top, width, height } = plot.bbox;
  plot.ctx.save();
  plot.ctx.beginPath();
  plot.ctx.rect(left, top - size, width + size, height + 2 * size);
  plot.ctx.clip();
  CLASSES.forEach((name, i) => {
    plot.ctx.fillStyle = colour(layerOfClass(name) ?? "warm");
    series[i]!.forEach((value, at) => {
      if (value === null || value === undefined) return;
      const x = plot.valToPos(times[at]!, "x", true);
      const y = plot.valToPos(value, "y", true);
      plot.ctx.fillRect(x - size / 2, y - size / 2, size, size);
    });
  });
  plot.ctx.restore();
}

// A stretch of time that was drawn over is what one wants to see.
function choose(plot: uPlot) {
  const { left, width } = plot.select;
  if (width < 4) return;
  narrow({ from: plot.posToVal(left, "x") * 1000, to: plot.posToVal(left + width, "x") * 1000 });
  plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
}

async function draw(box: HTMLDivElement, columns: Columns): Promise<uPlot> {
  const { default: Plot } = await import("uplot");
  box.replaceChildren();
  return new Plot(optionsFor(box.clientWidth), columns, box);
}

// First tokens over time, coloured by class: where a morning was slow stands out.
export function HistoryChart() {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const timer = useRef(0);
  const list = shown.value;
  const newest = useRef(list);
  const none = list.length === 0;
  useEffect(() => {
    newest.current = list;
    if (timer.current !== 0 || none) return;
    const show = async () => {
      if (!plot.current && box.current) plot.current = await draw(box.current, columnsOf(newest.current));
      else plot.current?.setData(columnsOf(newest.current));
      timer.current = 0;
    };
    timer.current = window.setTimeout(() => void show(), plot.current ? REDRAW_MS : 0);
  }, [list]);
  useEffect(() => {
    const resized = new ResizeObserver(() => {
      if (box.current) plot.current?.setSize({ width: box.current.clientWidth, height: HEIGHT });
    });
    if (box.current) resized.observe(box.current);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const recolour = () => {
      plot.current?.destroy();
      plot.current = null;
      if (box.current) void draw(box.current, columnsOf(shown.value)).then((p) => { plot.current = p; });
    };
    dark.addEventListener("change", recolour);
    return () => {
      clearTimeout(timer.current);
      resized.disconnect();
      dark.removeEventListener("change", recolour);
      plot.current?.destroy();
    };
  }, []);
  return (
    <figure class="card history-chart">
      <figcaption>
        Time to the first token. Draw over a stretch of time to see it alone.
        <span class="legend">
          {CLASSES.map((name) => (
            <span key={name}><span class={`swatch fill ${layerOfClass(name) ?? "warm"}`} aria-hidden="true" />{name}</span>
          ))}
        </span>
      </figcaption>
      <div ref={box} aria-hidden="true" />
    </figure>
  );
}
