import { parentPort } from "node:worker_threads";
import { go } from "../languages/go.ts";
import { java } from "../languages/java.ts";
import { javascript } from "../languages/javascript.ts";
import { python } from "../languages/python.ts";
import { rust } from "../languages/rust.ts";
import type { Grammar } from "./grammar.ts";
import { occurrencesIn } from "./occurrences.ts";
import { outlineOf } from "./outline.ts";
import type { ParseRequest, SyntaxResult, ThreadMessage, Unparsed } from "./queries.ts";
import { loadTreeSitter, type TreeParser } from "./tree-sitter.ts";

// Entry of the parser thread. It parses one file at a time. A hostile file can crash this thread, but not the process.

/** By language id, which is also the name of the grammar file. */
const grammars: Readonly<Record<string, Grammar>> = {
  typescript: javascript,
  tsx: javascript,
  javascript,
  python,
  go,
  rust,
  java,
};

const parseTimeoutMs = 2_000;

async function resultOf(parser: TreeParser, request: ParseRequest): Promise<SyntaxResult | Unparsed> {
  const { language, bytes, query } = request;
  const grammar = grammars[language];
  const text = decodeSource(bytes);
  if (!grammar) return { problem: `there is no grammar for ${language}` };
  if (typeof text !== "string") return text;
  const tree = await parser.parse(language, text, parseTimeoutMs);
  if (!tree) return { problem: `it could not be parsed within ${parseTimeoutMs} ms` };
  try {
    if (query.kind === "occurrences") return occurrencesIn(grammar, tree.rootNode, text, query.name);
    const outline = outlineOf(grammar, tree.rootNode);
    return { ...outline, definitions: outline.definitions.map(({ start: _start, ...definition }) => definition) };
  } finally {
    tree.delete();
  }
}

/** Files with longer lines on average are minified or generated. */
const averageLineLengthMax = 400;
const minifiedLengthMin = 20_000;

/** The text of a source file, or the reason why it is not worth parsing. */
function decodeSource(bytes: Uint8Array): string | Unparsed {
  const encoding = encodingOf(bytes);
  if (encoding === "utf-8" && bytes.includes(0)) return { problem: "it is binary" };
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
    return isMinified(text) ? { problem: "it is minified or generated: its lines are too long" } : text;
  } catch {
    return { problem: `it is not valid ${encoding === "utf-8" ? "UTF-8" : "UTF-16"}` };
  }
}

/** Reads the byte order mark. The decoder removes it. */
function encodingOf([first, second]: Uint8Array): "utf-8" | "utf-16le" | "utf-16be" {
  if (first === 0xff && second === 0xfe) return "utf-16le";
  return first === 0xfe && second === 0xff ? "utf-16be" : "utf-8";
}

function isMinified(text: string): boolean {
  if (text.length < minifiedLengthMin) return false;
  let lines = 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines += 1;
  return text.length / lines > averageLineLengthMax;
}

const post = (message: ThreadMessage): void => parentPort?.postMessage(message);
const parser = await loadTreeSitter();

parentPort?.on("message", async (request: ParseRequest) => {
  try {
    post({ kind: "result", id: request.id, result: await resultOf(parser, request) });
  } catch (error) {
    // The parser is in an unknown state after a fault.
    post({ kind: "broken", id: request.id, problem: error instanceof Error ? error.message : String(error) });
    parentPort?.close();
  }
});
post({ kind: "ready" });
