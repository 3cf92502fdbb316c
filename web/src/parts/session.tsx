// SPDX-License-Identifier: Apache-2.0
import { key, keyWanted, setKey } from "../api";
import { role, version } from "../store";
import { connection, type Connection } from "../stream";

const WORDS: Record<Connection, string> = {
  connecting: "Connecting",
  live: "Live",
  lost: "Not connected, trying again",
  refused: "No live view with this key",
  paused: "Paused",
};

// How fresh the page is, and who one is to the server.
export function Status() {
  const state = connection.value;
  const known = version.data.value;
  return (
    <div class="status">
      <p role="status" class={`connection ${state}`}><span>{WORDS[state]}</span></p>
      {known && key.value !== "" && (
        <button type="button" class="quiet" onClick={() => setKey("")}
          title="Forget the key in this tab">
          {role.value}
        </button>
      )}
    </div>
  );
}

function take(event: SubmitEvent) {
  event.preventDefault();
  const form = event.currentTarget as HTMLFormElement;
  const value = String(new FormData(form).get("key") ?? "").trim();
  if (value) setKey(value);
}

export function KeyForm() {
  return (
    <form class="card key-form" onSubmit={take}>
      <h1>A key, please</h1>
      <p>{keyWanted.value} It stays in this tab and is forgotten when the tab is closed.</p>
      <label>
        Key
        <input name="key" type="password" autocomplete="off" spellcheck={false} required />
      </label>
      <button type="submit" class="primary">Use this key</button>
      <p class="muted">
        <code>hearth keys add NAME --role read-only</code> makes one that can look and change nothing.
      </p>
    </form>
  );
}
