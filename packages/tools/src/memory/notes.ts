import { type Clock, RunFailure, type ToolContext } from "@troupe/core";
import { nearestNames } from "@troupe/core/internal";
import { z } from "zod";
import { defineTool, type Tool, type ToolResult } from "../define-tool.ts";
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
  action: z.enum(["add", "list", "read", "remove", "plan"]).describe("What to do"),
  text: z.string().min(1).max(textCharactersMax).optional().describe("add: what is to be remembered"),
  title: z.string().min(1).max(200).optional().describe("add: a line by which it is found again"),
  id: z.string().min(1).max(40).optional().describe("read, remove: the note, as list names it"),
  items: z.array(Item).max(itemsMax).optional().describe("plan: the whole new list; without it the list is shown"),
});
type Arguments = z.output<typeof input>;

interface Room {
  notes: MemoryFiles<Note>;
  plans: MemoryFiles<Plan>;
  now(): string;
}

/**
 * Notes of a workspace, which outlive sessions, and the list of what a run has still to do. They lie in the home, and
 * never in the workspace.
 */
export function createNotesTool({ memoryFolder, clock }: { memoryFolder: string; clock: Clock }): Tool {
  const room: Room = {
    notes: openMemoryFiles(memoryFolder, Note),
    plans: openMemoryFiles(memoryFolder, Plan),
    now: () => new Date(clock.now()).toISOString(),
  };
  return defineTool({
    name: "notes",
    description:
      "Remembers what later sessions in this workspace should know: add a note, list their titles, read or remove one. " +
      "Keep facts and decisions there, not what files say. With plan it keeps the list of what you have to do: give the " +
      "whole list each time, with a status for each item.",
    input,
    risk: "low",
    effect: "idempotent",
    groups: ["memory"],
    run: (args, context) => actions[args.action](args, context, room),
  });
}

type Action = (args: Arguments, context: ToolContext, room: Room) => Promise<ToolResult>;

const actions: Readonly<Record<Arguments["action"], Action>> = {
  async add({ text, title }, context, { notes, now }) {
    if (text === undefined) throw wrong("add needs text");
    const place = await notesOf(context);
    // The same for every try of one call, so that a try after a kill adds nothing anew.
    const id = keyOf(context.idempotencyKey).slice(0, 10);
    if ((await notes.get(place, id)) === null) {
      if ((await notes.count(place)) >= notesMax) {
        throw wrong(`there are ${notesMax} notes, which is the most: remove those that no longer hold`);
      }
      const { agent, session } = context;
      await notes.put(place, id, { id, title: title ?? firstLine(text), text, agent, session, at: now() });
    }
    return { output: `Noted as ${id}.` };
  },

  async list(_args, context, { notes }) {
    const all = (await notes.all(await notesOf(context))).sort((a, b) => (a.at < b.at ? 1 : -1));
    if (all.length === 0) return { output: "There are no notes of this workspace yet." };
    return {
      output: all.map(({ id, title, at, agent }) => `${id}  ${at.slice(0, 10)}  ${agent}  ${title}`).join("\n"),
    };
  },

  async read({ id }, context, { notes }) {
    if (id === undefined) throw wrong("read needs the id of a note; list shows them");
    const place = await notesOf(context);
    const note = await notes.get(place, id);
    if (note === null) throw unknown(id, await notes.all(place));
    return { output: `${note.title} (${note.id}, by ${note.agent}, ${note.at})\n\n${note.text}` };
  },

  async remove({ id }, context, { notes }) {
    if (id === undefined) throw wrong("remove needs the id of a note; list shows them");
    await notes.remove(await notesOf(context), id);
    return { output: `There is no note ${id} any more.` };
  },

  async plan({ items }, context, { plans, now }) {
    const { agent, run } = context;
    const place = ["plans", context.session];
    if (items === undefined) return { output: shownPlan(newestOf(await plans.all(place), context)) };
    const plan = { agent, run, at: now(), items };
    await plans.put(place, run, plan);
    return { output: shownPlan(plan) };
  },
};

async function notesOf({ workspace }: ToolContext): Promise<string[]> {
  return ["notes", await workspaceKey(workspace)];
}

/** The run's own; where it has none, the last one of the same agent: that of the session's turn before. */
function newestOf(plans: readonly Plan[], { agent, run }: ToolContext): Plan | null {
  const own = plans.find((plan) => plan.run === run);
  if (own) return own;
  return plans.filter((plan) => plan.agent === agent).sort((a, b) => (a.at < b.at ? 1 : -1))[0] ?? null;
}

const marks = { pending: " ", in_progress: ">", completed: "x" } as const;

function shownPlan(plan: Plan | null): string {
  if (plan === null) return "There is no plan yet.";
  if (plan.items.length === 0) return "The plan is empty.";
  return plan.items.map(({ text, status }, i) => `${i + 1}. [${marks[status]}] ${text}`).join("\n");
}

function firstLine(text: string): string {
  return (text.split("\n").find((line) => line.trim() !== "") ?? "note").trim().slice(0, 80);
}

function unknown(id: string, notes: readonly Note[]): RunFailure {
  const ids = notes.map((note) => note.id);
  const near = nearestNames(id, ids).join(", ");
  const hint = near ? `; nearest: ${near}` : "";
  return wrong(
    ids.length === 0 ? `there is no note ${id}, nor any other` : `there is no note ${id}${hint}; list shows all`,
  );
}

function wrong(message: string): RunFailure {
  return new RunFailure({ type: "params", message, recoverable: false });
}
