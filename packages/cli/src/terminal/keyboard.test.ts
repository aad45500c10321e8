import { EventEmitter } from "node:events";
import { describe, expect, test } from "vitest";
import { terminalKeyboard } from "./keyboard.ts";

/** A key that was not meant as an answer must never become one, and the terminal must always come back whole. */

function setUp() {
  const input = Object.assign(new EventEmitter(), {
    modes: [] as boolean[],
    reading: false,
    setRawMode(mode: boolean) {
      input.modes.push(mode);
      return input as never;
    },
    resume() {
      input.reading = true;
      return input as never;
    },
    pause() {
      input.reading = false;
      return input as never;
    },
  });
  let atMs = 0;
  let interrupts = 0;
  const keyboard = terminalKeyboard({
    isTerminal: true,
    input: () => input as never,
    interrupt: () => {
      interrupts += 1;
    },
    monotonicMs: () => atMs,
  });
  const type = (text: string) => input.emit("data", Buffer.from(text));
  const pass = (ms: number) => {
    atMs += ms;
  };
  const stop = new AbortController();
  return { input, keyboard, type, pass, stop, interrupts: () => interrupts };
}

describe("one key", () => {
  test("is read without Enter, in either case, and restores the terminal", async () => {
    const { input, keyboard, type, pass, stop } = setUp();
    const key = keyboard.readKey("yn", stop.signal);
    expect([input.modes, input.reading]).toEqual([[true], true]);
    pass(1_000);
    type("Y");
    expect(await key).toBe("y");
    expect([input.modes, input.reading, input.listenerCount("data"), input.listenerCount("end")]).toEqual([
      [true, false],
      false,
      0,
      0,
    ]);
  });

  test.each([
    ["another key", "x"],
    ["several keys at once, as from a paste", "yes"],
    ["an arrow", "\u001b[A"],
    ["Enter", "\r"],
    ["nothing", ""],
  ])("is not %s", async (_what, typed) => {
    const { keyboard, type, pass, stop } = setUp();
    const key = keyboard.readKey("yn", stop.signal);
    pass(1_000);
    type(typed);
    type("n");
    expect(await key).toBe("n");
  });

  test("typed before the question is visible does not answer it", async () => {
    const { keyboard, type, pass, stop } = setUp();
    const key = keyboard.readKey("yn", stop.signal);
    type("y");
    pass(299);
    type("y");
    pass(1);
    type("n");
    expect(await key).toBe("n");
  });

  test("Ctrl-C interrupts, at any time", async () => {
    const { keyboard, type, stop, interrupts } = setUp();
    const key = keyboard.readKey("yn", stop.signal);
    type("\u0003");
    expect(interrupts()).toBe(1);
    stop.abort();
    expect(await key).toBeNull();
  });
});

test("a line is read whole, in any pieces, and can be empty", async () => {
  const { input, keyboard, type, stop } = setUp();
  const line = keyboard.readLine(stop.signal);
  type("too ");
  type("much\r\nmore");
  expect(await line).toBe("too much");
  expect(input.modes).toEqual([false, false]);
  const empty = keyboard.readLine(stop.signal);
  type("\n");
  expect(await empty).toBe("");
});

test.each(["abort", "end", "abort before"] as const)("%s is not an answer", async (how) => {
  const { input, keyboard, stop } = setUp();
  if (how === "abort before") stop.abort();
  const both = [keyboard.readKey("y", stop.signal), keyboard.readLine(stop.signal)];
  if (how === "abort") stop.abort();
  if (how === "end") input.emit("end");
  expect(await Promise.all(both)).toEqual([null, null]);
  expect([input.reading, input.listenerCount("data"), input.modes.at(-1) ?? false]).toEqual([false, 0, false]);
});

describe("a secret", () => {
  test.each([
    ["typed", ["s", "3", "c", "\r"], "s3c"],
    ["pasted", ["\u001b[200~s3c\u001b[201~", "\n"], "s3c"],
    ["corrected", ["s4", "\u007f", "3cx\b", "\r"], "s3c"],
    ["with a letter of two code units removed", ["s3c\u{1F511}\u007f\r"], "s3c"],
    ["ended by Ctrl-D", ["s3c\u0004"], "s3c"],
    ["with text behind its line", ["s3c\rls\r"], "s3c"],
    ["empty", ["\r"], ""],
  ])("that is %s is read without an echo, and restores the terminal", async (_, typed, expected) => {
    const { input, keyboard, type, stop } = setUp();
    const secret = keyboard.readSecret(stop.signal);
    // A terminal in raw mode does not show the keys.
    expect(input.modes).toEqual([true]);
    for (const text of typed) type(text);
    expect(await secret).toBe(expected);
    expect([input.modes, input.reading, input.listenerCount("data")]).toEqual([[true, false], false, 0]);
  });

  test("is given up with Ctrl-C", async () => {
    const { keyboard, type, stop, interrupts } = setUp();
    const secret = keyboard.readSecret(stop.signal);
    type("s3c\u0003");
    expect(interrupts()).toBe(1);
    stop.abort();
    expect(await secret).toBeNull();
  });
});
