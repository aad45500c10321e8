/** docs/machines.md shows the machines as they are. After a change, paste the output of `troupe inspect machine NAME`. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { agentMachine } from "./agent/machine.ts";
import { batchMachine } from "./batch/machine.ts";
import { delegationMachine } from "./delegation/machine.ts";
import { machineToMermaid } from "./mermaid.ts";

const page = readFileSync(new URL("../../../../docs/machines.md", import.meta.url), "utf8");

/** The diagram below a summary. */
function shown(name: string): string | undefined {
  return page
    .split(`<summary><code>${name}</code></summary>`)[1]
    ?.match(/```mermaid\n(.*?)```/s)?.[1]
    ?.trim();
}

test.each([
  { name: "agent", machine: agentMachine },
  { name: "batch", machine: batchMachine },
  { name: "delegation", machine: delegationMachine },
])("the $name machine", ({ name, machine }) => {
  expect(shown(name)).toBe(machineToMermaid(machine).trim());
});
