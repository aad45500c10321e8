import { vi } from "vitest";
import type { Keyboard } from "../terminal/keyboard.ts";

export interface FakeKeyboard extends Keyboard {
  /** Presses a key or types a line, as soon as it is asked for. */
  type(text: string): Promise<void>;
}

/** A keyboard whose user waits to be asked. */
export function createFakeKeyboard(isTerminal: boolean): FakeKeyboard {
  let asked: ((text: string) => boolean) | null = null;
  const read = (accepts: (text: string) => boolean, signal: AbortSignal) =>
    new Promise<string | null>((resolve) => {
      asked = (text) => {
        if (!accepts(text)) return false;
        asked = null;
        resolve(text);
        return true;
      };
      signal.addEventListener("abort", () => {
        asked = null;
        resolve(null);
      });
    });
  return {
    isTerminal,
    readKey: (keys, signal) => read((text) => keys.includes(text), signal),
    readLine: (signal) => read(() => true, signal),
    readSecret: (signal) => read(() => true, signal),
    async type(text) {
      await vi.waitFor(() => {
        if (asked === null) throw new Error("nothing is asked");
      });
      asked?.(text);
    },
  };
}
