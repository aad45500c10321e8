/** Columns that a text takes in a terminal: wide scripts and emoji take two, combining marks none. */
export function textWidth(text: string): number {
  let width = 0;
  for (const character of text) width += characterWidth(character);
  return width;
}

/** Cut to at most `width` columns; what was cut shows as an ellipsis. */
export function truncate(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  if (width <= 0) return "";
  let kept = "";
  let used = 0;
  for (const character of text) {
    used += characterWidth(character);
    if (used > width - 1) break;
    kept += character;
  }
  return `${kept.trimEnd()}…`;
}

/** Broken into lines of at most `width` columns, at whatever character comes there: nothing of it is lost. */
export function wrap(text: string, width: number): string[] {
  return text.split("\n").flatMap((line) => breakLine(line, Math.max(2, width)));
}

function breakLine(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  let used = 0;
  for (const character of text) {
    const columns = characterWidth(character);
    if (used + columns > width) {
      lines.push(line);
      line = "";
      used = 0;
    }
    line += character;
    used += columns;
  }
  return [...lines, line];
}

export function pad(text: string, width: number, align: "left" | "right" = "left"): string {
  const space = " ".repeat(Math.max(0, width - textWidth(text)));
  return align === "left" ? text + space : space + text;
}

const zero = /^[\p{Mn}\p{Me}\p{Cf}]$/u;
const wide =
  /^[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Emoji_Presentation}\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]$/u;

function characterWidth(character: string): number {
  if (character < "\u0300") return 1;
  if (zero.test(character)) return 0;
  return wide.test(character) ? 2 : 1;
}
