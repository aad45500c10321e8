import { type Json, TroupeError } from "@troupe/core";
import {
  Document,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  parse,
  parseDocument,
  type YAMLMap,
} from "yaml";
import { type FileParts, splitFile } from "./front-matter.ts";
import { createProblemReport } from "./problem-report.ts";

/** New values by key, such as `model` or `troupe.limits.maxIterations`; undefined removes the key. */
export type AgentFileChanges = Readonly<Record<string, Json | undefined>>;

/**
 * Changes keys in the front matter of an agent file. Everything else stays byte for byte: the prompt, the comments, and the
 * order and the spelling of the other keys. New keys come last. Throws `INVALID_AGENT` for a file without valid front matter.
 *
 * @example
 * editAgentFile("---\nname: a # mine\n---\nDo it.\n", { "troupe.disabled": true });
 * // "---\nname: a # mine\ntroupe:\n  disabled: true\n---\nDo it.\n"
 */
export function editAgentFile(text: string, changes: AgentFileChanges): string {
  return Object.entries(changes).reduce((edited, [key, value]) => editKey(edited, key.split("."), value), text);
}

/**
 * Replaces the prompt of an agent file: everything below the front matter. Lines keep the line end of the file. Throws
 * `INVALID_AGENT` for a file without front matter.
 *
 * @example
 * replacePrompt("---\nname: a\n---\n\nDo it.\n", "Do it twice."); // "---\nname: a\n---\n\nDo it twice.\n"
 */
export function replacePrompt(text: string, prompt: string): string {
  const { bodyOffset } = frontMatterOf(text);
  const lineEnd = text.slice(0, bodyOffset).includes("\r\n") ? "\r\n" : "\n";
  const [before] = /^\s*/.exec(text.slice(bodyOffset)) ?? [""];
  const lines = prompt.replaceAll("\r\n", "\n").trim().replaceAll("\n", lineEnd);
  const head = text.slice(0, bodyOffset).endsWith("\n") ? "" : lineEnd;
  return `${text.slice(0, bodyOffset)}${head}${before}${lines}${lineEnd}`;
}

/** Keys whose value is a text, whatever it looks like. */
const textKeys: ReadonlySet<string> = new Set(["id", "name", "description", "model"]);

/**
 * Reads a value that a person gave as text: as YAML, so that `[read, write]`, `3` and `true` are not texts.
 *
 * @example
 * readKeyValue("maxTurns", "3"); // 3
 * readKeyValue("description", "Use it when: always"); // "Use it when: always"
 */
export function readKeyValue(key: string, text: string): Json {
  if (textKeys.has(key)) return text;
  try {
    return parse(text, { stringKeys: true, maxAliasCount: 0 }) as Json;
  } catch {
    return text;
  }
}

function editKey(text: string, path: readonly string[], value: Json | undefined): string {
  const { yaml, yamlOffset } = frontMatterOf(text);
  const document = parseDocument(yaml, { stringKeys: true });
  const [error] = document.errors;
  if (error) throw invalid(`the front matter is not valid YAML: ${error.message.split("\n")[0]}`);
  const contents = document.contents;
  if (contents !== null && !isMap(contents)) throw invalid("the front matter has no keys and values");
  if (contents?.flow) throw invalid("the front matter is one flow mapping, { … }");
  const edited = editYaml(yaml, { document, path, value });
  return text.slice(0, yamlOffset) + edited + text.slice(yamlOffset + yaml.length);
}

interface YamlEdit {
  document: Document.Parsed;
  path: readonly string[];
  value: Json | undefined;
}

