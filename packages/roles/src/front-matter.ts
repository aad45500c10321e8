import type { ProblemReport } from "./problem-report.ts";

/** The parts of an agent file. Offsets are positions in the whole text. */
export interface FileParts {
  yaml: string;
  yamlOffset: number;
  /** Start of the body, after the closing fence. */
  bodyOffset: number;
  body: string;
}

/**
 * The largest front matter. Real files stay below 10 KiB. The parse time of hostile YAML grows faster than its size.
 */
export const frontMatterBytesMax = 32 * 1024;

/** Splits a file into front matter and body. Reports an error and returns null if it has no valid front matter. */
export function splitFile(text: string, report: ProblemReport): FileParts | null {
  const opening = /\S/.exec(text)?.index ?? 0;
  const yamlOffset = endOfLine(text, opening);
  const fence = text.slice(opening, yamlOffset).trimEnd();
  if (!fence.startsWith("---") || startsMidLine(text, opening)) {
    report.error(opening, {
      code: "missing-front-matter",
      message: "the file does not start with front matter",
      fix: "start the file with a line ---, then name: and description:, then another line ---",
    });
    return null;
  }
  if (fence !== "---") {
    report.error(opening + 3, {
      code: "unsupported-front-matter",
      message: `the front matter starts with ${JSON.stringify(fence.slice(0, 40))}; only plain YAML is supported`,
      fix: "write only --- on the first line",
    });
    return null;
  }
  const closing = /^---[ \t]*\r?$/m.exec(text.slice(yamlOffset));
  if (!closing) {
    report.error(opening, {
      code: "unterminated-front-matter",
      message: `the front matter that starts on line ${report.locationAt(opening).line} has no closing line`,
      fix: "add a line --- after the last key, before the prompt",
    });
    return null;
  }
  const yaml = text.slice(yamlOffset, yamlOffset + closing.index);
  if (yaml.length > frontMatterBytesMax) {
    report.error(yamlOffset, {
      code: "front-matter-too-large",
      message: `the front matter has ${yaml.length} characters; the maximum is ${frontMatterBytesMax}`,
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
