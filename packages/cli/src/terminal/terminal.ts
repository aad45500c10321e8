import type { Writable } from "node:stream";
import pc from "picocolors";

export type Colours = ReturnType<typeof pc.createColors>;

/** One of the two output streams. */
export interface Output {
  /** Writes a line and a newline. */
  line(text: string): void;
  /**
   * Keeps lines below all others, in the place of those of the last call. None removes them. Has no effect without a
   * terminal that can move its cursor. A line may not be wider than the terminal.
   */
  keepBelow(lines: readonly string[]): void;
  /** Lines of the terminal; 0 without one. */
  readonly height: number;
  /** Whether the reader has gone, so that nothing more arrives. */
  readonly isClosed: boolean;
  /** Why the output is not complete, such as a full disk; null if it is, or if the reader has gone. */
  failure(): Error | null;
  /** Resolves when all output has left the process. */
  flushed(): Promise<void>;
  readonly isTerminal: boolean;
  /** Columns; unlimited without a terminal. */
  readonly width: number;
  readonly colours: Colours;
}

export interface Terminal {
  out: Output;
  err: Output;
}

type Stream = Writable & { isTTY?: boolean; columns?: number; rows?: number };

/** Creates a terminal from the process's streams or any others. */
export function createTerminal(options: { stdout: Stream; stderr: Stream; env: NodeJS.ProcessEnv }): Terminal {
  return { out: createOutput(options.stdout, options.env), err: createOutput(options.stderr, options.env) };
}

function createOutput(stream: Stream, env: NodeJS.ProcessEnv): Output {
  let broken = false;
  let failure: Error | null = null;
  // `troupe sessions ls | head -1` closes the pipe early, and a closed window closes its terminal.
  stream.on("error", (error: NodeJS.ErrnoException) => {
    broken = true;
    if (error.code !== "EPIPE" && error.code !== "EIO") failure = error;
  });
  const isTerminal = stream.isTTY === true;
  const canKeep = isTerminal && env.TERM !== "dumb";
  let footer: readonly string[] = [];
  const write = (text: string): void => {
    if (!broken) stream.write(text);
  };
  const erase = (): string => (footer.length === 0 ? "" : `\u001b[${footer.length}A\u001b[0J`);
  const below = (): string => footer.map((line) => `${line}\n`).join("");
  return {
    line: (text) => write(`${erase()}${text}\n${below()}`),
    keepBelow(lines) {
      if (!canKeep || (lines.length === 0 && footer.length === 0)) return;
      const before = erase();
      footer = [...lines];
      write(before + below());
    },
    get height() {
      return isTerminal ? (stream.rows ?? 24) : 0;
    },
    flushed: () =>
      new Promise((resolve) => {
        if (broken || stream.destroyed) resolve();
        else stream.write("", () => resolve());
      }),
    get isClosed() {
      return broken;
    },
    failure: () => failure,
    isTerminal,
    get width() {
      return isTerminal && stream.columns ? stream.columns : Number.MAX_SAFE_INTEGER;
    },
    colours: pc.createColors(wantsColour(isTerminal, env)),
  };
}

/** NO_COLOR wins over FORCE_COLOR, which wins over the terminal check. */
export function wantsColour(isTerminal: boolean, env: NodeJS.ProcessEnv): boolean {
  if (env.NO_COLOR) return false;
  const forced = env.FORCE_COLOR;
  if (forced !== undefined && forced !== "") return forced !== "0" && forced !== "false";
  return isTerminal && env.TERM !== "dumb";
}
