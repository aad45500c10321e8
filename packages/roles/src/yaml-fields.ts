import {
  isAlias,
  isCollection,
  isMap,
  isNode,
  isScalar,
  type Node,
  type Pair,
  type ParsedNode,
  parseDocument,
  visit,
  type visitor,
} from "yaml";

/** A top key of the front matter, its value, and the offsets of nested values. Offsets are positions in the whole file. */
export interface Field {
  key: string;
  keyOffset: number;
  value: unknown;
  valueOffset: number;
  /** The offset of a nested value, or of its nearest existing parent. */
  offsetOf(path: readonly PropertyKey[]): number;
  keyOffsetOf(path: readonly PropertyKey[]): number;
  /** The nested keys that are written without a value, at most two levels deep. */
  keysWithoutValue(): string[][];
  /** The YAML comment after the value: text after ` #` is not part of the value. */
  comment: string | null;
}

export type Fields = Map<string, Field>;

/** True for a YAML mapping. */
export function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The first YAML error, at its offset in the YAML text. */
export interface YamlFailure {
  code: string;
  offset: number;
  message: string;
}

interface YamlRead {
  /** Null if the YAML is not a mapping. */
  fields: Fields | null;
  duplicates: { key: string; offset: number }[];
  aliasOffset: number | null;
  startOffset: number;
}

/** Reads YAML that starts at offset `base` of a file. Never throws. */
export function readYaml(text: string, base: number): YamlRead | { failure: YamlFailure } {
  try {
    return readYamlUnguarded(text, base);
  } catch (cause) {
    if (!(cause instanceof RangeError)) {
      return {
        failure: { code: "IMPOSSIBLE", offset: 0, message: cause instanceof Error ? cause.message : String(cause) },
      };
    }
    return { failure: tooDeep(text) };
  }
}

/** The failure for values that are nested too deeply for the call stack, at the place where the nesting gets deep. */
export function tooDeep(text: string): YamlFailure {
  const message = "values are nested too deeply";
  let depth = 0;
  for (const match of text.matchAll(/[[{]|[\]}]|\n|:(?=\s)|[-?](?=\s)/g)) {
    const [mark] = match;
    if (mark === "\n") depth = 0;
    else depth += "]}".includes(mark) ? -1 : 1;
    if (depth > 100) return { code: "RESOURCE_EXHAUSTION", offset: match.index, message };
  }
  const deepLine = /^[ ]{200}/m.exec(text);
  return { code: "RESOURCE_EXHAUSTION", offset: deepLine?.index ?? 0, message };
}

function readYamlUnguarded(text: string, base: number): YamlRead | { failure: YamlFailure } {
  const document = parseDocument(text, { stringKeys: true, prettyErrors: false, resolveKnownTags: false });
  const faults = [...document.errors, ...document.warnings].filter((fault) => fault.code !== "DUPLICATE_KEY");
  const fault = faults.sort((a, b) => a.pos[0] - b.pos[0])[0];
  if (fault?.code === "RESOURCE_EXHAUSTION") return { failure: { ...tooDeep(text), offset: fault.pos[0] } };
  if (fault) return { failure: { code: fault.code, offset: fault.pos[0], message: fault.message } };

  let aliasOffset: number | null = null;
  let danglingOffset: number | null = null;
  const findAlias: visitor = {
    Alias(_key, alias) {
      const offset = alias.range?.[0] ?? 0;
      if (alias.resolve(document) === undefined) danglingOffset ??= offset;
      else aliasOffset ??= base + offset;
    },
  };
  // Most files have no asterisk, and therefore no alias.
  if (text.includes("*")) visit(document, findAlias);
  if (danglingOffset !== null) {
    return {
      failure: { code: "BAD_ALIAS", offset: danglingOffset, message: "a value that starts with * is an alias" },
    };
  }
  const duplicates = document.errors.map((error) => ({
    key: /^[^\s:]{1,40}/.exec(text.slice(error.pos[0]))?.[0] ?? "a key",
    offset: base + error.pos[0],
  }));
  const contents = document.contents;
  const empty = contents === null || (isScalar(contents) && contents.value === null);
  const startOffset = base + (contents?.range?.[0] ?? 0);
  if (empty || aliasOffset !== null) return { fields: new Map(), duplicates, aliasOffset, startOffset };
  if (!isMap(contents)) return { fields: null, duplicates, aliasOffset, startOffset };
  const fields: Fields = new Map();
  for (const pair of contents.items) {
    const field = toField(pair as Pair<ParsedNode, ParsedNode | null>, base, (node) => node.toJS(document));
    if (!fields.has(field.key)) fields.set(field.key, field);
  }
  return { fields, duplicates, aliasOffset, startOffset };
}

function toField(pair: Pair<ParsedNode, ParsedNode | null>, base: number, toValue: (node: Node) => unknown): Field {
  const keyOffset = base + pair.key.range[0];
  const node = pair.value;
  const valueOffset = node && !isEmptyNull(node) ? base + node.range[0] : keyOffset;
  return {
    key: isScalar(pair.key) ? String(pair.key.value) : "",
    keyOffset,
    value: node ? toValue(node) : null,
    valueOffset,
    offsetOf: (path) => offsetBelow(node, path, base) ?? valueOffset,
    keyOffsetOf: (path) => keyOffsetBelow(node, path, base) ?? valueOffset,
    keysWithoutValue: () => keysWithoutValue(node, 2),
    comment: isScalar(node) && node.type === "PLAIN" ? (node.comment ?? null) : null,
  };
}

function offsetBelow(node: unknown, path: readonly PropertyKey[], base: number): number | null {
  for (let length = path.length; length > 0; length -= 1) {
    const found = isCollection(node) ? node.getIn(path.slice(0, length), true) : undefined;
    if (isNode(found) && found.range && !isEmptyNull(found)) return base + found.range[0];
    const key = keyOffsetBelow(node, path.slice(0, length), base);
    if (key !== null) return key;
  }
  return null;
}

function keyOffsetBelow(node: unknown, path: readonly PropertyKey[], base: number): number | null {
  const last = path.at(-1);
  const owner = path.length === 1 ? node : isCollection(node) ? node.getIn(path.slice(0, -1), true) : undefined;
  if (!isMap(owner)) return null;
  const pair = owner.items.find((item) => isScalar(item.key) && item.key.value === last);
  return pair && isScalar(pair.key) && pair.key.range ? base + pair.key.range[0] : null;
}

function keysWithoutValue(node: unknown, depth: number): string[][] {
  if (!isMap(node) || depth === 0) return [];
  return node.items.flatMap(({ key, value }) => {
    const name = isScalar(key) ? String(key.value) : "";
    if (value === null || (isNode(value) && isEmptyNull(value))) return [[name]];
    return keysWithoutValue(value, depth - 1).map((path) => [name, ...path]);
  });
}

/** A key without a value. The offset of its empty value would be past the end of the line. */
function isEmptyNull(node: Node): boolean {
  return !isAlias(node) && isScalar(node) && node.value === null && (node.source ?? "") === "";
}
