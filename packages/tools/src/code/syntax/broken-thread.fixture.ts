import { parentPort } from "node:worker_threads";
import type { ParseRequest } from "./queries.ts";

// A thread that fails in the way that the file's text names.

parentPort?.on("message", ({ id, bytes }: ParseRequest) => {
  const text = new TextDecoder().decode(bytes);
  if (text === "end") process.exit(3);
  if (text === "throw") throw new Error("the test wants this error");
  if (text === "broken") return parentPort?.postMessage({ kind: "broken", id, problem: "memory access out of bounds" });
  if (text === "hang") for (;;);
  if (text === "fill") for (const all: unknown[] = []; ; ) all.push(Array(1_000_000).fill(all));
  parentPort?.postMessage({ kind: "result", id, result: { problem: `read: ${text}` } });
});
parentPort?.postMessage({ kind: "ready" });
