// SPDX-License-Identifier: Apache-2.0
import { useState } from "preact/hooks";
import { bytes, duration, parameters, shortName } from "../format";
import { LAYERS } from "../layers";
import { link } from "../route";
import { levels, mayUse, models, modelsError } from "../store";
import type { Model } from "../types";
import { ActionButton } from "./action_dialog";
import { LevelBar } from "./bars";
import { Icon } from "./icon";
import { ModelDetails } from "./model_details";

function FirstToken({ model }: { model: Model }) {
  const told = model.predicted_ttft;
  if (model.predicted_ttft_ms === undefined || !told) {
    return <div class="first"><span class="value">–</span><small>{model.reason ?? model.status}</small></div>;
  }
  return (
    <div class="first" title={`A short prompt that comes now: ${told.start}. Eight of ten first tokens are expected within the interval.`}>
      <span class="what">first token now</span>
      <span class="value">{told.known ? "" : "≈ "}{duration(model.predicted_ttft_ms)}</span>
      <small>{duration(told.low_ms)} – {duration(told.high_ms)}{told.known ? "" : ", a guess"}</small>
    </div>
  );
}

// What had to be given up of a model that was to stay warm, and what its start may take instead.
function GivenUp({ model }: { model: Model }) {
  const claim = levels.data.value?.warmth.find((w) => w.model === model.name)?.claim;
  if (!claim || claim.given_up.length === 0) return null;
  const layers = claim.given_up.map((g) => g.layer).join(", ");
  return (
    <p class="given-up" title={claim.given_up.map((g) => g.why).join("; ")}>
      given up: {layers}{claim.bound_ms !== null && `; a start may take ${duration(claim.bound_ms)}`}
    </p>
  );
}

function MainButtons({ model }: { model: Model }) {
  const there = model.layers.weights.level === "resident" || model.layers.weights.level === "loading";
  const pinned = model.pinned.includes("weights");
  return (
    <div class="model-buttons">
      {there
        ? <ActionButton action={{ verb: "unload", model: model.name, layer: "weights" }} />
        : <ActionButton action={{ verb: "load", model: model.name, layer: "weights" }} />}
      <ActionButton action={{ verb: pinned ? "unpin" : "pin", model: model.name, layer: "weights" }}
        label={pinned ? "Unpin" : "Pin"} />
      {mayUse.value && <a class="button" href={link("chat", model.name)}>Chat</a>}
    </div>
  );
}

function ModelRow({ model }: { model: Model }) {
  const [open, setOpen] = useState(false);
  const id = `model-${model.name.replace(/\W/g, "-")}`;
  const broken = model.status !== "ok";
  return (
    <li class={`model${open ? " open" : ""}`}>
      <div class="model-head">
        <div class="title">
          <button type="button" class="disclose" aria-expanded={open} aria-controls={id}
            onClick={() => setOpen(!open)}>
            <span class="chevron" aria-hidden="true" />
            <h3>{shortName(model.name)}</h3>
          </button>
          <p class="muted">
            {parameters(model.parameters)} · {model.quantization} · {bytes(model.size)}
            {model.pinned.length > 0 && (
              <span class="pinned"><Icon name="pin" />pinned: {model.pinned.join(", ")}</span>
            )}
            {model.active > 0 && <span class="busy">answering {model.active}</span>}
            {model.queued > 0 && <span class="busy">{model.queued} waiting</span>}
          </p>
          <GivenUp model={model} />
          {broken && <p class="error">{model.status}: {model.reason}</p>}
        </div>
        <div class="levels">
          {LAYERS.map((layer) => <LevelBar key={layer} layer={layer} state={model.layers[layer]} />)}
        </div>
        <FirstToken model={model} />
        <MainButtons model={model} />
      </div>
      {open && <div id={id}><ModelDetails model={model} /></div>}
    </li>
  );
}

export function ModelList() {
  const list = models.value;
  return (
    <section class="card models" aria-labelledby="models-title">
      <header><h2 id="models-title">Models</h2></header>
      {modelsError.value && <p class="error" role="alert">{modelsError.value}</p>}
      {list?.length === 0 && (
        <p class="muted">No models yet. <code>hearth import FILE</code> adds one of yours, and
          the <a href={link("downloads")}>downloads</a> fetch one.</p>
      )}
      <ul>{list?.map((model) => <ModelRow key={model.name} model={model} />)}</ul>
    </section>
  );
}

