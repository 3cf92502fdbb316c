// SPDX-License-Identifier: Apache-2.0
// Figures as people read them.

const UNITS = ["B", "kB", "MB", "GB", "TB"];

export function bytes(n: number | null | undefined): string {
  if (n === null || n === undefined) return "–";
  let unit = 0;
  let value = n;
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${digits(value, unit === 0 ? 0 : 1)} ${UNITS[unit]}`;
}

function digits(value: number, most: number): string {
  return value.toFixed(value >= 99.95 ? 0 : most);
}

export function duration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return "–";
  if (ms < 0.95) return "< 1 ms";
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${digits(ms / 1000, ms < 9_995 ? 2 : 1)} s`;
  if (ms < 9.95 * 60_000) return `${(ms / 60_000).toFixed(1)} min`;
  const minutes = Math.round(ms / 60_000);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${minutes % 60} min`;
  return `${Math.round(hours / 24)} days`;
}

export function count(n: number | undefined): string {
  return n === undefined ? "–" : n.toLocaleString("en");
}

export function parameters(n: number): string {
  if (n >= 1e9) return `${(n / 1e9).toFixed(1)} B`;
  return n >= 1e6 ? `${Math.round(n / 1e6)} M` : count(n);
}

export function percent(fraction: number): string {
  return `${Math.floor(fraction * 100 + 1e-9)} %`;
}

export function shortName(name: string): string {
  return name.endsWith(":latest") ? name.slice(0, -7) : name;
}

const clock = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23",
});
const dayAndClock = new Intl.DateTimeFormat(undefined, {
  day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23",
});

export function midnight(at: number = Date.now()): number {
  return new Date(at).setHours(0, 0, 0, 0);
}

export function when(us: number): string {
  const at = us / 1000;
  return at >= midnight() ? clock.format(at) : dayAndClock.format(at);
}

export function ago(us: number): string {
  if (us === 0) return "never";
  const ms = Math.max(0, Date.now() - us / 1000);
  return ms < 60_000 ? "just now" : `${duration(ms)} ago`;
}
