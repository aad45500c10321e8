import { describe, expect, it } from "vitest";
import { argumentsLine, formatArguments } from "./arguments.ts";
import { reveal } from "./format.ts";

describe("the arguments of a call, for reading", () => {
  it.each([
    [
      "the command first, the rest as JSON",
      { timeout: 5, command: "ls" },
      [
        ["command", "ls"],
        [null, '{\n  "timeout": 5\n}'],
      ],
    ],
    [
      "the path first, then texts of several lines",
      { content: "a\nb", path: "x.md" },
      [
        ["path", "x.md"],
        ["content", "a\nb"],
      ],
    ],
    [
      "a command before a path",
      { path: "/", command: "ls" },
      [
        ["command", "ls"],
        [null, '{\n  "path": "/"\n}'],
      ],
    ],
    ["JSON alone without a main argument", { to: ["ada"] }, [[null, '{\n  "to": [\n    "ada"\n  ]\n}']]],
    [
      "JSON for a command that is not a text",
      { command: ["rm", "x"] },
      [[null, '{\n  "command": [\n    "rm",\n    "x"\n  ]\n}']],
    ],
    ["JSON for an empty command", { command: "" }, [[null, '{\n  "command": ""\n}']]],
    ["a list", ["x"], [[null, '[\n  "x"\n]']]],
    ["a text", "x", [[null, '"x"']]],
    ["none", {}, []],
    ["nothing at all", null, []],
  ])("%s", (_sentence, args, expected) => {
    expect(formatArguments(args).map(({ name, text }) => [name, text])).toEqual(expected);
  });

  it("are complete at any length", () => {
    const content = "x\n".repeat(200_000);
    expect(formatArguments({ path: "a", content, mode: "w" }).map(({ text }) => text.length)).toEqual([1, 400_000, 17]);
  });

  it("of a row are its first block", () => {
    expect(argumentsLine({ timeout: 5, command: "ls" })).toBe("ls");
    expect(argumentsLine({ a: 1, b: 2 })).toBe('{ "a": 1, "b": 2 }');
    expect(argumentsLine(null)).toBe("");
  });
});

describe("invisible characters become visible:", () => {
  it.each([
    ["a changed direction", "rm \u202etxt.a", "rm ⟨U+202E⟩txt.a"],
    ["characters without width", "a\u200bb\ufeffc\u2060", "a⟨U+200B⟩b⟨U+FEFF⟩c⟨U+2060⟩"],
    ["a carriage return, which lets a terminal write over the line", "safe\rrm", "safe⟨U+000D⟩rm"],
    ["an escape sequence", "\u001b[8m", "⟨U+001B⟩[8m"],
    ["a tag", "\u{e0041}", "⟨U+E0041⟩"],
    ["half of a pair", "\ud800", "⟨U+D800⟩"],
    ["another line end", "a\u2028b", "a⟨U+2028⟩b"],
  ])("%s", (_sentence, text, expected) => {
    expect(reveal(text)).toBe(expected);
  });

  it("not words, lines, tabs and emoji", () => {
    const text = "Zoë's\tnaïve 日本語 🎉\nعربى";
    expect(reveal(text)).toBe(text);
    expect(reveal("a\r\nb")).toBe("a\nb");
  });

  it("also in names of arguments", () => {
    expect(formatArguments({ "a\u202eb": 1 })[0]?.text).toContain("⟨U+202E⟩");
    expect(formatArguments({ "a\u202eb": "x\ny" })[0]?.name).toBe("a⟨U+202E⟩b");
  });
});
