// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren } from "preact";
import { bytes, shortName } from "../format";
import { memory, models, prefix, version } from "../store";
import type { Device, Memory, Model, PrefixView } from "../types";

function diskText(disk: Device): string {
  const rate = Math.max(0, ...disk.rates.map((r) => r.bytes_per_s ?? 0));
  const about = [disk.kind, disk.file_system].filter((text) => text && text !== "unknown").join(", ");
  const parts = [disk.name + (about ? ` (${about})` : "")];
  if (rate > 0) parts.push(`read at ${bytes(rate)}/s`);
  if (disk.read_ahead_bytes) parts.push(`reads ahead ${bytes(disk.read_ahead_bytes)}`);
  return parts.join(", ");
}

function memoryText({ machine, limit_bytes, limit_reason }: Memory): string {
  return `${bytes(machine.available)} of ${bytes(machine.total)} available; `
    + `models may have ${bytes(limit_bytes)}, ${limit_reason}`;
}

// Who takes weights out of memory again, and after how long.
function staysText(list: Model[]): string {
  const stays = new Map<string, string[]>();
  for (const model of list) {
    const length = model.keep_alive.startsWith("-") ? "until memory is wanted" : `${model.keep_alive} after use`;
    const stay = `${length} (${model.keep_alive_source})`;
    stays.set(stay, [...stays.get(stay) ?? [], shortName(model.name)]);
  }
  return [...stays].map(([stay, names]) => `${stay}: ${names.join(", ")}`).join("; ");
}

function keptText(list: Model[], kept: PrefixView | null): string {
  const compiled = list.reduce((sum, model) => sum + model.layers.compiled.bytes, 0);
  const parts = compiled > 0 ? [`compiled ${bytes(compiled)}`] : [];
  if (kept) parts.push(`prompts ${bytes(kept.memory.bytes)} in memory, ${bytes(kept.disk.bytes)} on disk`);
  return parts.join("; ");
}

function Row({ name, children }: { name: string; children: ComponentChildren }) {
  if (!children) return null;
  return <><dt>{name}</dt><dd>{children}</dd></>;
}

// What waits depend on, as the server knows it.
export function Facts() {
  const about = version.use();
  const known = memory.use();
  const kept = prefix.use();
  const list = models.value ?? [];
  const pressure = known?.pressure.cpu_some_avg10;
  return (
    <section class="card" aria-labelledby="facts-title">
      <header>
        <h2 id="facts-title">What waits depend on</h2>
        <p class="muted"><code>hearth doctor --facts</code> has swap, clocks and options besides</p>
      </header>
      <dl class="facts">
        <Row name="disks">{about?.devices?.map(diskText).join("; ")}</Row>
        <Row name="memory">{known && memoryText(known)}</Row>
        <Row name="swap">{known?.machine.swap_used ? `${bytes(known.machine.swap_used)} used` : ""}</Row>
        <Row name="processors">
          {typeof pressure === "number" && `somebody waited for one during ${Math.round(pressure)} % of the last 10 s`}
        </Row>
        <Row name="weights stay">{staysText(list)}</Row>
        <Row name="kept">{keptText(list, kept)}</Row>
      </dl>
    </section>
  );
}
