// SPDX-License-Identifier: Apache-2.0
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { busy, chosen, clear, say, stop, turns, type Turn } from "../chat";
import { duration, shortName } from "../format";
import { LAYERS, split } from "../layers";
import { ActionButton } from "../parts/action_dialog";
import { VerdictView } from "../parts/account_view";
import { LevelBar, WaitBar } from "../parts/bars";
import { ClassTag } from "../parts/class_tag";
import { Icon } from "../parts/icon";
import { Prose } from "../parts/prose";
import { Waterfall } from "../parts/waterfall";
import { argument } from "../route";
import { mayUse, modelNamed, models } from "../store";

function canChat() {
  return (models.value ?? []).filter((m) => m.capabilities.includes("completion"));
}

// Which model answers, and how warm it is before anything is sent.
function Choice() {
  const list = canChat();
  const model = modelNamed(chosen.value);
  const there = model?.layers.weights.level === "resident";
  return (
    <div class="card chat-model">
      <label>
        Model
        <select value={chosen.value} onChange={(event) => { chosen.value = event.currentTarget.value; }}>
          {list.map((m) => <option key={m.name} value={m.name}>{shortName(m.name)}</option>)}
        </select>
      </label>
      {model && (
        <div class="levels">
          {LAYERS.map((layer) => <LevelBar key={layer} layer={layer} state={model.layers[layer]} />)}
        </div>
      )}
      {model && (
        <div class="first">
          <span class="what">first token now</span>
          <span class="value">{model.predicted_ttft?.known ? "" : "≈ "}{duration(model.predicted_ttft_ms)}</span>
        </div>
      )}
      {model && !there && <ActionButton action={{ verb: "load", model: model.name, layer: "weights" }} />}
      {turns.value.length > 0 && <button type="button" onClick={clear}>New chat</button>}
    </div>
  );
}

// Where this reply's time went.
function Timeline({ turn }: { turn: Turn }) {
  const account = turn.account!;
  const first = account.stages.find((stage) => stage.name === "first_decode");
  const ttft = first ? first.start_ms + (first.ms ?? 0) : undefined;
  const wait = split(account.stages, ttft ?? account.total_ms);
  return (
    <details class="timeline">
      <summary>
        <ClassTag name={account.class} outcome="ok" />
        <WaitBar split={wait} />
        <span class="figure">{duration(ttft)}</span>
      </summary>
      <Waterfall stages={account.stages} total={account.total_ms} ttft={ttft} />
      <VerdictView account={account} />
    </details>
  );
}

function Said({ turn }: { turn: Turn }) {
  return (
    <li class={`turn ${turn.role}`}>
      <span class="visually-hidden">{turn.role === "user" ? "You:" : "Reply:"}</span>
      {turn.thinking && <details class="thinking"><summary>Thinking</summary><Prose text={turn.thinking} /></details>}
      {turn.text && <Prose text={turn.text} />}
      {turn.progress && <p class="muted progress" role="status">{turn.progress}</p>}
      {turn.error && <p class="error" role="alert">{turn.error}</p>}
      {turn.account && <Timeline turn={turn} />}
    </li>
  );
}

function Composer() {
  const box = useRef<HTMLTextAreaElement>(null);
  const send = (event?: Event) => {
    event?.preventDefault();
    const text = box.current?.value.trim();
    if (!text || busy.value) return;
    box.current!.value = "";
    void say(text);
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) send(event);
  };
  const allowed = mayUse.value && chosen.value !== "";
  return (
    <form class="composer" onSubmit={send}>
      <textarea ref={box} rows={2} onKeyDown={onKey} disabled={!allowed} aria-label="Message"
        placeholder={mayUse.value ? "Ask something. Enter sends, Shift+Enter makes a line." : "A read-only key may only look."} />
      {busy.value
        ? <button type="button" onClick={stop} aria-label="Stop"><Icon name="stop" /></button>
        : <button type="submit" class="primary" disabled={!allowed} aria-label="Send"><Icon name="send" /></button>}
    </form>
  );
}

export function Chat() {
  const list = canChat();
  const end = useRef<HTMLLIElement>(null);
  useEffect(() => {
    const asked = argument.value && modelNamed(argument.value)?.name;
    if (asked) chosen.value = asked;
    else if (!modelNamed(chosen.value)) chosen.value = list[0]?.name ?? "";
  }, [argument.value, list.length]);
  useLayoutEffect(() => {
    if (turns.value.length > 0) end.current?.scrollIntoView({ block: "end" });
  }, [turns.value]);
  return (
    <div class="page chat">
      <h1 class="visually-hidden">Chat</h1>
      <Choice />
      {models.value !== null && list.length === 0 && <p class="muted">No model here can chat.</p>}
      {turns.value.length === 0 && list.length > 0 && (
        <p class="muted hint">The conversation lives in this tab alone. Under each reply you see where its time went.</p>
      )}
      <ol class="turns" aria-live="polite" aria-busy={busy.value}>
        {turns.value.map((turn, i) => <Said key={i} turn={turn} />)}
        <li ref={end} class="end" aria-hidden="true" />
      </ol>
      <Composer />
    </div>
  );
}
