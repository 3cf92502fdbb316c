// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, useState } from "preact/hooks";
import { asked, needsAdmin, perform, preview, previewError, propose, titleOf, type Action } from "../actions";
import { mayChange, mayUse } from "../store";

// Shows what an action costs before it is done.
export function ActionDialog() {
  const box = useRef<HTMLDialogElement>(null);
  const [busy, setBusy] = useState(false);
  const action = asked.value;
  useEffect(() => {
    if (action) box.current?.showModal();
    else box.current?.close();
  }, [action]);
  const confirm = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    await perform(action!);
    setBusy(false);
    asked.value = null;
  };
  return (
    <dialog ref={box} aria-labelledby="action-title" onClose={() => { asked.value = null; }}>
      {action && (
        <form onSubmit={(event) => void confirm(event)}>
          <h2 id="action-title">{titleOf(action)}</h2>
          <Told />
          <div class="buttons">
            <button type="button" onClick={() => { asked.value = null; }}>Cancel</button>
            <button type="submit" class="primary" disabled={busy || previewError.value !== ""}>
              {busy ? "Working…" : titleOf(action).split(" ")[0] === "Let" ? "Let go" : titleOf(action).split(" ")[0]}
            </button>
          </div>
        </form>
      )}
    </dialog>
  );
}

function Told() {
  if (previewError.value) return <p class="error" role="alert">{previewError.value}</p>;
  const told = preview.value;
  if (!told) return <p class="muted">Working out what it costs…</p>;
  return (
    <>
      <p>{told.says}</p>
      <dl class="figures">
        {told.figures.map(({ what, value }) => (
          <div key={what}><dt>{what}</dt><dd>{value}</dd></div>
        ))}
      </dl>
      {told.notes.map((note) => <p key={note} class="note">{note}</p>)}
    </>
  );
}

// A button for one action; says why where the key may not.
export function ActionButton({ action, label, quiet }: { action: Action; label?: string; quiet?: boolean }) {
  const allowed = needsAdmin(action.verb) ? mayChange.value : mayUse.value;
  const why = needsAdmin(action.verb) ? "This wants an admin's key." : "A read-only key may only look.";
  return (
    <button type="button" class={quiet ? "quiet" : ""} disabled={!allowed}
      aria-label={titleOf(action)} title={allowed ? titleOf(action) : why}
      onClick={() => void propose(action)}>
      {label ?? titleOf(action).split(" ")[0]}
    </button>
  );
}
