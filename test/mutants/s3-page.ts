import type { Mutant } from "./mutant.ts";

const editor = "test/browser/agent-editor.test.ts > the agent editor";
const edits = `${editor} > edits with pickers, checks while it edits, shows the difference, and keeps the rest of the file`;
const lists = `${editor} > lists every definition with its source, what it can do, and its problems`;
const cycles =
  "packages/roles/src/agent-files.test.ts > a check > finds a cycle through other agents, and the agents that the change would break";
const fields = "packages/roles/src/agent-form.test.ts > a change of a field changes its own lines alone";
const abilities = "packages/core/src/permissions/agent-reach.test.ts > the abilities of an agent";
const overApi = "test/e2e/agent-files-api.test.ts > agent files over the API";
const timeline = "test/browser/timeline.test.ts > the timeline";
const sideBySide = `${timeline} > shows parallel branches side by side over time, and shares folds and selection with the tree`;
const lanes = "apps/dashboard/src/lib/timeline.test.ts > a lane";
const files = "packages/roles/src/agent-files.ts";
const form = "packages/roles/src/agent-form.ts";

/** Breaks the promises of S3.12 and S3.15 about the page: the agent editor and the timeline. */
export const mutants: readonly Mutant[] = [
  {
    name: "the list shows no abilities",
    rows: ["S3.12"],
    file: "apps/dashboard/src/features/agents/agent-listing.tsx",
    find: "<AbilityTags abilities={row.abilities} />",
    replace: "<AbilityTags abilities={[]} />",
    tests: [lists],
  },
  {
    name: "an agent that may run commands has no sign of it",
    rows: ["S3.12"],
    file: "packages/core/src/permissions/agent-reach.ts",
    find: 'return "runs_commands";',
    replace: "return null;",
    tests: [abilities],
  },
  {
    name: "the editor does not check tools",
    rows: ["S3.12"],
    file: files,
    find: "  return [...registry.problems, ...(registry.toolProblems?.(specs) ?? []), ...ofModels];",
    replace:
      "  return [...registry.problems, ...(registry.toolProblems?.([...specs, ...specs].slice(0, 0)) ?? []).slice(0, 0), ...ofModels];",
    tests: [overApi],
  },
  {
    name: "an agent file of a project without trust can be changed",
    rows: ["S3.12"],
    file: "packages/troupe/src/process/agent-files.ts",
    find: 'if (status === "trusted" || status === "nothing") return null;',
    replace: 'if (status !== "refused") return null;',
    tests: [overApi],
  },
  {
    name: "a picked tool is not written",
    rows: ["S3.12", "S3.15.12"],
    file: form,
    find: 'change("tools", before.tools, form.tools, form.tools ?? undefined);',
    replace: 'change("tools", before.tools, before.tools, form.tools ?? undefined);',
    tests: [fields],
  },
  {
    name: "a denied agent is not written",
    rows: ["S3.15.12"],
    file: form,
    find: 'for (const key of ["allow", "deny"] as const) {',
    replace: 'for (const key of ["allow"] as const) {',
    tests: [fields],
  },
  {
    name: "a draft is checked without the other files",
    rows: ["S3.15.12"],
    file: "packages/roles/src/agent-source.ts",
    find: "const others = contents.agents.filter((agent) => agent.path !== path);",
    replace: "const others = contents.agents.slice(0, 0);",
    tests: [cycles],
  },
  {
    name: "the picker of agents drops its choice",
    rows: ["S3.15.12", "S3.15d"],
    file: "apps/dashboard/src/features/agents/agent-fields.tsx",
    find: "onChange={(allow) => set({ allow })}",
    replace: "onChange={(allow) => set({ allow: allow.slice(0, 1) })}",
    tests: [edits],
  },
  {
    name: "the page has no way to the agents",
    rows: ["S3.15d"],
    file: "apps/dashboard/src/lib/route.ts",
    find: 'const views = ["approvals", "hosts", "agents"] as const;',
    replace:
      'const views = ["approvals", "hosts", "agents "] as const as unknown as readonly ["approvals", "hosts", "agents"];',
    tests: [edits],
  },
  {
    name: "all bars begin at the start of the session",
    rows: ["S3.15.17b"],
    file: "apps/dashboard/src/features/timeline/lane-row.tsx",
    find: "const [from, to] = [scale.shareOf(startMs), scale.shareOf(endMs)];",
    replace: "const [from, to] = [scale.shareOf(startMs) * 0, scale.shareOf(endMs)];",
    tests: [sideBySide],
  },
  {
    name: "a run in the queue has no bar",
    rows: ["S3.15.17b"],
    file: "apps/dashboard/src/lib/timeline.ts",
    find: 'if (open.openedAt === null) add("queued", open.queuedAt);',
    replace: "if (open.openedAt === null) open.queuedAt = null;",
    tests: [lanes],
  },
  {
    name: "the timeline does not select runs",
    rows: ["S3.15.17b"],
    file: "apps/dashboard/src/features/timeline/lane-row.tsx",
    find: "onClick={() => selectRun(run.run)}",
    replace: "onClick={() => selectRun(null)}",
    tests: [sideBySide],
  },
];
