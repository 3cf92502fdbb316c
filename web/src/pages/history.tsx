// SPDX-License-Identifier: Apache-2.0
import { useEffect } from "preact/hooks";
import { count, shortName } from "../format";
import { filter, isNarrow, knownClients, knownModels, narrow, shown, widen, type Filter } from "../filter";
import { historyError, isLoading, isWhole, loadBack, rows } from "../history";
import { CLASSES, LAYERS } from "../layers";
import { mayWatch } from "../store";
import { argument } from "../route";
import { HistoryChart } from "../parts/history_chart";
import { HistoryList } from "../parts/history_list";
import { RequestDetail } from "../parts/request_detail";

function Choice({ name, label, options }: { name: keyof Filter; label: string; options: readonly string[] }) {
  return (
    <label>
      {label}
      <select value={String(filter.value[name])}
        onChange={(event) => narrow({ [name]: event.currentTarget.value })}>
        <option value="">all</option>
        {options.map((option) => <option key={option} value={option}>{shortName(option)}</option>)}
      </select>
    </label>
  );
}

function Filters() {
  return (
    <form class="filters" aria-label="Filter" onSubmit={(event) => event.preventDefault()}>
      <Choice name="class" label="Class" options={CLASSES} />
      <Choice name="model" label="Model" options={knownModels.value} />
      <Choice name="client" label="Client" options={knownClients.value} />
      <Choice name="layer" label="Cold layer" options={LAYERS} />
      {isNarrow.value && <button type="button" onClick={widen}>Show all</button>}
    </form>
  );
}

function Count() {
  const all = rows.value.length;
  const text = isNarrow.value ? `${count(shown.value.length)} of ${count(all)} replies` : `${count(all)} replies`;
  return (
    <p class="muted" role="status">
      {text}{isLoading.value || !isWhole.value ? ", reading on…" : ""}
    </p>
  );
}

export function History() {
  useEffect(() => { void loadBack(); }, []);
  if (!mayWatch.value) return <p class="muted">The history wants a read-only or an admin's key.</p>;
  const open = argument.value;
  return (
    <div class={`page history${open ? " with-detail" : ""}`}>
      <div class="history-main">
        <div class="page-head"><h1>History</h1><Count /></div>
        <Filters />
        {historyError.value && <p class="error" role="alert">{historyError.value}</p>}
        <HistoryChart />
        <HistoryList />
      </div>
      {open && <RequestDetail key={open} id={open} />}
    </div>
  );
}
