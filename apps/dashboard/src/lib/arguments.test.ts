import { describe, expect, it } from "vitest";
import { argumentsLine, readArguments } from "./arguments.ts";
import { reveal } from "./reveal.ts";

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
    ["JSON alone, where nothing leads", { to: ["ada"] }, [[null, '{\n  "to": [\n    "ada"\n  ]\n}']]],
    [
      "a command that is no text is not taken apart",
      { command: ["rm", "x"] },
      [[null, '{\n  "command": [\n    "rm",\n    "x"\n  ]\n}']],
    ],
    ["an empty command is still shown", { command: "" }, [[null, '{\n  "command": ""\n}']]],
    ["a list", ["x"], [[null, '[\n  "x"\n]']]],
    ["a text", "x", [[null, '"x"']]],
    ["none", {}, []],
    ["nothing at all", null, []],
  ])("%s", (_sentence, args, expected) => {
    expect(readArguments(args).map(({ name, text }) => [name, text])).toEqual(expected);
  });

  it("leave nothing out, however long it is", () => {
    const content = "x\n".repeat(200_000);
    expect(readArguments({ path: "a", content, mode: "w" }).map(({ text }) => text.length)).toEqual([1, 400_000, 17]);
  });

  it("of a row are its first block", () => {
    expect(argumentsLine({ timeout: 5, command: "ls" })).toBe("ls");
    expect(argumentsLine({ a: 1, b: 2 })).toBe('{ "a": 1, "b": 2 }');
    expect(argumentsLine(null)).toBe("");
  });
});

describe("what cannot be seen is made visible:", () => {
  it.each([
    ["a turned direction", "rm \u202etxt.a", "rm ⟨U+202E⟩txt.a"],
    ["no width", "a\u200bb\ufeffc\u2060", "a⟨U+200B⟩b⟨U+FEFF⟩c⟨U+2060⟩"],
    ["a carriage return, which lets a terminal write over the line", "safe\rrm", "safe⟨U+000D⟩rm"],
    ["an escape sequence", "\u001b[8m", "⟨U+001B⟩[8m"],
    ["a tag", "\u{e0041}", "⟨U+E0041⟩"],
    ["half of a pair", "\ud800", "⟨U+D800⟩"],
    ["another line end", "a\u2028b", "a⟨U+2028⟩b"],
  ])("%s", (_sentence, text, expected) => {
    expect(reveal(text)).toBe(expected);
  });

  it("words, lines, tabs and pictures stay as they are", () => {
    const text = "Zoë's\tnaïve 日本語 🎉\nعربى";
    expect(reveal(text)).toBe(text);
    expect(reveal("a\r\nb")).toBe("a\nb");
  });

  it("in names of arguments too", () => {
    expect(readArguments({ "a\u202eb": 1 })[0]?.text).toContain("⟨U+202E⟩");
    expect(readArguments({ "a\u202eb": "x\ny" })[0]?.name).toBe("a⟨U+202E⟩b");
  });
});
