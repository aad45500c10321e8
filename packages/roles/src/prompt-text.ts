/** Marks where others' words begin and end, whatever they contain. */
export function fenced(tag: string, text: string): string[] {
  return [`<${tag}>`, text.replaceAll(`</${tag}>`, `< /${tag}>`), `</${tag}>`];
}

export function cut(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text;
  // Not within a surrogate pair: half of one is no text.
  return `${text.slice(0, charactersMax).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

export function onOneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

export function duration(ms: number): string {
  if (ms < 60_000) return `${Math.max(1, Math.floor(ms / 1_000))} s`;
  const seconds = Math.floor((ms % 60_000) / 1_000);
  return seconds === 0 ? `${Math.floor(ms / 60_000)} min` : `${Math.floor(ms / 60_000)} min ${seconds} s`;
}

/** The lesser of two caps, of which `null` is none. */
export function lesser(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.min(a, b);
}
