import type { ReadStream } from "node:tty";

/** What somebody types, while they are asked. */
export interface Keyboard {
  readonly isTerminal: boolean;
  /** The next of these keys, without Enter. Null when `signal` aborts or nothing more can be typed. */
  readKey(keys: string, signal: AbortSignal): Promise<string | null>;
  /** A line of text, without its newline. Null as above. */
  readLine(signal: AbortSignal): Promise<string | null>;
}

type Input = Pick<ReadStream, "setRawMode" | "on" | "off" | "resume" | "pause">;

export interface KeyboardOptions {
  isTerminal: boolean;
  /** Called once something is to be read. */
  input: () => Input;
  /** Ctrl-C, which is no signal while single keys are read. */
  interrupt: () => void;
  monotonicMs?: () => number;
}

/** What was typed before a question could be read does not answer it. */
const typedAheadMs = 300;
const ctrlC = "\u0003";

/** The keyboard of a terminal. Touches it only while a question is open. */
export function terminalKeyboard(options: KeyboardOptions): Keyboard {
  const { interrupt, monotonicMs = () => performance.now() } = options;
  return {
    isTerminal: options.isTerminal,
    readKey(keys, signal) {
      const openedAtMs = monotonicMs();
      return read(options.input(), { raw: true, signal }, (text) => {
        if (text.includes(ctrlC)) interrupt();
        // More than one at once was pasted, or is a key such as an arrow: no answer to anything.
        const isAnswer = text.length === 1 && keys.includes(text.toLowerCase());
        return isAnswer && monotonicMs() - openedAtMs >= typedAheadMs ? text.toLowerCase() : null;
      });
    },
    readLine(signal) {
      let line = "";
      return read(options.input(), { raw: false, signal }, (text) => {
        line += text;
        return line.includes("\n") ? (line.split("\n")[0] ?? "").replace(/\r$/, "") : null;
      });
    },
  };
}

/** Hands what is typed to `take` until it makes something of it, and leaves the terminal as it was. */
function read(
  input: Input,
  { raw, signal }: { raw: boolean; signal: AbortSignal },
  take: (text: string) => string | null,
): Promise<string | null> {
  return new Promise((resolve) => {
    const settle = (answer: string | null): void => {
      input.off("data", hear);
      input.off("end", end);
      signal.removeEventListener("abort", end);
      input.setRawMode(false);
      input.pause();
      resolve(answer);
    };
    const hear = (chunk: Buffer | string): void => {
      const answer = take(chunk.toString());
      if (answer !== null) settle(answer);
    };
    const end = (): void => settle(null);
    if (signal.aborted) return resolve(null);
    signal.addEventListener("abort", end, { once: true });
    input.setRawMode(raw);
    input.on("data", hear);
    input.on("end", end);
    input.resume();
  });
}
