import type { ToolContext } from "@troupe/core";
import type { FileChange, FilePlan } from "@troupe/core/internal";
import type { z } from "zod";
import { defineTool, type Tool, type ToolDefinition, type ToolResult } from "../define-tool.ts";
import { ChangedMeanwhile, changeFiles } from "../workspace/change-files.ts";
import { type FileBytes, shortVersion } from "../workspace/file-version.ts";
import { conflict } from "./conflict.ts";
import {
  type FileChangeRequest,
  filePlan,
  findPlaces,
  type PlannedFile,
  planFiles,
  targetOf,
  versionIn,
} from "./file-plan.ts";
import type { FileToolDeps } from "./file-tool-deps.ts";
import { finishPlan } from "./finish-plan.ts";
import { diffBytesMax, diffTexts, type TextDiff } from "./text-diff.ts";
import { decodeText } from "./text-file.ts";

export interface WriterDefinition<Input extends z.ZodObject>
  extends Pick<ToolDefinition<Input>, "name" | "description" | "input"> {
  /** What the call wants of which files. Throws a `RunFailure` for what cannot be wanted. */
  wishes(args: z.output<Input>): FileChangeRequest[];
  /** What a model is told, the same when it is found done after a restart: so of what was there before, nothing. */
  say(args: z.output<Input>, files: readonly WrittenFile[]): string;
}

export interface WrittenFile {
  shown: string;
  before: string | null;
  after: string | null;
  notes: readonly string[];
}

/**
 * A tool that changes files: what it will do is known before it begins, done as one, and can be checked after a kill.
 */
export function createWriter<Input extends z.ZodObject>(definition: WriterDefinition<Input>, room: FileToolDeps): Tool {
  const { name, description, input, wishes, say } = definition;
  const planned = createPlans();

  const plan = async (args: z.output<Input>, context: ToolContext): Promise<PlannedFile[]> => {
    try {
      return await planFiles(wishes(args), context, room);
    } catch (error) {
      room.turns.end(context);
      throw error;
    }
  };

  const resultOf = (args: z.output<Input>, files: readonly PlannedFile[], context: ToolContext): ToolResult => {
    for (const { real, after } of files) remember(real, after, context, room);
    const written = files.map((file) => ({ ...file, before: versionIn(file.before), after: versionIn(file.after) }));
    const seen = files.map(({ real, after }) => ({ path: real, version: versionIn(after) }));
    return { ...resultFrom(say(args, written), changesOf(files)), seen };
  };

  return defineTool({
    name,
    description,
    input,
    risk: "medium",
    effect: "verifiable",
    groups: ["filesystem"],
    async plan(args, context) {
      const files = await plan(args, context);
      planned.keep(context, files);
      return filePlan(files);
    },
    async run(args, context) {
      try {
        const files = planned.take(context) ?? (await plan(args, context));
        if (context.plan) refuseUnlessAnnounced(files, context.plan, room);
        await carryOut(wishes(args), files, context, room);
        return resultOf(args, files, context);
      } finally {
        room.turns.end(context);
      }
    },
    async verify(args, context) {
      if (context.plan === null) return null;
      const files = await finishPlan(wishes(args), context.plan, context);
      return files && resultOf(args, files, context);
    },
  });
}

/** Between a call's plan and its run. What was too much to keep is planned again. */
function createPlans() {
  const kept = new Map<string, PlannedFile[]>();
  const countMax = 16;
  return {
    keep({ idempotencyKey }: ToolContext, files: PlannedFile[]): void {
      kept.set(idempotencyKey, files);
      const oldest = kept.keys().next().value;
      if (kept.size > countMax && oldest !== undefined) kept.delete(oldest);
    },
    take({ idempotencyKey }: ToolContext): PlannedFile[] | null {
      const files = kept.get(idempotencyKey) ?? null;
      kept.delete(idempotencyKey);
      return files;
    },
  };
}

function refuseUnlessAnnounced(files: readonly PlannedFile[], plan: readonly FilePlan[], room: FileToolDeps): void {
  for (const [i, file] of files.entries()) {
    const announced = plan[i];
    if (announced?.path === file.real && announced.after === versionIn(file.after)) {
      if (announced.before === versionIn(file.before)) continue;
    }
    throw conflict({ place: file, now: bytesOf(file.before), seen: announced?.before ? [announced.before] : [] }, room);
  }
}

function bytesOf(before: PlannedFile["before"]): FileBytes | null {
  return before?.bytes ? { version: before.version, bytes: before.bytes } : null;
}

async function carryOut(
  wishes: readonly FileChangeRequest[],
  files: readonly PlannedFile[],
  context: ToolContext,
  room: FileToolDeps,
): Promise<void> {
  await using places = await findPlaces(wishes, context);
  const targets = places.all.flatMap((place, i) => targetOf(place, files[i]));
  try {
    await changeFiles(targets, context);
  } catch (error) {
    if (!(error instanceof ChangedMeanwhile)) throw error;
    const file = files.find(({ real }) => real === error.place.real);
    const seen = file?.before ? [file.before.version] : [];
    throw conflict({ place: error.place, now: error.now, seen, wanted: file?.after?.bytes ?? null }, room);
  }
}

/** What a run has written it has seen. */
function remember(real: string, after: FileBytes | null, context: ToolContext, { seen, recent }: FileToolDeps): void {
  seen.note(context, real, versionIn(after));
  const text = after && decodeText(after.bytes)?.text;
  if (after && typeof text === "string") recent.put(after.version, text);
}

/** Of many files together. */
const allDiffsBytesMax = 64 * 1024;

function changesOf(files: readonly PlannedFile[]): FileChange[] {
  let left = allDiffsBytesMax;
  return files.flatMap(({ real: path, before, after }): FileChange[] => {
    if (versionIn(before) === versionIn(after)) return [];
    const diff = diffOf(before, after, Math.min(diffBytesMax, left));
    left = Math.max(0, left - Buffer.byteLength(diff.diff));
    const kind = before === null ? "created" : after === null ? "deleted" : "modified";
    return [{ path, before: versionIn(before), after: versionIn(after), kind, diffRef: null, ...diff }];
  });
}

function diffOf(before: PlannedFile["before"], after: FileBytes | null, bytesMax: number): TextDiff {
  if (before?.bytes === null)
    return { diff: "[the call was interrupted: what was there before is not known]", ...noLines };
  const [from, to] = [before?.bytes, after?.bytes].map((bytes) => (bytes ? decodeText(bytes)?.text : ""));
  if (from === undefined || to === undefined) return { diff: "", ...noLines };
  return diffTexts(from, to, bytesMax);
}

const noLines = { linesAdded: 0, linesRemoved: 0 };

function resultFrom(output: string, changes: FileChange[]): ToolResult {
  const paths = (created: boolean) =>
    changes.flatMap(({ kind, path }) => ((kind === "created") === created ? [path] : []));
  return {
    output,
    changes,
    filesCreated: paths(true),
    filesModified: paths(false),
  };
}

/** How a written file is named to a model: with the version that a later change of it may be about. */
export function named({ shown, after }: WrittenFile): string {
  return after === null ? shown : `${shown} (version ${shortVersion(after)})`;
}
