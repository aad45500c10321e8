import { topKeys } from "./agent-keys.ts";
import type { FileParts } from "./front-matter.ts";
import type { Report } from "./report.ts";
import { type Field, type Fields, readYaml, type YamlFailure } from "./yaml-fields.ts";

/** Keys with structure, that say what an agent may do. */
const neverGuessed: ReadonlySet<string> = new Set(["subagents", "troupe"]);

/** Lines from one known key up to the next. */
interface Chunk {
  key: string;
  text: string;
  offset: number;
}

/**
 * Reads front matter that is not valid YAML, key by key: each key's own lines as YAML where they are that, and as
 * plain text where not. Every key so read gets a warning with the line and the way to quote it. Keys that say what
 * an agent may do are never guessed at: broken `subagents` and `troupe` are errors.
 */
export function salvageFields(parts: FileParts, failure: YamlFailure, report: Report): Fields | null {
  const { before, chunks } = cut(parts);
  const strayOffset = /^[ \t]*[^\s#]/m.exec(before)?.index;
  if (chunks.length === 0 || strayOffset !== undefined) {
    report.error(parts.yamlOffset + failure.offset, {
      code: "invalid-yaml",
      message: `the front matter is not valid YAML: ${lowerFirst(failure.message)}`,
      fix: "write lines such as name: my-agent, not indented, one key on each",
    });
    return null;
  }
  const fields: Fields = new Map();
  let blamed = 0;
  for (const chunk of chunks) {
    const read = readYaml(chunk.text, chunk.offset);
    const sound = !("failure" in read) && read.aliasOffset === null ? read.fields : null;
    if (sound === null) {
      blame(chunk, "failure" in read ? read.failure : failure, report);
      blamed += 1;
    }
    const guessed = neverGuessed.has(chunk.key) ? [] : [asText(chunk)];
    const found = sound === null ? guessed : sound.values();
    for (const field of found) keep(field, fields, report);
  }
  if (blamed === 0) {
    report.warn(parts.yamlOffset + failure.offset, {
      code: "invalid-yaml",
      message: `the front matter is not valid YAML (${lowerFirst(failure.message)}); its keys were read one by one`,
      fix: "put each key at the start of a line, and values with : or # in double quotes",
    });
  }
  return fields;
}

function blame(chunk: Chunk, failure: YamlFailure, report: Report): void {
  const why = lowerFirst(failure.message);
  const offset = chunk.offset + Math.min(failure.offset, chunk.text.trimEnd().length);
  if (neverGuessed.has(chunk.key)) {
    report.error(offset, {
      code: "invalid-yaml",
      message: `${chunk.key} is not valid YAML: ${why}`,
      fix: `write ${chunk.key}: alone on its line, and its keys below it, indented by two spaces`,
    });
    return;
  }
  report.warn(offset, {
    code: "invalid-yaml",
    message: `${chunk.key} is not valid YAML (${why}); it was read as plain text up to the next key`,
    fix: quotingFix(chunk),
  });
}

function keep(field: Field, fields: Fields, report: Report): void {
  if (!fields.has(field.key)) {
    fields.set(field.key, field);
    return;
  }
  report.error(field.keyOffset, {
    code: "duplicate-key",
    message: `${field.key} is given twice`,
    fix: `remove one of the two ${field.key} lines`,
  });
}

/** Only known keys begin a chunk: examples in a description have lines such as `Context: …` too. */
function cut({ yaml, yamlOffset }: FileParts): { before: string; chunks: Chunk[] } {
  const starts = [...yaml.matchAll(/^([A-Za-z_]+):(?=\s|$)/gm)].filter(([, key]) => key && topKeys.has(key));
  const chunks = starts.map((start, i) => ({
    key: start[1] ?? "",
    text: yaml.slice(start.index, starts[i + 1]?.index ?? yaml.length),
    offset: yamlOffset + start.index,
  }));
  return { before: yaml.slice(0, starts[0]?.index ?? yaml.length), chunks };
}

function asText(chunk: Chunk): Field {
  const afterKey = chunk.text.slice(chunk.key.length + 1);
  const valueOffset = chunk.offset + chunk.key.length + 1 + (/\S/.exec(afterKey)?.index ?? 0);
  return {
    key: chunk.key,
    keyOffset: chunk.offset,
    value: plainText(chunk),
    valueOffset,
    offsetOf: () => valueOffset,
    keyOffsetOf: () => chunk.offset,
    comment: null,
  };
}

function plainText(chunk: Chunk): string {
  const text = chunk.text
    .slice(chunk.key.length + 1)
    .split(/\r?\n/)
    .map((line) => line.trim())
    .join("\n")
    .trim();
  const quoted = /^(["'])([\s\S]*)\1$/.exec(text);
  return quoted?.[2] ?? text;
}

/** The line as it should be, where it is short enough to be shown. */
function quotingFix(chunk: Chunk): string {
  const quoted = `${chunk.key}: ${JSON.stringify(plainText(chunk))}`;
  if (quoted.length <= 200) return `quote the value: ${quoted}`;
  return `put the value in double quotes, or write ${chunk.key}: >- and the text below it, indented by two spaces`;
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
