import type { ChangeRow, RunRow } from "@troupe/core";

/** Changes of the files of a mock run: one of each kind and a huge one. */
export function mockChanges(run: RunRow | undefined): ChangeRow[] {
  const path = run?.filesModified[0];
  if (!run || path === undefined) return [];
  const at = run.lastEventAt;
  const by = { session: run.session, run: run.run, agent: run.agent, step: 2, call: 0, tool: "edit", cut: false, at };
  const kinds: Pick<ChangeRow, "path" | "kind" | "diff">[] = [
    {
      path,
      kind: "created",
      diff: '@@ -0,0 +1,3 @@\n+export function greet(name: string): string {\n+  return "Hello, " + name;\n+}\n',
    },
    {
      path,
      kind: "modified",
      diff: '@@ -1,3 +1,3 @@\n export function greet(name: string): string {\n-  return "Hello, " + name;\n+  return "Hello, " + (name.trim() || "a reader of this line, which is far too long for the width of the panel");\n }\n\\ No newline at end of file\n',
    },
    {
      path: "docs/a folder with a long name/and-another-one-that-never-seems-to-end/notes.md",
      kind: "modified",
      diff: "@@ -8 +8 @@\n-\u202eold\u0007\n+<b>new</b>\n",
    },
    { path: "assets/logo.png", kind: "modified", diff: "" },
    { path: "src/old.ts", kind: "deleted", diff: "@@ -1,2 +0,0 @@\n-const a = 1;\n-const b = 2;\n" },
    {
      path: "src/generated.ts",
      kind: "created",
      diff: `@@ -0,0 +1,5000 @@\n${Array.from({ length: 5_000 }, (_, i) => `+export const value${i} = ${i};\n`).join("")}`,
    },
  ];
  return kinds.map((kind, i) => ({ ...by, ...kind, id: i + 1, step: i + 1, ...countsOf(kind.diff) }));
}

function countsOf(diff: string): Pick<ChangeRow, "linesAdded" | "linesRemoved"> {
  const lines = diff.split("\n");
  const count = (sign: string) => lines.filter((line) => line.startsWith(sign)).length;
  return { linesAdded: count("+"), linesRemoved: count("-") };
}
