// SPDX-License-Identifier: Apache-2.0
import { useState } from "preact/hooks";
import { post, textOf } from "../api";
import { bytes, duration, percent } from "../format";
import { tell } from "../parts/toasts";
import { mayChange, mayWatch, pulls } from "../store";
import type { Pull } from "../types";

async function fetchModel(source: string, name = ""): Promise<boolean> {
  try {
    await post("/api/hearth/pull", { source, ...(name ? { name } : {}), detach: true, stream: false });
    tell(`${source} is being fetched.`);
    return true;
  } catch (error) {
    tell(textOf(error), "bad");
    return false;
  } finally {
    await pulls.load();
  }
}

async function stop(pull: Pull, drop: boolean) {
  try {
    await post("/api/hearth/pulls/stop", { name: pull.source, drop });
  } catch (error) {
    tell(textOf(error), "bad");
  }
  await pulls.load();
}

function Ask() {
  const [busy, setBusy] = useState(false);
  const send = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const fields = new FormData(form);
    setBusy(true);
    const begun = await fetchModel(String(fields.get("source")).trim(), String(fields.get("name")).trim());
    setBusy(false);
    if (begun) form.reset();
  };
  const allowed = mayChange.value;
  return (
    <form class="card fetch" onSubmit={(event) => void send(event)}>
      <label class="grow">
        Model to fetch
        <input name="source" required disabled={!allowed} autocomplete="off" spellcheck={false}
          placeholder="qwen2.5:7b or hf.co/owner/name:Q4_K_M" />
      </label>
      <label>
        Name here
        <input name="name" disabled={!allowed} autocomplete="off" spellcheck={false} placeholder="as it is called there" />
      </label>
      <button type="submit" class="primary" disabled={!allowed || busy}>Fetch</button>
      {!allowed && <p class="muted">Fetching wants an admin's key.</p>}
    </form>
  );
}

function Progress({ pull }: { pull: Pull }) {
  const known = pull.total_bytes > 0;
  const fraction = known ? pull.done_bytes / pull.total_bytes : 0;
  return (
    <>
      <div class="meter pull-meter" role="progressbar" aria-label={`Fetching ${pull.name}`}
        aria-valuemin={0} aria-valuemax={100} aria-valuenow={Math.floor(fraction * 100)}>
        <span style={{ inlineSize: `${fraction * 100}%` }} />
      </div>
      <p class="muted">
        {bytes(pull.done_bytes)}{known && ` of ${bytes(pull.total_bytes)}, ${percent(fraction)}`}
        {pull.state === "running" && pull.bytes_per_s > 0 && `, ${bytes(pull.bytes_per_s)}/s`}
        {pull.eta_ms !== undefined && pull.state === "running" && `, ${duration(pull.eta_ms)} to go`}
      </p>
    </>
  );
}

function One({ pull }: { pull: Pull }) {
  const going = pull.state === "running" || pull.state === "queued";
  const off = !mayChange.value;
  return (
    <li class="card pull">
      <div class="row">
        <h3 class="grow name">{pull.name || pull.source}</h3>
        <span>{pull.stage && pull.state === "running" ? pull.stage : pull.state}</span>
        {going
          ? <button type="button" disabled={off} onClick={() => void stop(pull, false)}>Pause</button>
          : <button type="button" disabled={off} onClick={() => void fetchModel(pull.source, pull.name)}>Go on</button>}
        <button type="button" disabled={off} onClick={() => void stop(pull, true)}
          title="Stops it and deletes what has arrived">Discard</button>
      </div>
      {pull.name && pull.source !== pull.name && <p class="muted name">{pull.source}</p>}
      <Progress pull={pull} />
      {pull.reason && <p class="error">{pull.reason}</p>}
    </li>
  );
}

export function Downloads() {
  const list = pulls.use()?.pulls ?? [];
  return (
    <div class="page downloads">
      <h1>Downloads</h1>
      <Ask />
      {!mayWatch.value && <p class="muted">What is being fetched wants a read-only or an admin's key.</p>}
      {pulls.error.value && <p class="error" role="alert">{pulls.error.value}</p>}
      {pulls.data.value && list.length === 0 && <p class="muted">Nothing is being fetched, and nothing is half here.</p>}
      <ul class="page">{list.map((pull) => <One key={pull.source} pull={pull} />)}</ul>
    </div>
  );
}
