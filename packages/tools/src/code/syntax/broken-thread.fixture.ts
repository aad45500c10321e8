import { parentPort } from "node:worker_threads";
import type { ParseRequest } from "./queries.ts";

// A thread that does what a parser does at its worst, when a file says so.

parentPort?.on("message", ({ id, bytes }: ParseRequest) => {
  const text = new TextDecoder().decode(bytes);
  if (text === "end") process.exit(3);
  if (text === "throw") throw new Error("as it was told");
  if (text === "broken") return parentPort?.postMessage({ kind: "broken", id, problem: "memory access out of bounds" });
  if (text === "hang") for (;;);
  if (text === "fill") for (const all: string[][] = []; ; ) all.push(Array.from({ length: 1_000_000 }, String));
  parentPort?.postMessage({ kind: "answer", id, answer: { problem: `read: ${text}` } });
});
parentPort?.postMessage({ kind: "ready" });
