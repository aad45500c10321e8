import { childRunId, type Entry } from "@troupe/core";
import { type Approval, approvalId, canonicalJson, derivedId, hashText } from "@troupe/core/internal";
import type { RecordedItem } from "../replay/recording.ts";

/** The new ids of a fork. Ids of children and approvals are derived, so that a replay derives the same. */
export interface ForkIds {
  session: string;
  run(old: string): string;
  /** Replaces ids in the fields of a message. Texts of models and tools stay as they were. */
  replaceIn(value: unknown): unknown;
}

/** Fields with text of models, tools and people, in which nothing is replaced. */
const foreign: ReadonlySet<string> = new Set(["reply", "outcome", "args", "history", "data", "task", "text"]);

export function createForkIds(items: readonly RecordedItem[], { newSession }: { newSession: string }): ForkIds {
  const ids = new Map<string, string>();
  const session = sessionOf(items);
  ids.set(session, newSession);
  const rootId = (old: string): string => derivedId(`${newSession}/${old}`);
  for (const item of items) {
    if (item.kind === "inbox") {
      if ("request" in item.item) ids.set(item.item.request.run, rootId(item.item.request.run));
    } else addIds(ids, item.entry, rootId);
  }
  const replace = (value: unknown): unknown => {
    if (typeof value === "string") return ids.get(value) ?? value;
    if (Array.isArray(value)) return value.map(replace);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [name, foreign.has(name) ? inner : replace(inner)]),
    );
  };
  return { session: newSession, run: (old) => ids.get(old) ?? old, replaceIn: replace };
}

function sessionOf([first]: readonly RecordedItem[]): string {
  if (!first) throw new Error("a fork copies at least one item");
  return first.kind === "entry" ? first.entry.session : first.item.session;
}

function addIds(ids: Map<string, string>, entry: Entry, rootId: (old: string) => string): void {
  if (entry.kind === "run.opened") {
    const { run, parent, attempt } = entry.request;
    const key = parent && { ...parent, parentRun: ids.get(parent.run) ?? parent.run, attempt };
    ids.set(run, key ? childRunId(key) : rootId(run));
  }
  const parentRun = ids.get(entry.run) ?? entry.run;
  if (entry.kind === "calls.planned") {
    const { step } = entry;
    for (const { run, call, item } of entry.children)
      ids.set(run, childRunId({ parentRun, step, call, item, attempt: 1 }));
  }
  if (entry.kind === "child.settled") {
    const { step, call, item, attempt, response } = entry;
    ids.set(response.runId, childRunId({ parentRun, step, call, item, attempt }));
  }
  if (entry.kind === "approval.requested") {
    const { id } = entry.approval;
    ids.set(id, newApprovalId(entry, parentRun) ?? derivedId(`${parentRun}/${id}`));
  }
}

/** Null if the old id was derived from an earlier approval of the same call. */
function newApprovalId(entry: Entry & { kind: "approval.requested" }, run: string): string | null {
  const { step, call, approval } = entry;
  const key = { step, call, argsHash: hashText(canonicalJson(approval.args)), ...stateOf(approval) };
  return approvalId({ ...key, run: entry.run }) === approval.id ? approvalId({ ...key, run }) : null;
}

function stateOf({ losses, bound = [] }: Pick<Approval, "losses" | "bound">): { stateHash?: string } {
  if (!losses && bound.length === 0) return {};
  return { stateHash: hashText(canonicalJson([losses?.digest ?? null, bound])) };
}
