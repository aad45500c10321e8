import type { Grant } from "@troupe/core";

/** How commands are kept: from the best to the least; `none` runs none, and refuses each. */
export type SandboxKind = "bubblewrap" | "namespaces" | "seatbelt" | "process-group" | "none";

/**
 * Runs commands of agents. Whatever kind it is: the environment is clean, caps hold as far as the machine lets them, and
 * nothing of a command is left when it has ended, however it ended.
 */
export interface Sandbox {
  readonly kind: SandboxKind;
  /** Whether a command can reach nothing but what it was given: files, write scopes, network. */
  readonly contains: boolean;
  /** What is in force, and what it lacks, in words for a person. */
  readonly detail: string;
  /** How to get a better one; null for the best. */
  readonly fix: string | null;
  /** Resolves when everything of the command has gone. Throws a `RunFailure` only for what could not be started. */
  run(command: SandboxedCommand): Promise<CommandResult>;
}

export interface SandboxedCommand {
  /** Program and arguments; nothing of it is read by a shell. */
  argv: readonly string[];
  /** The folder that it works in and may read; nothing else of the user's is there. */
  workspace: string;
  /** Where it starts, relative to the workspace. @default the workspace itself */
  folder?: string;
  /** Where in the workspace it may write: `[]` everywhere but what is protected, `[[]]` nowhere. */
  writes: Grant["writes"];
  /** Beside the clean environment. */
  env?: Readonly<Record<string, string>>;
  /** Files and folders beside the workspace that it has to read: those of a program of ours. */
  readable?: readonly string[];
  /** What it reads from standard input. @default nothing */
  input?: string | Uint8Array;
  timeoutMs: number;
  signal: AbortSignal;
  /** Output beyond this is counted and dropped: its beginning and its end are kept. */
  captureBytesMax: number;
}

export interface CommandResult {
  reason: "exited" | "timeout" | "aborted";
  /** Null when a signal ended it. */
  code: number | null;
  signal: string | null;
  /** Standard output and error as they came, decoded as UTF-8. */
  output: string;
  /** Standard output alone. */
  stdout: string;
  droppedBytes: number;
}
