// SPDX-License-Identifier: Apache-2.0
import { bytes, duration, shortName, when } from "../format";
import { Ration, type Share } from "../parts/ration";
import { levels, mayWatch, memory, moves, prefix } from "../store";
import type { Memory, Move } from "../types";

const KINDS: Record<string, string> = {
  weights: "weights", repacked: "repacked weights", kv: "contexts (KV)", compute: "scratch for computing",
  hollow: "waiting workers", prefix: "kept prompts", pins: "pinned pages", other: "other",
};

function sharesOf(held: Memory["held"]): Share[] {
  return Object.entries(KINDS).map(([what, label]) => ({
    fill: `held-${what}`, label,
    bytes: held.filter((part) => part.what === what).reduce((sum, part) => sum + part.bytes, 0),
  })).filter((share) => share.bytes > 0);
}

// All of the machine's memory, side by side: ours, others', what the kernel keeps of files, free.
function machineOf(known: Memory): Share[] {
  const { total, available } = known.machine;
  const cache = known.page_cache.of_files ?? 0;
  const ours = known.page_cache.ours ?? 0;
  const free = Math.max(0, available - cache);
  const used = Math.max(0, total - available);
  const others = Math.max(0, used - known.held_bytes);
  return [
    { fill: "held-ours", label: "held by models", bytes: Math.min(known.held_bytes, used) },
    { fill: "held-others", label: "other programs", bytes: others },
    { fill: "pages", label: "page cache, our files", bytes: Math.min(ours, cache) },
    { fill: "held-cache", label: "page cache, other files", bytes: Math.max(0, cache - ours) },
    { fill: "held-free", label: "free", bytes: free },
  ];
}

function ByModel({ known }: { known: Memory }) {
  const names = [...new Set(known.held.map((part) => part.model ?? ""))]
    .map((name) => ({ name, shares: sharesOf(known.held.filter((p) => (p.model ?? "") === name)) }))
    .map((one) => ({ ...one, sum: one.shares.reduce((sum, share) => sum + share.bytes, 0) }))
    .sort((a, b) => b.sum - a.sum);
  const most = names[0]?.sum ?? 1;
  return (
    <ul class="by-model">
      {names.map(({ name, shares, sum }) => (
        <li key={name}>
          <span class="name">{name ? shortName(name) : "shared by all"}</span>
          <Ration shares={shares} whole={most} label={name || "shared"} />
          <span class="figure">{bytes(sum)}</span>
        </li>
      ))}
    </ul>
  );
}

function Budget({ known }: { known: Memory }) {
  const shares: Share[] = [
    ...sharesOf(known.held),
    { fill: "held-promised", label: "promised to loads", bytes: known.promised_bytes },
    { fill: "held-free", label: "free", bytes: known.free_bytes },
  ];
  return (
    <section class="card" aria-labelledby="budget-title">
      <header>
        <h2 id="budget-title">Budget: {bytes(known.held_bytes)} of {bytes(known.limit_bytes)}</h2>
        <p class="muted">{known.limit_reason}</p>
      </header>
      {known.over_bytes > 0 && <p class="note">{bytes(known.over_bytes)} more are held than the limit allows now; models give way.</p>}
      <Ration shares={shares} whole={known.limit_bytes + known.over_bytes} label="Budget" legend />
      <ByModel known={known} />
    </section>
  );
}

function Machine({ known }: { known: Memory }) {
  const { swap_used: swap, reserve, total } = known.machine;
  const { memory_some_avg10: pressure, cpu_some_avg10: cpu } = known.pressure;
  return (
    <section class="card" aria-labelledby="machine-title">
      <header><h2 id="machine-title">The machine: {bytes(total)}</h2></header>
      <Ration shares={machineOf(known)} whole={total} label="The machine" legend />
      <dl class="figures">
        <div><dt>Kept free for others</dt><dd>{bytes(reserve)}</dd></div>
        {swap !== null && <div><dt>Swap used</dt><dd>{bytes(swap)}</dd></div>}
        {pressure !== null && <div><dt>Pressure on memory</dt><dd>{pressure.toFixed(1)} %</dd></div>}
        {cpu !== null && <div><dt>Pressure on processors</dt><dd>{cpu.toFixed(1)} %</dd></div>}
        {known.cgroup?.limit && <div><dt>Limit of the group</dt><dd>{bytes(known.cgroup.used)} of {bytes(known.cgroup.limit)}</dd></div>}
      </dl>
      {known.devices.map((device) => (
        <div key={device.name} class="device">
          <h3>{device.name}</h3>
          <Ration whole={device.limit} label={device.name} shares={[
            { fill: "held-weights", label: "held", bytes: device.held },
            { fill: "held-free", label: "free", bytes: Math.max(0, device.limit - device.held) },
          ]} legend />
        </div>
      ))}
    </section>
  );
}

