import { metadataKeys, topKeys } from "./agent-keys.ts";
import type { FileParts } from "./front-matter.ts";
import type { ProblemReport } from "./problem-report.ts";
import { type Field, type Fields, readYaml, type YamlFailure } from "./yaml-fields.ts";

/**
 * Reads the keys of the front matter. Invalid YAML is common in agent files, so its keys are then read one by one. Returns
 * null if nothing could be read; the report has the reason.
 */
export function readFields(parts: FileParts, report: ProblemReport): Fields | null {
  const read = readYaml(parts.yaml, parts.yamlOffset);
  if ("failure" in read) return recoverFields(parts, read.failure, report);
  for (const { key, offset } of read.duplicates) reportDuplicate(key, offset, report);
  if (read.aliasOffset !== null) {
    report.error(read.aliasOffset, {
      code: "yaml-alias",
      message: "the front matter uses a YAML alias, which agent files may not use",
      fix: "replace the alias (*) with its value",
    });
    return null;
  }
  if (read.fields === null) {
    report.error(read.startOffset, {
      code: "not-a-mapping",
      message: "the front matter has no keys and values",
      fix: "write lines such as name: my-agent",
    });
  }
  return read.fields;
}

/** Keys that grant permissions. Their values are never guessed. */
const strictKeys: ReadonlySet<string> = new Set(["subagents", "troupe"]);

/** The lines from one known key to the next. */
interface KeyBlock {
  key: string;
  text: string;
  offset: number;
}

/**
 * Reads invalid YAML key by key. The lines of a key are read as YAML if they are valid, and otherwise as plain text, with a
 * warning that shows how to quote the value. Invalid `subagents` and `troupe` are errors, because they grant permissions.
 */
function recoverFields(parts: FileParts, failure: YamlFailure, report: ProblemReport): Fields | null {
  const { before, blocks } = splitAtKeys(parts);
  const hasOtherText = /^[ \t]*[^\s#]/m.test(before);
  if (blocks.length === 0 || hasOtherText) {
    report.error(parts.yamlOffset + failure.offset, {
      code: "invalid-yaml",
      message: `the front matter is not valid YAML: ${lowerFirst(failure.message)}`,
      fix: "write one key per line without indentation, such as name: my-agent",
    });
    return null;
  }
  const fields: Fields = new Map();
  let invalidCount = 0;
  for (const block of blocks) {
    const read = readYaml(block.text, block.offset);
    const valid = !("failure" in read) && read.aliasOffset === null ? read.fields : null;
    if (valid === null) {
      reportInvalidYaml(block, "failure" in read ? read.failure : failure, report);
      invalidCount += 1;
    }
    const asText = strictKeys.has(block.key) ? [] : [toTextField(block)];
    const found = valid === null ? asText : valid.values();
    for (const field of found) addField(field, fields, report);
  }
  if (invalidCount === 0) {
    report.warn(parts.yamlOffset + failure.offset, {
      code: "invalid-yaml",
      message: `the front matter is not valid YAML (${lowerFirst(failure.message)}), so its keys were read one by one`,
      fix: "start each key at the beginning of a line, and put values with : or # in double quotes",
    });
  }
  return fields;
}

function reportInvalidYaml(block: KeyBlock, failure: YamlFailure, report: ProblemReport): void {
  const reason = lowerFirst(failure.message);
  const offset = block.offset + Math.min(failure.offset, block.text.trimEnd().length);
  if (strictKeys.has(block.key)) {
    report.error(offset, {
      code: "invalid-yaml",
      message: `${block.key} is not valid YAML: ${reason}`,
      fix: `write ${block.key}: on its own line, and its keys below it, indented by two spaces`,
    });
    return;
  }
  report.warn(offset, {
    code: "invalid-yaml",
    message: `${block.key} is not valid YAML (${reason}), so it was read as plain text up to the next key`,
    fix: quotingFix(block),
  });
}

function addField(field: Field, fields: Fields, report: ProblemReport): void {
  if (!fields.has(field.key)) {
    fields.set(field.key, field);
    return;
  }
  reportDuplicate(field.key, field.keyOffset, report);
}

function reportDuplicate(key: string, offset: number, report: ProblemReport): void {
  report.error(offset, {
    code: "duplicate-key",
    message: `the key ${key} occurs twice`,
    fix: `remove one of the two ${key} lines`,
  });
}

/**
 * Only known keys start a block, because a description can contain lines such as `Context: …`. So does an unknown key in lower
 * case with a list: no sentence looks like that.
 */
function splitAtKeys({ yaml, yamlOffset }: FileParts): { before: string; blocks: KeyBlock[] } {
  const starts = [...yaml.matchAll(/^([A-Za-z_][A-Za-z0-9_-]*):(?=\s|$)/gm)].filter(
    ({ 0: { length }, 1: key = "", index }) =>
      topKeys.has(key) || metadataKeys.has(key) || hasList(yaml, key, index + length),
  );
  const blocks = starts.map((start, i) => ({
    key: start[1] ?? "",
    text: yaml.slice(start.index, starts[i + 1]?.index ?? yaml.length),
    offset: yamlOffset + start.index,
  }));
  return { before: yaml.slice(0, starts[0]?.index ?? yaml.length), blocks };
}

function hasList(yaml: string, key: string, from: number): boolean {
  return /^[a-z]/.test(key) && /^[ \t]*(\[|\r?\n[ \t]*- )/.test(yaml.slice(from, from + 200));
}

function toTextField(block: KeyBlock): Field {
  const afterKey = block.text.slice(block.key.length + 1);
  const valueOffset = block.offset + block.key.length + 1 + (/\S/.exec(afterKey)?.index ?? 0);
  return {
    key: block.key,
    keyOffset: block.offset,
    value: plainText(block),
    valueOffset,
    offsetOf: () => valueOffset,
    keyOffsetOf: () => block.offset,
    keysWithoutValue: () => [],
    comment: null,
  };
}

function plainText(block: KeyBlock): string {
  const text = block.text
    .slice(block.key.length + 1)
    .split(/\r?\n/)
    .map((line) => line.trim())
    .join("\n")
    .trim();
  const quoted = /^(["'])([\s\S]*)\1$/.exec(text);
  return quoted?.[2] ?? text;
}

/** Shows the corrected line if it is short enough. */
function quotingFix(block: KeyBlock): string {
  const quoted = `${block.key}: ${JSON.stringify(plainText(block))}`;
  if (quoted.length <= 200) return `quote the value: ${quoted}`;
  return `put the value in double quotes, or write ${block.key}: >- and the text on the lines below, indented by two spaces`;
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
