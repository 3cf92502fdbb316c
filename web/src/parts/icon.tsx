// SPDX-License-Identifier: Apache-2.0

// Strokes on a field of 24 by 24.
const PATHS: Record<string, string> = {
  flame: "M12.4 3c.5 3.3 5 5.2 5 10.3a5.4 5.4 0 0 1-10.8 0c0-2.2 1-3.7 2.1-4.9.1 1.7.7 2.6 1.7 3C10.2 8.3 10.8 5.2 12.4 3z",
  now: "M3 12h4l3-8 4 16 3-8h4",
  history: "M4 6h16M4 12h16M4 18h10",
  waiting: "M5 20V11M12 20V4M19 20v-6",
  memory: "M6 6h12v12H6zM9 3v3M15 3v3M9 18v3M15 18v3M3 9h3M3 15h3M18 9h3M18 15h3",
  downloads: "M12 4v11M7.5 10.5 12 15l4.5-4.5M5 20h14",
  lab: "M9.5 4h5M10.5 4v6L5 19a1 1 0 0 0 .9 1.5h12.2A1 1 0 0 0 19 19l-5.5-9V4M7.5 15h9",
  chat: "M4 5h16v11H10l-4.5 4V16H4z",
  pin: "M9 4h6l-1 6 3 3v2H7v-2l3-3zM12 15v6",
  close: "M6 6l12 12M18 6 6 18",
  send: "M12 20V5M6 11l6-6 6 6",
  stop: "M7 7h10v10H7z",
  back: "M14.5 6l-6 6 6 6",
};

export function Icon({ name }: { name: string }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name] ?? ""} />
    </svg>
  );
}
