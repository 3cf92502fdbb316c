// SPDX-License-Identifier: Apache-2.0
import type { Action } from "../actions";
import { ago, bytes, count, duration, when } from "../format";
import { LAYERS, LAYER_TEXT, isNotNeeded, warmthOf } from "../layers";
import { levels } from "../store";
import type { LayerName, Model } from "../types";
import { ActionButton } from "./action_dialog";

// What would change something.
function verbsFor(model: Model, layer: LayerName): Action["verb"][] {
  const state = model.layers[layer];
  if (isNotNeeded(layer, state)) return [];
  const verbs: Action["verb"][] = [];
  if (layer === "artifact" ? state.level !== "verified" : warmthOf(layer, state) < 1) verbs.push("warm");
  // Files that nobody could fetch again are not ours to delete.
  if (state.bytes > 0 && (layer !== "artifact" || model.source !== null)) verbs.push("cool");
  if (layer === "pages" || layer === "weights") verbs.push(model.pinned.includes(layer) ? "unpin" : "pin");
  return verbs;
}

// Each layer by itself: what is there, and what can be done about it.
function LayerTable({ model }: { model: Model }) {
  return (
    <table class="layer-table">
      <thead>
        <tr><th scope="col">layer</th><th scope="col">level</th><th scope="col" class="figure">there</th>
          <th scope="col" class="figure">of</th><th scope="col"><span class="visually-hidden">actions</span></th></tr>
      </thead>
      <tbody>
        {LAYERS.map((layer) => {
          const state = model.layers[layer];
          return (
            <tr key={layer}>
              <th scope="row"><span class={`swatch fill ${layer}`} aria-hidden="true" />{layer}
                <small>{LAYER_TEXT[layer]}</small></th>
              <td>{state.level}{state.detail && <small>{state.detail}</small>}</td>
              <td class="figure">{bytes(state.bytes)}</td>
              <td class="figure">{bytes(state.total)}</td>
              <td class="layer-actions">
                {verbsFor(model, layer).map((verb) => (
                  <ActionButton key={verb} quiet action={{ verb, model: model.name, layer }}
                    label={verb === "unpin" ? "Unpin" : undefined} />
                ))}
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

// What was promised for this model, and what had to be given up; openly, also where it is missed.
function Claim({ model }: { model: Model }) {
  const known = levels.data.value;
  const claim = known?.warmth.find((w) => w.model === model.name)?.claim;
  const harmed = known?.protected.filter((p) => p.state === "harmed") ?? [];
  return (
    <>
      {claim && (
        <p class="note">
          Asked for: first token within {duration(claim.ttft_ms)} after {duration(claim.idle_gap_s * 1000)} of
          idleness. It is <strong>{claim.state}</strong>, {claim.met} of {claim.of} times.
          {claim.bound_ms !== null && ` 95 of 100 starts would take up to ${duration(claim.bound_ms)} now.`}
          {claim.given_up.map((g) => ` Its ${g.layer} had to be given up: ${g.why}.`)}
          {claim.given_up.length === 0 && claim.reason && ` ${claim.reason}.`}
        </p>
      )}
      {harmed.map((p) => (
        <p key={p.name} class="note">{p.name} comes first and is harmed{p.gave_way.length > 0 && `; given up for it: ${p.gave_way.join(", ")}`}.</p>
      ))}
    </>
  );
}

export function ModelDetails({ model }: { model: Model }) {
  const worker = model.worker;
  return (
    <div class="model-details">
      <LayerTable model={model} />
      <Claim model={model} />
      <dl class="figures">
        <div><dt>Stays loaded</dt><dd>{model.keep_alive.startsWith("-") ? "until memory is wanted" : `${model.keep_alive} after a reply`} <small>({model.keep_alive_source})</small></dd></div>
        {model.expires_at_us !== undefined && <div><dt>Goes at</dt><dd>{when(model.expires_at_us)}</dd></div>}
        <div><dt>Last used</dt><dd>{ago(model.last_used_us)}</dd></div>
        <div><dt>Context</dt><dd>{worker && `${count(worker.context)} of `}{count(model.trained_context)} tokens</dd></div>
        {worker && <div><dt>Worker</dt><dd>{bytes(worker.resident_bytes)}, {duration(worker.uptime_ms)}, {worker.backend}</dd></div>}
        <div><dt>Files</dt><dd>{model.store}{model.source && `, ${model.source}`}</dd></div>
      </dl>
    </div>
  );
}
