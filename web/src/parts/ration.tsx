// SPDX-License-Identifier: Apache-2.0
import { bytes } from "../format";

export interface Share {
  fill: string; // a class of styles/
  label: string;
  bytes: number;
}

// One amount of memory, cut into who has it.
export function Ration({ shares, whole, label, legend }: { shares: Share[]; whole: number; label: string; legend?: boolean }) {
  const text = `${label}: ${shares.map((share) => `${share.label} ${bytes(share.bytes)}`).join(", ")}`;
  return (
    <div class="ration">
      <div class="ration-bar" role="img" aria-label={text}>
        {shares.map((share) => share.bytes > 0 && (
          <span key={share.fill} class={`fill ${share.fill}`} title={`${share.label}: ${bytes(share.bytes)}`}
            style={{ inlineSize: `${(share.bytes / Math.max(whole, 1)) * 100}%` }} />
        ))}
      </div>
      {legend && (
        <ul class="legend" aria-hidden="true">
          {shares.filter((share) => share.bytes > 0).map((share) => (
            <li key={share.fill}><span class={`swatch fill ${share.fill}`} />{share.label} <b>{bytes(share.bytes)}</b></li>
          ))}
        </ul>
      )}
    </div>
  );
}