function editYaml(yaml: string, { document, path, value }: YamlEdit): string {
  const [top = ""] = path;
  const before = pairOf(document, top);
  const [start, end] = before ? rangeOf(before, yaml) : [yaml.length, yaml.length];
  if (value !== undefined && path.length > 1 && hasNoKeys(document, top)) document.delete(top);
  if (value === undefined) {
    // The library throws for a key below one that the file does not have.
    if (!document.hasIn(path)) return yaml;
    document.deleteIn(path);
    removeEmptyParents(document, path);
  } else document.setIn(path, nodeOf(document, path, value));
  const after = pairOf(document, top);
  const lineEnd = yaml.includes("\r\n") ? "\r\n" : "\n";
  const written = after ? render(document, after, yaml).replaceAll("\n", lineEnd) : "";
  if (before && after) return yaml.slice(0, start) + written + yaml.slice(end);
  if (after) return `${yaml}${yaml === "" || yaml.endsWith("\n") ? "" : lineEnd}${written}${lineEnd}`;
  if (!before) return yaml;
  // The rest of the line can have a comment about the removed value.
  const rest = /^[^\n]*\n?/.exec(yaml.slice(end))?.[0] ?? "";
  return yaml.slice(0, start) + yaml.slice(end + rest.length);
}

/** The new value, with the comment behind the old one, and lists on one line. */
function nodeOf(document: Document.Parsed, path: readonly string[], value: Json): Node {
  const node = document.createNode(value) as Node;
  const old = document.getIn(path, true);
  if (isNode(old)) node.comment = old.comment ?? null;
  if (isSeq(node)) node.flow = !isSeq(old) || old.flow === true;
  return node;
}

/** A key without a value, such as `troupe:`, can get keys below it. */
function hasNoKeys(document: Document.Parsed, key: string): boolean {
  const value = document.get(key, true);
  return isScalar(value) && value.value === null;
}

function removeEmptyParents(document: Document.Parsed, path: readonly string[]): void {
  for (let length = path.length - 1; length > 0; length -= 1) {
    const parent = document.getIn(path.slice(0, length));
    if (!isMap(parent) || parent.items.length > 0) return;
    document.deleteIn(path.slice(0, length));
  }
}

function pairOf(document: Document.Parsed, key: string): Pair | undefined {
  const { contents } = document;
  if (!isMap(contents)) return undefined;
  // A key that was just added is a plain string.
  return (contents as YAMLMap).items.find((item) => (isScalar(item.key) ? item.key.value : item.key) === key);
}

/** From the start of the key to the end of the value, without the comment behind a plain value. */
function rangeOf({ key, value }: Pair, yaml: string): [number, number] {
  const start = isNode(key) ? (key.range?.[0] ?? 0) : 0;
  const end = isNode(value) && value.range ? value.range[1] : yaml.indexOf(":", start) + 1;
  return [start, start + yaml.slice(start, Math.max(end, yaml.indexOf(":", start) + 1)).trimEnd().length];
}

function render(document: Document.Parsed, pair: Pair, yaml: string): string {
  const single = new Document(undefined, { stringKeys: true });
  const map = document.createNode({}) as YAMLMap;
  // The text before and after the pair stays where it is, with its comments and blank lines.
  if (isNode(pair.key)) {
    pair.key.commentBefore = null;
    delete pair.key.spaceBefore;
  }
  if (isNode(pair.value)) pair.value.comment = null;
  map.items.push(pair as (typeof map.items)[number]);
  single.contents = map;
  return single.toString({ lineWidth: 0, flowCollectionPadding: /[[{] /.test(yaml) }).trimEnd();
}

function frontMatterOf(text: string): Pick<FileParts, "yaml" | "yamlOffset" | "bodyOffset"> {
  const report = createProblemReport("", text);
  // `splitFile` leaves a byte order mark to its caller.
  const mark = text.startsWith("\uFEFF") ? 1 : 0;
  const parts = splitFile(text.slice(mark), report);
  if (!parts) throw invalid(report.problems[0]?.message ?? "the file has no front matter");
  return { yaml: parts.yaml, yamlOffset: parts.yamlOffset + mark, bodyOffset: parts.bodyOffset + mark };
}

function invalid(message: string): TroupeError {
  return new TroupeError("INVALID_AGENT", `the file cannot be edited: ${message}`, {
    fix: "correct the front matter by hand, then check it: troupe agents validate FILE",
  });
}
