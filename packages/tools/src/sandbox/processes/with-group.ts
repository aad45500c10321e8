import type { CommandResult } from "../sandbox.ts";
import { type CommandGroup, createGroup } from "./control-group.ts";
import type { MachineCaps } from "./resource-limits.ts";

/** Runs a command in control groups of its own, where this machine has some, and says which of their caps it reached. */
export async function withGroup(
  { controllers, group: caps }: MachineCaps,
  run: (group: CommandGroup | null) => Promise<CommandResult>,
): Promise<CommandResult> {
  if (controllers === null) return run(null);
  const group = await createGroup(controllers, caps);
  try {
    const end = await run(group);
    const reached = await group.reached();
    return reached === null ? end : withNotice(end, `the command reached ${reached}`);
  } finally {
    await group.remove();
  }
}

/** The words before a command by which it goes into its groups, before it can start anything. */
export function joinWords(group: CommandGroup | null): string[] {
  if (group === null) return [];
  const script = `for file in ${group.joinFiles.map((_, i) => `"$${i}"`).join(" ")}; do echo 0 > "$file" || exit 125; done; shift ${group.joinFiles.length - 1}; exec "$@"`;
  return ["/bin/sh", "-c", script, ...group.joinFiles];
}

/** Says what a command wrote although no agent may. */
export function withRemoved(end: CommandResult, paths: readonly string[]): CommandResult {
  if (paths.length === 0) return end;
  return withNotice(end, `taken away again, since no agent may write it: ${paths.join(", ")}`);
}

/** Says something of ours at the end of a command's output. */
export function withNotice(end: CommandResult, notice: string): CommandResult {
  const line = end.output === "" || end.output.endsWith("\n") ? "" : "\n";
  return { ...end, output: `${end.output}${line}[${notice}]\n` };
}
