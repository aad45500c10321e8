import { agentMachine, batchMachine, delegationMachine, TroupeError } from "@troupe/core";
import { machineToMermaid } from "@troupe/core/internal";
import type { Cli } from "../cli.ts";
import { cleanLine, jsonLine } from "../render/clean.ts";

const machines = {
  agent: agentMachine,
  delegation: delegationMachine,
  batch: batchMachine,
};

/** `troupe inspect machine`: prints a state machine as a Mermaid diagram or as its definition. */
export async function inspectMachine(cli: Cli, name: string, flags: { json: boolean }): Promise<number> {
  const machine = Object.hasOwn(machines, name) ? machines[name as keyof typeof machines] : null;
  if (!machine) {
    const known = Object.keys(machines).join(", ");
    throw new TroupeError("USAGE", `there is no machine ${JSON.stringify(cleanLine(name))}; available: ${known}`, {
      fix: `troupe inspect machine agent`,
    });
  }
  cli.terminal.out.line(flags.json ? jsonLine(machine.definition) : machineToMermaid(machine).trimEnd());
  return 0;
}
