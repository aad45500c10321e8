import { PassThrough, Readable } from "node:stream";
import { afterEach, describe, expect, test, vi } from "vitest";
import { kindOf, type PipedInput, readContext, readTask } from "./piped-input.ts";

afterEach(() => vi.useRealTimers());

const never = new AbortController().signal;
const ignored = () => {};

function read(kind: PipedInput["kind"], stream: Readable, signal = never, notice: (text: string) => void = ignored) {
  return readContext({ kind, open: () => stream }, { signal, notice });
}

test.each([
  ["nothing is read from a terminal or /dev/null", "none", "ignored", null],
  ["a pipe is read to its end", "pipe", "a\nb\n", "a\nb\n"],
  ["a file is read to its end", "file", "x", "x"],
  ["a socket with data is read to its end", "socket", "x", "x"],
  ["empty input is not context", "pipe", "", null],
  ["white space is not context", "pipe", " \n", null],
] as const)("%s", async (_what, kind, text, expected) => {
  expect(await read(kind, Readable.from(text === "" ? [] : [text]))).toBe(expected);
});

test("characters that are split between chunks arrive whole", async () => {
  const bytes = Buffer.from("größe");
  expect(await read("pipe", Readable.from([bytes.subarray(0, 3), bytes.subarray(3)]))).toBe("größe");
});

test.each([
  ["too much", Buffer.alloc(1024 * 1024 + 1, 97), "TOO_LARGE"],
  ["binary data", Buffer.from([0xff, 0xfe, 0x00]), "USAGE"],
])("%s is refused, with a fix", async (_what, bytes, code) => {
  await expect(read("pipe", Readable.from([bytes]))).rejects.toMatchObject({ code, fix: expect.any(String) });
});

describe("input that does not end", () => {
  test("a socket without data counts as none", async () => {
    vi.useFakeTimers();
    const stream = new PassThrough();
    const reading = read("socket", stream);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(await reading).toBeNull();
    expect(stream.destroyed).toBe(true);
  });

  test("a pipe is waited for, and the user is told", async () => {
    vi.useFakeTimers();
    const stream = new PassThrough();
    const notices: string[] = [];
    const reading = read("pipe", stream, never, (text) => notices.push(text));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(notices).toEqual([expect.stringContaining("< /dev/null")]);
    stream.end("late");
    expect(await reading).toBe("late");
  });

  test("an interrupt ends the wait", async () => {
    const stream = new PassThrough();
    const controller = new AbortController();
    const reading = read("pipe", stream, controller.signal);
    controller.abort(new Error("interrupted"));
    await expect(reading).rejects.toThrow("interrupted");
    expect(stream.destroyed).toBe(true);
  });
});

test("a closed descriptor counts as empty", () => {
  const closed = () => {
    throw new Error("EBADF");
  };
  expect(kindOf(closed)).toBe("none");
});

describe("the task of `run -`", () => {
  const task = (kind: PipedInput["kind"], stream: Readable, notice: (text: string) => void = ignored) =>
    readTask({ kind, open: () => stream }, { signal: never, notice });

  test.each(["pipe", "file", "socket", "terminal"] as const)("is the whole text of a %s, trimmed", async (kind) => {
    expect(await task(kind, Readable.from(["\n do\n", "this \n"]))).toBe("do\nthis");
  });

  test.each([
    ["pipe", ""],
    ["file", " \n"],
    ["terminal", ""],
    ["none", "not read"],
  ] as const)("an empty %s is a usage error with an example", async (kind, text) => {
    await expect(task(kind, Readable.from(text === "" ? [] : [text]))).rejects.toMatchObject({
      code: "USAGE",
      fix: expect.stringContaining("| troupe run -"),
    });
  });

  test("a terminal says at once how to end the task", async () => {
    const notices: string[] = [];
    await task("terminal", Readable.from(["x"]), (text) => notices.push(text));
    expect(notices).toEqual([expect.stringContaining("Ctrl-D")]);
  });

  test("a silent socket is read to its end, because the user asked for it", async () => {
    vi.useFakeTimers();
    const stream = new PassThrough();
    const notices: string[] = [];
    const reading = task("socket", stream, (text) => notices.push(text));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(notices).toEqual(["reading the task from standard input until it ends"]);
    stream.end("late");
    expect(await reading).toBe("late");
  });
});
