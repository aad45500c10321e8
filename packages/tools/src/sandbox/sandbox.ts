import type { Grant } from "@troupe/core";

/** Means of isolation, from the best to the worst; `none` refuses every command. */
export type SandboxKind = "bubblewrap" | "namespaces" | "seatbelt" | "process-group" | "none";

/**
 * Runs commands of agents. Every kind gives a command a clean environment, enforces caps as far as the machine allows,
 * and ends all processes of a command when the command ends, however it ends.
 */
export interface Sandbox {
  readonly kind: SandboxKind;
  /** True if a command cannot reach anything but the files, write scopes and network that it was given. */
  readonly contains: boolean;
  /** Whether commands reach the machine's network. */
  readonly network: boolean;
  /** The protection in force and its gaps, in words for the user. */
  readonly detail: string;
  /** Next step to get a better sandbox; null for the best kind. */
  readonly fix: string | null;
  /** Resolves when all processes of the command are gone. Throws a `RunFailure` for a command that could not start. */
  run(command: SandboxedCommand): Promise<CommandResult>;
}

/** One command and its limits. */
export interface SandboxedCommand {
  /** Program and arguments. No shell reads them. */
  argv: readonly string[];
  /** The folder that the command works in and may read. No other folder of the user is visible. */
  workspace: string;
  /** Working folder, relative to the workspace. @default the workspace itself */
  folder?: string;
  /** Write scopes in the workspace: `[]` means everywhere except protected paths, `[[]]` means nowhere. */
  writes: Grant["writes"];
  /** Variables to add to the clean environment. */
  env?: Readonly<Record<string, string>>;
  /** Files and folders outside the workspace that the command may read, such as a program of troupe. */
  readable?: readonly string[];
  /** Standard input. @default empty */
  input?: string | Uint8Array;
  /** The session whose space on the disk the command uses. @default none is charged */
  session?: string;
  timeoutMs: number;
  signal: AbortSignal;
  /** Longer output is counted and cut in the middle: its beginning and end stay. */
  captureBytesMax: number;
}

/** The end and the output of a command. */
export interface CommandResult {
  /** `disk`: it used too much space, and `diskNote` has the numbers. */
  reason: "exited" | "timeout" | "aborted" | "disk";
  diskNote?: string;
  /** Null when a signal ended it. */
  code: number | null;
  signal: string | null;
  /** Standard output and standard error in order of arrival, decoded as UTF-8. */
  output: string;
  /** Standard output alone. */
  stdout: string;
  droppedBytes: number;
}
