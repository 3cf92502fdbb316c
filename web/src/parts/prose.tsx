// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren } from "preact";

// What models write: paragraphs, fenced code, `code`, **bold**. All else stays as it is; nothing is
// ever taken for markup of the page.
export function Prose({ text }: { text: string }) {
  const blocks = text.split(/^```/m);
  return (
    <div class="prose">
      {blocks.map((block, i) => {
        if (i % 2 === 0) return <Paragraphs key={i} text={block} />;
        const [, language = "", code = ""] = block.match(/^([^\n]*)\n?([\s\S]*)$/) ?? [];
        return <pre key={i} tabIndex={0} aria-label={`Code ${language}`.trim()}><code>{code}</code></pre>;
      })}
    </div>
  );
}

function Paragraphs({ text }: { text: string }) {
  return (
    <>
      {text.split(/\n{2,}/).filter((part) => part.trim()).map((part, i) => <p key={i}>{inline(part.replace(/^\n+|\n+$/g, ""))}</p>)}
    </>
  );
}

function inline(text: string): ComponentChildren {
  return text.split(/(`[^`\n]+`|\*\*[^*\n]+\*\*)/).map((part, i) => {
    if (i % 2 === 0) return part;
    return part.startsWith("`")
      ? <code key={i}>{part.slice(1, -1)}</code>
      : <strong key={i}>{part.slice(2, -2)}</strong>;
  });
}
