import { parentPort } from "node:worker_threads";
import { grammars } from "../languages/grammars.ts";
import { decodeSource } from "./decode-source.ts";
import { placesOf } from "./occurrences.ts";
import { outlineOf } from "./outline.ts";
import type { Answers, ParseRequest, ThreadMessage, Unparsed } from "./queries.ts";
import { loadTreeSitter, type SyntaxTree, type TreeParser } from "./tree-sitter.ts";

// Parses one file at a time, off the main thread: a hostile file can take this thread down, and nothing else.

const parseTimeoutMs = 2_000;

async function answer(parser: TreeParser, request: ParseRequest): Promise<Answers[keyof Answers] | Unparsed> {
  const grammar = grammars[request.language];
  const text = decodeSource(request.bytes);
  if (!grammar) return { problem: `there is no grammar for ${request.language}` };
  if (typeof text !== "string") return text;
  const tree = await parser.parse(request.language, text, parseTimeoutMs);
  if (!tree) return { problem: `it could not be parsed within ${parseTimeoutMs} ms` };
  try {
    return look(tree, grammar, text, request);
  } finally {
    tree.delete();
  }
}

function look(tree: SyntaxTree, grammar: NonNullable<(typeof grammars)[string]>, text: string, request: ParseRequest) {
  const { question } = request;
  if (question.kind === "places") return placesOf(grammar, tree.rootNode, text, question.name);
  const outline = outlineOf(grammar, tree.rootNode);
  return { ...outline, definitions: outline.definitions.map(({ start: _start, ...definition }) => definition) };
}

const say = (message: ThreadMessage): void => parentPort?.postMessage(message);
const parser = await loadTreeSitter();

parentPort?.on("message", async (request: ParseRequest) => {
  try {
    say({ kind: "answer", id: request.id, answer: await answer(parser, request) });
  } catch (error) {
    // After a fault in it nobody knows what state the parser is in.
    say({ kind: "broken", id: request.id, problem: error instanceof Error ? error.message : String(error) });
    parentPort?.close();
  }
});
say({ kind: "ready" });
