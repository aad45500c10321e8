import type { Report } from "./report.ts";

/** An agent file, cut at its fences. Offsets count in the whole text. */
export interface FileParts {
  yaml: string;
  yamlOffset: number;
  /** Where the body begins, just after the closing fence. */
  bodyOffset: number;
  body: string;
}

/**
 * The most that front matter may hold. Real ones stay below 10 KiB; hostile YAML costs time that grows faster than
 * its size.
 */
export const frontMatterBytesMax = 32 * 1024;

/** Cuts a file into front matter and body. Reports an error and returns null where it cannot. */
export function splitFile(text: string, report: Report): FileParts | null {
  const opening = /\S/.exec(text)?.index ?? 0;
  const yamlOffset = endOfLine(text, opening);
  const fence = text.slice(opening, yamlOffset).trimEnd();
  if (!fence.startsWith("---") || startsMidLine(text, opening)) {
    report.error(opening, {
      code: "missing-front-matter",
      message: "the file does not begin with front matter",
      fix: "begin it with a line ---, then name: and description:, then another line ---",
    });
    return null;
  }
  if (fence !== "---") {
    report.error(opening + 3, {
      code: "unsupported-front-matter",
      message: `the front matter opens with ${JSON.stringify(fence.slice(0, 40))}; only plain YAML is read`,
      fix: "let the first line be --- and nothing else",
    });
    return null;
  }
  const closing = /^---[ \t]*\r?$/m.exec(text.slice(yamlOffset));
  if (!closing) {
    report.error(opening, {
      code: "unterminated-front-matter",
      message: `the front matter that opens on line ${report.placeAt(opening).line} is never closed`,
      fix: "add a line --- between the last key and the prompt",
    });
    return null;
  }
  const yaml = text.slice(yamlOffset, yamlOffset + closing.index);
  if (yaml.length > frontMatterBytesMax) {
    report.error(yamlOffset, {
      code: "front-matter-too-large",
      message: `the front matter holds ${yaml.length} characters; ${frontMatterBytesMax} is the most`,
      fix: "move long text below the closing ---, into the prompt",
    });
    return null;
  }
  const bodyOffset = endOfLine(text, yamlOffset + closing.index);
  return { yaml, yamlOffset, bodyOffset, body: text.slice(bodyOffset) };
}

function endOfLine(text: string, from: number): number {
  const at = text.indexOf("\n", from);
  return at === -1 ? text.length : at + 1;
}

function startsMidLine(text: string, offset: number): boolean {
  return offset > 0 && text[offset - 1] !== "\n";
}
