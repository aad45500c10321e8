import { TroupeError } from "@troupe/core";
import type { Cli } from "../cli.ts";
import { readSecretLines } from "../terminal/piped-input.ts";

/** Answers of a user: lines of standard input, or of the terminal, which does not show them. */
export interface SecretSource {
  /** Asks for the next secret. Throws `USAGE` if there is none. */
  next(question: string): Promise<string>;
}

/**
 * Secrets come from standard input or a hidden prompt, and never from a flag: other users of the machine can read the flags of a
 * process.
 */
export async function openSecrets(cli: Cli, hint: string): Promise<SecretSource> {
  const { err } = cli.terminal;
  const signal = cli.interrupts.signal;
  const piped = await readSecretLines(cli.stdin, { signal, notice: (text) => err.line(text) });
  return {
    async next(question) {
      const answer = piped ? (piped.shift() ?? null) : await askHidden(cli, question);
      if (answer !== null && answer.trim() !== "") return answer;
      signal.throwIfAborted();
      throw new TroupeError("USAGE", `${question}: nothing was given`, { fix: hint });
    },
  };
}

async function askHidden({ terminal: { err }, keyboard, interrupts }: Cli, question: string): Promise<string | null> {
  if (!keyboard.isTerminal) return null;
  err.line(`${question} (it is not shown):`);
  return keyboard.readSecret(interrupts.signal);
}

/** Asks for a value that was not given by a flag. Empty: the suggestion. Without a terminal: null. */
export async function askLine(
  { terminal: { err }, keyboard, interrupts }: Cli,
  question: string,
  suggestion: string | null,
): Promise<string | null> {
  if (!keyboard.isTerminal) return null;
  err.line(suggestion === null ? `${question}:` : `${question} (Enter for ${suggestion}, - for none):`);
  const answer = await keyboard.readLine(interrupts.signal);
  interrupts.signal.throwIfAborted();
  if (answer === null || answer.trim() === "-") return null;
  return answer.trim() === "" ? suggestion : answer.trim();
}
