import type { Mutant } from "./mutant.ts";

const help = "test/e2e/help-examples.test.ts > each example of the help works, and its --json output is documented:";
const safety = "test/e2e/terminal-safety.test.ts > a terminal";

/** Breaks the promises of the command line: the examples of its help, its JSON, and clean text on a terminal. */
export const mutants: readonly Mutant[] = [
  {
    name: "an example of the help has an argument that its command does not take",
    rows: ["S5.11d"],
    file: "packages/cli/src/program/query-commands.ts",
    find: 'example("troupe explain 0199c2a4 shell")',
    replace: 'example("troupe explain 0199c2a4 shel")',
    tests: [help],
  },
  {
    name: "an agent without the key cannot be enabled",
    rows: ["S5.11d"],
    file: "packages/roles/src/edit-agent-file.ts",
    find: "    if (!document.hasIn(path)) return yaml;\n",
    replace: "",
    tests: [`${help} > troupe agents enable archivist`],
  },
  {
    name: "the JSON of a download has a field less",
    rows: ["S5.11d"],
    file: "packages/cli/README.md",
    find: "| `{name, bytes, sha256, path}` |  |",
    replace: "| `{name, bytes, sha256}` |  |",
    tests: [`${help} > troupe sessions download 0199c2a4 report.html`],
  },
  {
    name: "the table of JSON outputs lacks a command",
    rows: ["S5.11d"],
    file: "packages/cli/README.md",
    find: "| `webhooks test` | `WebhookTest` |  |\n",
    replace: "",
    tests: [
      "test/e2e/help-examples.test.ts > the tables > of the reference have each command with --json, and no other",
    ],
  },
  {
    name: "the live tree shows the name of a tool as it is",
    rows: ["S3.7f"],
    file: "packages/cli/src/render/live-tree.ts",
    find: "[event.tool, event.detail].map(cleanLine).filter(Boolean)",
    replace: "[event.tool, event.detail].filter(Boolean)",
    // At a terminal, whether a picture of the tree has the call is a matter of time.
    tests: [
      "packages/cli/src/render/live-tree.test.ts > the live tree > shows the running call with its argument and its time, until it has ended",
    ],
  },
  {
    name: "the list of branches shows the task as it is",
    rows: ["S3.7f"],
    file: "packages/cli/src/commands/stats.ts",
    find: "      cleanLine(task),",
    replace: "      task,",
    tests: [`${safety} > gets no control of a text from any command that reads, also in one column`],
  },
  {
    name: "the list of hosts shows the version as it is",
    rows: ["S3.7f"],
    file: "packages/cli/src/commands/hosts.ts",
    find: "{ text: cleanLine(row.version) }",
    replace: "{ text: row.version }",
    tests: [`${safety} > gets no control of the version of a host`],
  },
];
