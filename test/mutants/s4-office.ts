import type { Mutant } from "./mutant.ts";

const grants = "packages/core/src/permissions/grant.test.ts > a tool for agents that name it";
const preview = "packages/cli/src/render/preview.test.ts";
const approvals = "packages/recorder/src/record/approvals.test.ts";

export const mutants: readonly Mutant[] = [
  {
    name: "an agent with all tools gets the office tools",
    rows: ["S4.9e"],
    file: "packages/core/src/permissions/grant.ts",
    find: "  if (!spec.namedOnly) return null;",
    replace: "  if (!spec.namedOnly || own.tools === null) return null;",
    tests: [grants],
  },
  {
    name: "a star names the office tools",
    rows: ["S4.9e"],
    file: "packages/core/src/permissions/grant.ts",
    find: 'map(toolOfItem).filter((item) => item !== "*");',
    replace: "map(toolOfItem);",
    tests: [grants],
  },
  {
    name: "people outside are not marked at the terminal",
    rows: ["S4.8e"],
    file: "packages/cli/src/render/preview.ts",
    find: "isOutside(person, external) ?",
    replace: "external.length < 0 ?",
    tests: [`${preview} > an email has its people, its files and its text, and marks people outside`],
  },
  {
    name: "a text of an email imitates lines of the terminal",
    rows: ["S4.8e"],
    file: "packages/cli/src/render/preview.ts",
    find: 'return lines.map((line) => `${colours.dim("│")} ${line}`.trimEnd());',
    replace: "return lines;",
    tests: [`${preview} > no escape sequence and no line break of a text leaves its place`],
  },
  {
    name: "the record forgets the email of a request for approval",
    rows: ["S4.8e"],
    file: "packages/recorder/src/record/approvals.ts",
    find: "preview: textOf(approval.preview) };",
    replace: "preview: null };",
    tests: [`${approvals} > an approval has the email or event of its call`],
  },
];
