import type { ReadStream } from "node:tty";

/** Reads the user's answers to questions. */
export interface Keyboard {
  readonly isTerminal: boolean;
  /** The next of these keys, without Enter. Null if `signal` aborts or the input has ended. */
  readKey(keys: string, signal: AbortSignal): Promise<string | null>;
  /** A line of text without its newline. Null as above. */
  readLine(signal: AbortSignal): Promise<string | null>;
  /** A line that the terminal does not show. Null as above. */
  readSecret(signal: AbortSignal): Promise<string | null>;
}

type Input = Pick<ReadStream, "setRawMode" | "on" | "off" | "resume" | "pause">;

export interface KeyboardOptions {
  isTerminal: boolean;
  /** Called when a question is open. */
  input: () => Input;
  /** Called for Ctrl-C, which sends no signal while single keys are read. */
  interrupt: () => void;
  monotonicMs?: () => number;
}

/** A key that is pressed earlier than this does not answer the question: the user cannot have read it. */
const typedAheadMs = 300;
const ctrlC = "\u0003";

/** The keyboard of a terminal. Reads from it only while a question is open. */
export function terminalKeyboard(options: KeyboardOptions): Keyboard {
  const { interrupt, monotonicMs = () => performance.now() } = options;
  return {
    isTerminal: options.isTerminal,
    readKey(keys, signal) {
      const openedAtMs = monotonicMs();
      return read(options.input(), { raw: true, signal }, (text) => {
        if (text.includes(ctrlC)) interrupt();
        // Several characters at once are pasted text or a key such as an arrow.
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
    readSecret(signal) {
      let line = "";
      return read(options.input(), { raw: true, signal }, (text) => {
        if (text.includes(ctrlC)) interrupt();
        for (const character of pasteMarks.reduce((rest, mark) => rest.replaceAll(mark, ""), text)) {
          if (endOfLine.includes(character)) return line;
          line = erasing.includes(character) ? Array.from(line).slice(0, -1).join("") : line + character;
        }
        return null;
      });
    },
  };
}

/** Enter, and Ctrl-D. */
const endOfLine = "\r\n\u0004";
const erasing = "\u007f\b";
/** Terminals put them around pasted text. */
const pasteMarks = ["\u001b[200~", "\u001b[201~"];

/** Passes the input to `take` until it returns an answer, then resets the terminal. */
function read(
  input: Input,
  { raw, signal }: { raw: boolean; signal: AbortSignal },
  take: (text: string) => string | null,
): Promise<string | null> {
  return new Promise((resolve) => {
    const settle = (answer: string | null): void => {
      input.off("data", onData);
      input.off("end", end);
      signal.removeEventListener("abort", end);
      input.setRawMode(false);
      input.pause();
      resolve(answer);
    };
    const onData = (chunk: Buffer | string): void => {
      const answer = take(chunk.toString());
      if (answer !== null) settle(answer);
    };
    const end = (): void => settle(null);
    if (signal.aborted) return resolve(null);
    signal.addEventListener("abort", end, { once: true });
    input.setRawMode(raw);
    input.on("data", onData);
    input.on("end", end);
    input.resume();
  });
}
