// SPDX-License-Identifier: Apache-2.0
import { duration } from "../format";
import type { Part, Split } from "../layers";

export interface Day {
  at: number;
  split: Split;
  replies: number;
  cold: number;
}

const weekday = new Intl.DateTimeFormat(undefined, { weekday: "short" });
const date = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });

function sumOf(split: Split, parts: readonly Part[]): number {
  return parts.reduce((sum, part) => sum + split[part], 0);
}

// A round number of seconds at or above the longest day, for the scale's top.
function topOf(ms: number): number {
  const seconds = Math.max(ms / 1000, 0.1);
  const power = 10 ** Math.floor(Math.log10(seconds));
  const step = [1, 2, 3, 5, 10].find((n) => n * power >= seconds)!;
  return step * power * 1000;
}

function Bar({ day, parts, top }: { day: Day; parts: readonly Part[]; top: number }) {
  const sum = sumOf(day.split, parts);
  const text = `${date.format(day.at)}: ${duration(sum)}, ${day.replies} replies, ${day.cold} of them not warm`;
  return (
    <li title={text}>
      <span class="day-total">{sum > 0 ? duration(sum) : ""}</span>
      <span class="day-bar" aria-hidden="true">
        {parts.map((part) => day.split[part] > 0 && (
          <span key={part} class={`fill ${part}`} style={{ blockSize: `${(day.split[part] / top) * 100}%` }} />
        ))}
      </span>
      <span class="day-name"><span class="visually-hidden">{text}</span>
        <span aria-hidden="true">{weekday.format(day.at)}<br /><small>{new Date(day.at).getDate()}</small></span>
      </span>
    </li>
  );
}

export function DayBars({ days, parts, total }: { days: Day[]; parts: readonly Part[]; total: Split }) {
  const top = topOf(Math.max(0, ...days.map((day) => sumOf(day.split, parts))));
  const used = parts.filter((part) => total[part] > 0);
  return (
    <>
      <ol class="days">
        {days.map((day) => <Bar key={day.at} day={day} parts={parts} top={top} />)}
      </ol>
      {used.length > 0 && (
        <dl class="figures sums">
          <div><dt>in all</dt><dd>{duration(sumOf(total, parts))}</dd></div>
          {used.map((part) => (
            <div key={part}><dt><span class={`swatch fill ${part}`} aria-hidden="true" /> {part === "work" ? "prompt" : part}</dt>
              <dd>{duration(total[part])}</dd></div>
          ))}
        </dl>
      )}
    </>
  );
}
