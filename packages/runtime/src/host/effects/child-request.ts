import { type RunError, RunFailure, type RunRequest, type ToolOutcome } from "@troupe/core";
import { type EffectOf, joinTaint, noTaint, projectOf, taintField } from "@troupe/core/internal";
import { type EffectScope, toolContext } from "./effect.ts";

/** The most characters of all context files together. */
export const filesCharactersMax = 200_000;

/** The most lines of one context file. */
const linesMax = 10_000;

/** Matches the first half of a character that a cut has split. */
const halfCharacter = /[\uD800-\uDBFF]$/;

/** An isolated child gets a longer file only in its folder, not in the request. */
const inlineCharactersMax = 20_000;

/** The complete request of a child: with its context files and its workspace, which only the parent's host knows. */
export async function childRequest(effect: EffectOf<"runChild">, scope: EffectScope): Promise<RunRequest> {
  return await withWorkspace(await withContextFiles(effect, scope), scope);
}

/**
 * Adds the content of the context files to the request. The parent's host reads them with the parent's grant, so a
 * parent passes on only files that it may read itself. An isolated child finds them in its folder too.
 *
 * Throws a `RunFailure` that names the first unreadable file.
 */
export async function withContextFiles(effect: EffectOf<"runChild">, scope: EffectScope): Promise<RunRequest> {
  const { request, step, call, item } = effect;
  if (request.contextFiles.length === 0) return request;
  const isIsolated = request.workspace.mode === "isolated";
  const parts: string[] = [];
  let taint = request.taint ?? noTaint;
  let charactersLeft = filesCharactersMax;
  for (const [index, path] of request.contextFiles.entries()) {
    const file = await readContextFile(path, `${step}/${call}/${item}/${index}`, scope);
    const content = file.output;
    taint = joinTaint(taint, file.taint);
    const isOnlyInFolder = isIsolated && content.length > inlineCharactersMax;
    parts.push(
      isOnlyInFolder
        ? `File ${path}: ${content.length} characters, in your folder`
        : partOf(path, content, charactersLeft),
    );
    charactersLeft -= isOnlyInFolder ? 0 : Math.min(charactersLeft, content.length);
  }
  const context = [request.context, ...parts].filter((part) => part !== null).join("\n\n");
  return { ...request, context, ...taintField(taint) };
}

async function readContextFile(path: string, key: string, scope: EffectScope): Promise<ToolOutcome> {
  const call = { id: key, name: "read", args: { path, limit: linesMax }, problem: null };
  const outcome = await scope.deps.tools.run(call, toolContext(scope, key, { approved: false, plan: null }));
  if (outcome.error) throw unreadable(path, outcome.error);
  return outcome;
}

function partOf(path: string, content: string, charactersLeft: number): string {
  if (charactersLeft === 0) {
    return `File ${path}: left out, the ${filesCharactersMax} characters for files are used up`;
  }
  const shown = content.slice(0, charactersLeft).replace(halfCharacter, "");
  const cut = shown.length < content.length ? `\n[cut: ${shown.length} of ${content.length} characters]` : "";
  const fence = fenceAround(shown);
  return `File ${path}:\n${fence}\n${shown}\n${fence}${cut}`;
}

/** Longer than every run of backticks in the text, so that a file cannot end its own fence. */
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

/** Adds the child's workspace: the folder of a parent in a worktree, or a reference to an isolated child's first files. */
async function withWorkspace(request: RunRequest, scope: EffectScope): Promise<RunRequest> {
  const { workspace } = request;
  if (workspace.mode === "isolated") {
    const files = await storeFirstFiles(request, scope);
    return files === null ? request : { ...request, workspace: { ...workspace, files } };
  }
  if (scope.request.workspace.mode !== "worktree") return request;
  const project = projectOf(scope.request);
  return { ...request, workspace: { ...workspace, path: scope.folder.path, project } };
}

/** Null if the child starts with an empty folder. */
async function storeFirstFiles({ agent, contextFiles }: RunRequest, { deps, request, pin, folder }: EffectScope) {
  if (!deps.folders) return null;
  const target = pin.targets.find(({ id }) => id === agent);
  const isCopy = request.workspace.mode === "isolated" && target?.workspace !== "isolated";
  if (isCopy) return await deps.folders.snapshot(folder.path);
  return contextFiles.length === 0 ? null : await deps.folders.snapshotFiles(folder.path, contextFiles);
}
