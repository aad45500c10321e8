import { type RunError, RunFailure, type RunRequest } from "@troupe/core";
import type { EffectOf } from "@troupe/core/internal";
import type { EffectScope } from "./effect.ts";
import { toolContext } from "./tool-context.ts";

/** How much of all its files together goes along with a request. */
export const filesCharactersMax = 200_000;

/** The most lines that one look into a file may ask for. */
const linesMax = 10_000;

/** What cutting between the two halves of a character leaves behind. */
const halfCharacter = /[\uD800-\uDBFF]$/;

/** Of an isolated child, a file longer than this is in its folder alone. */
const inWordsMax = 20_000;

/**
 * The request as the child gets it: with the content of the files that were named for it. They are read here, by the
 * parent's own hands and under the parent's grant, so that a parent can pass on only what it may read itself. Throws a
 * `RunFailure` that names the first file that it may not or cannot. An isolated child finds them in its folder as well.
 */
export async function withContextFiles(effect: EffectOf<"runChild">, scope: EffectScope): Promise<RunRequest> {
  const { request, step, call, item } = effect;
  if (request.contextFiles.length === 0) return request;
  const isIsolated = request.workspace.mode === "isolated";
  const parts: string[] = [];
  let left = filesCharactersMax;
  for (const [place, path] of request.contextFiles.entries()) {
    const content = await contentOf(path, `${step}/${call}/${item}/${place}`, scope);
    const isLeft = isIsolated && content.length > inWordsMax;
    parts.push(isLeft ? `File ${path}: ${content.length} characters, in your folder` : partOf(path, content, left));
    left -= isLeft ? 0 : Math.min(left, content.length);
  }
  const context = [request.context, ...parts].filter((part) => part !== null).join("\n\n");
  return { ...request, context };
}

async function contentOf(path: string, key: string, scope: EffectScope): Promise<string> {
  const call = { id: key, name: "read", args: { path, limit: linesMax }, problem: null };
  const { output, error } = await scope.deps.tools.run(call, toolContext(scope, key, { approved: false, plan: null }));
  if (error) throw unreadable(path, error);
  return output;
}

function partOf(path: string, content: string, left: number): string {
  if (left === 0) return `File ${path}: left out, the ${filesCharactersMax} characters for files are used up`;
  const shown = content.slice(0, left).replace(halfCharacter, "");
  const cut = shown.length < content.length ? `\n[cut: ${shown.length} of ${content.length} characters]` : "";
  const fence = fenceAround(shown);
  return `File ${path}:\n${fence}\n${shown}\n${fence}${cut}`;
}

/** Longer than any run of backticks within: no file can end its own fence. */
function fenceAround(text: string): string {
  const longest = (text.match(/`+/g) ?? []).reduce((max, run) => Math.max(max, run.length), 2);
  return "`".repeat(longest + 1);
}

function unreadable(path: string, error: RunError): RunFailure {
  return new RunFailure({
    type: error.type === "permission" ? "permission" : "params",
    message: `the context file ${path} cannot be passed on: ${error.message}`,
    tool: "read",
    recoverable: false,
  });
}
