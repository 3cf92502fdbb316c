// SPDX-License-Identifier: Apache-2.0
import { layerOfClass } from "../layers";

// A reply's class: how cold the coldest layer was that it had to warm.
export function ClassTag({ name, outcome }: { name: string | null; outcome: string }) {
  const failed = outcome !== "ok";
  const part = layerOfClass(name) ?? (name === "warm" ? "warm" : "other");
  return (
    <span class={`class-tag${failed ? " failed" : ""}`}>
      <span class={`swatch fill ${part}`} aria-hidden="true" />
      {failed ? outcome : name ?? "no class"}
    </span>
  );
}
