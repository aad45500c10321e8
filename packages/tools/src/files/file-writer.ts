import type { ToolContext } from "@troupe/core";
import type { FilePlan } from "@troupe/core/internal";
import { defineTool, type Tool, type ToolDefinition, type ToolResult } from "@troupe/core/tool";
import type { z } from "zod";
import { changeFiles, FileChangedError } from "../workspace/change-files.ts";
import { type FileBytes, shortVersion } from "../workspace/file-version.ts";
import { writeConsent } from "../workspace/protected-paths.ts";
import { conflict } from "./conflict.ts";
import { type SavedContent, saveContent } from "./content-before.ts";
import { checkCorpusOrder } from "./corpus-order.ts";
import { executableConsent } from "./executable-consent.ts";
import { changesOf } from "./file-changes.ts";
import {
  type FileChangeRequest,
  filePlan,
  type PlannedFile,
  planFiles,
  resolveFiles,
  targetOf,
  versionIn,
} from "./file-plan.ts";
import type { FileToolDeps } from "./file-tool-deps.ts";
import { finishPlan } from "./finish-plan.ts";
import { decodeText } from "./text-file.ts";

export interface FileWriterDefinition<Input extends z.ZodObject>
  extends Pick<ToolDefinition<Input>, "name" | "description" | "input"> {
  /** The changes that the call requests. Throws a `RunFailure` for arguments that make no sense. */
  requests(args: z.output<Input>): FileChangeRequest[];
  /**
   * The output of the call. A call that is verified after a restart must give the same output, so it cannot depend on the
   * old content.
   */
  summarize(args: z.output<Input>, files: readonly WrittenFile[]): string;
}

export interface WrittenFile {
  shown: string;
  before: string | null;
  after: string | null;
  notes: readonly string[];
}

/** Creates a tool that plans its changes before it starts, makes all or none, and can be verified after a kill. */
export function createFileWriter<Input extends z.ZodObject>(
  definition: FileWriterDefinition<Input>,
  deps: FileToolDeps,
): Tool {
  const { name, description, input, requests, summarize } = definition;
  const pending = createPendingPlans();

  const plan = async (args: z.output<Input>, context: ToolContext): Promise<PlannedFile[]> => {
    try {
      const files = await planFiles(requests(args), context, deps);
      await checkCorpusOrder(
        files.map(({ real }) => real),
        context,
        deps.journal,
      );
      return files;
    } catch (error) {
      deps.reservations.release(context);
      throw error;
    }
  };

  const resultOf = async (
    args: z.output<Input>,
    { files, saved }: { files: readonly PlannedFile[]; saved: readonly SavedContent[] },
    context: ToolContext,
  ): Promise<ToolResult> => {
    for (const { real, after } of files) remember(real, after, context, deps);
    const written = files.map((file) => ({ ...file, before: versionIn(file.before), after: versionIn(file.after) }));
    const seen = files.map(({ real, after }) => ({ path: real, version: versionIn(after) }));
    const changes = await changesOf(files.map((file, i) => ({ ...file, saved: saved[i] ?? {} })));
    const paths = (isCreated: boolean): string[] =>
      changes.flatMap(({ kind, path }) => ((kind === "created") === isCreated ? [path] : []));
    const output = summarize(args, written);
    return { output, changes, filesCreated: paths(true), filesModified: paths(false), seen };
  };

  return defineTool({
    name,
    description,
    input,
    risk: "medium",
    effect: "verifiable",
    groups: ["filesystem"],
    consent: (args, { workspace }) => {
      const changed = requests(args);
      const paths = changed.map(({ path }) => path);
      return writeConsent(paths, workspace) ?? executableConsent(changed, workspace, deps.sandbox);
    },
    async plan(args, context) {
      const files = await plan(args, context);
      pending.add(context, files);
      return filePlan(files);
    },
    async run(args, context) {
      try {
        const files = pending.remove(context) ?? (await plan(args, context));
        if (context.plan) await refuseUnlessPlanned(files, context.plan, deps);
        const saved = await saveOld(files, deps);
        await writeFiles(requests(args), files, context, deps);
        return await resultOf(args, { files, saved }, context);
      } finally {
        deps.reservations.release(context);
      }
    },
    async verify(args, context) {
      if (context.plan === null) return null;
      const files = await finishPlan(requests(args), context.plan, context);
      return files && resultOf(args, { files, saved: await saveOld(files, deps) }, context);
    },
  });
}

/** Caches the plan of a call until the call runs. A plan that was evicted is made again. */
function createPendingPlans() {
  const plans = new Map<string, PlannedFile[]>();
  const countMax = 16;
  return {
    add({ idempotencyKey }: ToolContext, files: PlannedFile[]): void {
      plans.set(idempotencyKey, files);
      const oldest = plans.keys().next().value;
      if (plans.size > countMax && oldest !== undefined) plans.delete(oldest);
    },
    remove({ idempotencyKey }: ToolContext): PlannedFile[] | null {
      const files = plans.get(idempotencyKey) ?? null;
      plans.delete(idempotencyKey);
      return files;
    },
  };
}

/** Refuses a call whose files no longer match the plan in the journal. */
async function refuseUnlessPlanned(
  files: readonly PlannedFile[],
  plan: readonly FilePlan[],
  deps: FileToolDeps,
): Promise<void> {
  for (const [i, file] of files.entries()) {
    const planned = plan[i];
    if (planned?.path === file.real && planned.after === versionIn(file.after)) {
      if (planned.before === versionIn(file.before)) continue;
    }
    const now = file.before?.bytes ? { version: file.before.version, bytes: file.before.bytes } : null;
    throw await conflict({ file, now, seen: planned?.before ? [planned.before] : [] }, deps);
  }
}

async function writeFiles(
  requests: readonly FileChangeRequest[],
  files: readonly PlannedFile[],
  context: ToolContext,
  deps: FileToolDeps,
): Promise<void> {
  await using resolved = await resolveFiles(requests, context);
  const targets = resolved.all.flatMap((file, i) => targetOf(file, files[i]));
  try {
    await changeFiles(targets, context);
  } catch (error) {
    if (!(error instanceof FileChangedError)) throw error;
    const planned = files.find(({ real }) => real === error.path.real);
    const seen = planned?.before ? [planned.before.version] : [];
    throw await conflict({ file: error.path, now: error.now, seen, wanted: planned?.after?.bytes ?? null }, deps);
  }
}

/** Keeps the old contents of the files that change. An undo restores them. */
function saveOld(files: readonly PlannedFile[], { blobs }: FileToolDeps): Promise<SavedContent[]> {
  return Promise.all(
    files.map(({ before, after }) =>
      before === null || before.version === versionIn(after) ? {} : saveContent(blobs, before),
    ),
  );
}

/** Records that a run has seen the content that it wrote. */
function remember(real: string, after: FileBytes | null, context: ToolContext, { seen, recent }: FileToolDeps): void {
  seen.note(context, real, versionIn(after));
  const text = after && decodeText(after.bytes)?.text;
  if (after && typeof text === "string") recent.put(after.version, text);
}

/** The path of a written file with its new version, which a later change can refer to. */
export function nameWithVersion({ shown, after }: WrittenFile): string {
  return after === null ? shown : `${shown} (version ${shortVersion(after)})`;
}
