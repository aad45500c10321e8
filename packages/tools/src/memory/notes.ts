import { type Clock, RunFailure, type ToolContext } from "@troupe/core";
import { nearestNames } from "@troupe/core/internal";
import { defineTool, type Tool, type ToolResult } from "@troupe/core/tool";
import { z } from "zod";
import { keyOf, type MemoryFiles, openMemoryFiles, workspaceKey } from "./memory-files.ts";

const notesMax = 500;
const textCharactersMax = 20_000;
const itemsMax = 100;

const Note = z.object({
  id: z.string(),
  title: z.string(),
  text: z.string(),
  agent: z.string(),
  session: z.string(),
  at: z.iso.datetime(),
});
type Note = z.infer<typeof Note>;

const Item = z.strictObject({
  text: z.string().min(1).max(500),
  status: z.enum(["pending", "in_progress", "completed"]).default("pending"),
});
const Plan = z.object({ agent: z.string(), run: z.string(), at: z.iso.datetime(), items: z.array(Item) });
type Plan = z.infer<typeof Plan>;

const input = z.strictObject({
  action: z.enum(["add", "list", "read", "remove", "plan"]),
  text: z.string().min(1).max(textCharactersMax).optional().describe("For add"),
  title: z.string().min(1).max(200).optional().describe("For add"),
  id: z.string().min(1).max(40).optional().describe("For read and remove, as list shows it"),
  items: z.array(Item).max(itemsMax).optional().describe("For plan: the whole new list. Without items, plan shows it"),
});
type Arguments = z.output<typeof input>;

interface NotesDeps {
  notes: MemoryFiles<Note>;
  plans: MemoryFiles<Plan>;
  now(): string;
}

/** Manages the notes of a workspace, which outlive sessions, and the plan of a run. They are stored in the home folder. */
export function createNotesTool({ memoryFolder, clock }: { memoryFolder: string; clock: Clock }): Tool {
  const deps: NotesDeps = {
    notes: openMemoryFiles(memoryFolder, Note),
    plans: openMemoryFiles(memoryFolder, Plan),
    now: () => new Date(clock.now()).toISOString(),
  };
  return defineTool({
    name: "notes",
    description:
      "Keeps notes for later sessions in this workspace: facts and decisions, not the content of files. The action " +
      "plan keeps your task list: give the whole list each time.",
    input,
    risk: "low",
    effect: "idempotent",
    groups: ["memory"],
    run: (args, context) => actions[args.action](args, context, deps),
  });
}

type Action = (args: Arguments, context: ToolContext, deps: NotesDeps) => Promise<ToolResult>;

const actions: Readonly<Record<Arguments["action"], Action>> = {
  async add({ text, title }, context, { notes, now }) {
    if (text === undefined) throw invalid("add needs text");
    const folder = await notesFolder(context);
    // Every try of one call has the same id, so that a retry after a kill does not add a second note.
    const id = keyOf(context.idempotencyKey).slice(0, 10);
    if ((await notes.get(folder, id)) === null) {
      if ((await notes.count(folder)) >= notesMax) {
        throw invalid(`there are ${notesMax} notes, which is the maximum; remove outdated ones`);
      }
      const { agent, session } = context;
      await notes.put(folder, id, { id, title: title ?? firstLine(text), text, agent, session, at: now() });
    }
    return { output: `Noted as ${id}.` };
  },

  async list(_args, context, { notes }) {
    const all = (await notes.all(await notesFolder(context))).sort((a, b) => (a.at < b.at ? 1 : -1));
    if (all.length === 0) return { output: "This workspace has no notes yet." };
    return {
      output: all.map(({ id, title, at, agent }) => `${id}  ${at.slice(0, 10)}  ${agent}  ${title}`).join("\n"),
    };
  },

  async read({ id }, context, { notes }) {
    if (id === undefined) throw invalid("read needs the id of a note; list shows the ids");
    const folder = await notesFolder(context);
    const note = await notes.get(folder, id);
    if (note === null) throw unknownNote(id, await notes.all(folder));
    return { output: `${note.title} (${note.id}, by ${note.agent}, ${note.at})\n\n${note.text}` };
  },

  async remove({ id }, context, { notes }) {
    if (id === undefined) throw invalid("remove needs the id of a note; list shows the ids");
    await notes.remove(await notesFolder(context), id);
    return { output: `Note ${id} is removed.` };
  },

  async plan({ items }, context, { plans, now }) {
    const { agent, run } = context;
    const folder = ["plans", context.session];
    if (items === undefined) return { output: formatPlan(currentPlan(await plans.all(folder), context)) };
    const plan = { agent, run, at: now(), items };
    await plans.put(folder, run, plan);
    return { output: formatPlan(plan) };
  },
};

async function notesFolder({ workspace }: ToolContext): Promise<string[]> {
  return ["notes", await workspaceKey(workspace)];
}

/** The plan of the run. Without one, the newest plan of the same agent, from an earlier turn of the session. */
function currentPlan(plans: readonly Plan[], { agent, run }: ToolContext): Plan | null {
  const own = plans.find((plan) => plan.run === run);
  if (own) return own;
  return plans.filter((plan) => plan.agent === agent).sort((a, b) => (a.at < b.at ? 1 : -1))[0] ?? null;
}

const marks = { pending: " ", in_progress: ">", completed: "x" } as const;

function formatPlan(plan: Plan | null): string {
  if (plan === null) return "This run has no plan yet. Pass items to write one.";
  if (plan.items.length === 0) return "The plan is empty.";
  return plan.items.map(({ text, status }, i) => `${i + 1}. [${marks[status]}] ${text}`).join("\n");
}

function firstLine(text: string): string {
  return (text.split("\n").find((line) => line.trim() !== "") ?? "note").trim().slice(0, 80);
}

function unknownNote(id: string, notes: readonly Note[]): RunFailure {
  const ids = notes.map((note) => note.id);
  const near = nearestNames(id, ids).join(", ");
  const hint = near ? `; nearest: ${near}` : "";
  return invalid(
    ids.length === 0
      ? `the note ${id} does not exist, and no other note does; write one with add`
      : `the note ${id} does not exist${hint}; list shows all`,
  );
}

function invalid(message: string): RunFailure {
  return new RunFailure({ type: "params", message, recoverable: false });
}
