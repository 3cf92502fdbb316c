// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from "preact/hooks";
import { ask, textOf } from "../api";
import { duration, when } from "../format";
import { Icon } from "../parts/icon";
import { argument, link } from "../route";
import { mayWatch, reports } from "../store";
import type { LabCell, LabSummary, Report } from "../types";

const SHOWN = 6; // states; the report has all

const STUDIES: Record<string, string> = {
  classes: "Cold, warm and between", ablate: "What each layer is worth", idle: "After a pause",
  mix: "A day of a household", household: "A household's forecasts",
};

function path(name: string, part: "page" | "summary"): string {
  return `/api/hearth/reports/${encodeURIComponent(name)}?part=${part}`;
}

async function textOfReport(name: string, part: "page" | "summary"): Promise<string> {
  return (await ask(path(name, part))).text();
}

function Median({ cell }: { cell: LabCell | undefined }) {
  const wait = cell?.figures.wait_ms;
  if (!wait) return <td class="muted">–</td>;
  return (
    <td title={`${duration(wait.low)} to ${duration(wait.high)}, ${wait.n} trials`}>
      {duration(wait.median)}
    </td>
  );
}

// Medians of the wait for a first token, by state and server.
function Headline({ summary }: { summary: LabSummary }) {
  const arms = summary.arms.filter((arm) => summary.cells.some((cell) => cell.arm === arm));
  const cellOf = (arm: string, side: string) =>
    summary.cells.find((cell) => cell.arm === arm && cell.side === side);
  return (
    <div class="scroll">
      <table class="lab-figures">
        <caption class="muted">Wait for the first token, medians</caption>
        <thead><tr><th scope="col">state</th>{summary.sides.map((side) => <th key={side} scope="col">{side}</th>)}</tr></thead>
        <tbody>
          {arms.slice(0, SHOWN).map((arm) => (
            <tr key={arm}>
              <th scope="row">{arm}</th>
              {summary.sides.map((side) => <Median key={side} cell={cellOf(arm, side)} />)}
            </tr>
          ))}
        </tbody>
      </table>
      {arms.length > SHOWN && <p class="muted">{arms.length - SHOWN} more states in the report.</p>}
    </div>
  );
}

function Run({ run }: { run: Report }) {
  const [summary, setSummary] = useState<LabSummary | null>(null);
  useEffect(() => {
    if (!run.summary) return;
    textOfReport(run.name, "summary").then((text) => setSummary(JSON.parse(text)), () => setSummary(null));
  }, [run.name]);
  return (
    <li class="card run">
      <header>
        <h2>{STUDIES[run.study] ?? run.study}</h2>
        {run.report
          ? <a class="button" href={link("lab", run.name)} aria-label={`Report of ${run.name}`}>Report</a>
          : <span class="muted">no report yet: <code>hearth lab report</code></span>}
      </header>
      <p class="muted name">{when(run.started_us)} · {run.model} · {run.name}</p>
      {summary && <Headline summary={summary} />}
    </li>
  );
}

// The report's page has its styles inside, which this page's policy allows nowhere; so they are
// taken out and set through the frame's objects. Nothing in the frame runs.
function Frame({ html, name }: { html: string; name: string }) {
  const styles: string[] = [];
  const bare = html.replace(/<style>([^]*?)<\/style>/g, (_, css: string) => {
    styles.push(css);
    return "";
  });
  const dress = (event: Event) => {
    const inside = (event.currentTarget as HTMLIFrameElement).contentDocument;
    const view = inside?.defaultView as (Window & typeof globalThis) | null | undefined;
    if (!inside || !view) return;
    const sheet = new view.CSSStyleSheet();
    sheet.replaceSync(styles.join("\n"));
    inside.adoptedStyleSheets = [sheet];
  };
  return <iframe class="report" title={`Report ${name}`} sandbox="allow-same-origin" srcdoc={bare} onLoad={dress} />;
}

function Shown({ name }: { name: string }) {
  const [html, setHtml] = useState("");
  const [error, setError] = useState("");
  useEffect(() => {
    textOfReport(name, "page").then(setHtml, (wrong) => setError(textOf(wrong)));
  }, [name]);
  const save = () => {
    const address = URL.createObjectURL(new Blob([html], { type: "text/html" }));
    const anchor = Object.assign(document.createElement("a"), { href: address, download: `${name}.html` });
    anchor.click();
    URL.revokeObjectURL(address);
  };
  return (
    <div class="page lab">
      <div class="page-head">
        <a class="button" href={link("lab")}><Icon name="back" />All runs</a>
        <h1 class="grow name">{name}</h1>
        <button type="button" disabled={!html} onClick={save}>Save</button>
      </div>
      {error && <p class="error" role="alert">{error}</p>}
      {html && <Frame html={html} name={name} />}
    </div>
  );
}

function Runs() {
  const known = reports.use();
  const list = known?.reports ?? [];
  return (
    <div class="page lab">
      <div class="page-head">
        <h1>Lab</h1>
        <p class="muted">what <code>hearth lab</code> measured on this machine</p>
      </div>
      {reports.error.value && <p class="error" role="alert">{reports.error.value}</p>}
      {known && list.length === 0 && (
        <p class="card muted">
          No runs yet. <code>hearth lab classes --model NAME --quick</code> measures each kind of start
          {known.directory && <>; runs under <code class="name">{known.directory}</code> are listed here</>}.
        </p>
      )}
      <ul class="page">{list.map((run) => <Run key={run.name} run={run} />)}</ul>
    </div>
  );
}

export function Lab() {
  if (!mayWatch.value) return <p class="muted">This wants a read-only or an admin's key.</p>;
  return argument.value ? <Shown name={argument.value} /> : <Runs />;
}
