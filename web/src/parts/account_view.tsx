// SPDX-License-Identifier: Apache-2.0
import { actionOf } from "../actions";
import { bytes, duration, percent } from "../format";
import { LAYERS } from "../layers";
import type { Account } from "../types";
import { ActionButton } from "./action_dialog";

// Why it was not warm, what that cost and what helps.
export function VerdictView({ account }: { account: Account }) {
  const { verdict, warm } = account;
  const action = actionOf(verdict?.remedy);
  return (
    <>
      {verdict && (
        <div class="verdict">
          <p>{verdict.text}</p>
          {verdict.remedy && <p class="muted">{verdict.remedy}</p>}
          {action && <ActionButton action={action} />}
        </div>
      )}
      {warm && (
        <p class="note">
          A first token within {duration(warm.ttft_ms)} was asked for; from where the model stood it
          could take up to {duration(warm.bound_ms)}. {warm.why}
        </p>
      )}
    </>
  );
}

// The five layers as the request met them, and what each warm one saved.
export function BeforeView({ account }: { account: Account }) {
  const { before, avoided } = account;
  if (!before) return null;
  return (
    <table class="before">
      <caption>What it met</caption>
      <tbody>
        {LAYERS.map((layer) => {
          const state = before[layer];
          const saved = avoided?.[layer];
          if (!state) return null;
          const partly = state.fraction > 0 && state.fraction < 1;
          return (
            <tr key={layer}>
              <th scope="row"><span class={`swatch fill ${layer}`} aria-hidden="true" /> {layer}</th>
              <td>{state.level}{partly && ` ${percent(state.fraction)}`}</td>
              <td class="muted">
                {saved && ["saved", saved.bytes ? bytes(saved.bytes) : "", saved.ms ? duration(saved.ms) : ""]
                  .filter(Boolean).join(" ")}
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