function Prompts() {
  const kept = prefix.use();
  if (!kept) return null;
  const asked = kept.hit_tokens + kept.missed_tokens;
  const tiers = [["memory", kept.memory], ["disk", kept.disk]] as const;
  return (
    <section class="card" aria-labelledby="prompts-title">
      <header><h2 id="prompts-title">Kept prompts</h2></header>
      {tiers.map(([name, tier]) => (
        <div key={name} class="tier">
          <span>{name}</span>
          <Ration whole={tier.limit} label={`Kept prompts, ${name}`} shares={[{ fill: "prefix", label: "kept", bytes: tier.bytes }]} />
          <span class="figure">{bytes(tier.bytes)} <small>of {bytes(tier.limit)}</small></span>
        </div>
      ))}
      <dl class="figures">
        <div><dt>Tokens not evaluated again</dt><dd>{asked > 0 ? `${Math.round((kept.hit_tokens / asked) * 100)} %` : "–"}</dd></div>
        <div><dt>Saved since the start</dt><dd>{duration(kept.saved_seconds * 1000)}</dd></div>
        <div><dt>Written to disk today</dt><dd>{bytes(kept.disk.written_today)}</dd></div>
      </dl>
    </section>
  );
}

const CAUSES: Record<string, string> = {
  evicted_for: "gave way to", pressure: "memory was short", protected: "a service comes first",
  prewarm: "read ahead", idle: "idle", asked: "asked for",
};

function MoveLine({ move }: { move: Move }) {
  const cause = CAUSES[move.cause] ?? move.cause;
  return (
    <li>
      <time class="muted">{when(move.at_us)}</time>
      <span class="name">{shortName(move.model)}</span>
      <span><span class={`swatch fill ${move.layer}`} aria-hidden="true" /> {move.layer}: {move.from} → {move.to}</span>
      <span class="muted">{cause}{move.for && ` ${shortName(move.for)}`}{move.error && `, in vain: ${move.error}`}</span>
      <span class="figure">{bytes(move.bytes)}</span>
    </li>
  );
}

function Moves() {
  const list = moves.use()?.moves ?? [];
  return (
    <section class="card" aria-labelledby="moves-title">
      <header><h2 id="moves-title">Moves</h2><p class="muted">what went a level down or up, and why</p></header>
      {list.length === 0 && <p class="muted">None since the server started.</p>}
      <ol class="moves">{list.slice(0, 60).map((move) => <MoveLine key={`${move.at_us}${move.model}${move.layer}`} move={move} />)}</ol>
    </section>
  );
}

function Promises() {
  const known = levels.data.value;
  if (!known) return null;
  const { prewarming } = known;
  return (
    <section class="card" aria-labelledby="promises-title">
      <header><h2 id="promises-title">Services and reading ahead</h2></header>
      <p>Reading ahead is <strong>{prewarming.state}</strong>{prewarming.model && `: ${shortName(prewarming.model)}`}.{prewarming.why && ` ${prewarming.why}`}</p>
      {known.protected.length === 0 && <p class="muted">No service is said to come first (<code>protected</code> in the configuration).</p>}
      <ul class="services">
        {known.protected.map((one) => (
          <li key={one.name}>
            <strong>{one.name}</strong> {one.state}
            {one.p99_ms !== null && <span class="muted"> p99 {duration(one.p99_ms)}, usually {duration(one.baseline_ms)}</span>}
            {one.gave_way.length > 0 && <p class="note">Given up for it: {one.gave_way.join(", ")}. {one.reason}</p>}
          </li>
        ))}
      </ul>
    </section>
  );
}

export function MemoryPage() {
  const known = memory.use();
  if (!mayWatch.value) return <p class="muted">This wants a read-only or an admin's key.</p>;
  return (
    <div class="page memory">
      <h1>Memory</h1>
      {memory.error.value && <p class="error" role="alert">{memory.error.value}</p>}
      {known && <Budget known={known} />}
      {known && <Machine known={known} />}
      <div class="columns"><Prompts /><Promises /></div>
      <Moves />
    </div>
  );
}
