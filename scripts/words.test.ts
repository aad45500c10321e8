import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { bannedIn } from "./lib/banned-names.ts";
import { findProse } from "./lib/prose.ts";
import { lowered, shrunk } from "./lib/ratchet.ts";
import { surveyWords, type WordSurvey } from "./lib/word-survey.ts";
import { findDifferences, findUnclearProse, renderTable } from "./words.ts";

// The first half shows the patterns on bad and on plain text; the second half covers names, types and the ratchet.

const roots: string[] = [];
afterEach(() => {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true, force: true });
});

function survey(files: Record<string, string>): WordSurvey {
  const root = mkdtempSync(join(tmpdir(), "troupe-words-"));
  roots.push(root);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  return surveyWords(root, Object.keys(files));
}

/** Keys and places of all hits in one source file. */
function hitsIn(text: string, file = "packages/runtime/src/run.ts"): string[] {
  return survey({ [file]: text }).hits.map(({ key, line }) => `${key}:${line}`);
}

const rulesIn = (text: string): string[] => findProse(text).map(({ rule }) => rule);

describe("prose is unclear", () => {
  it.each([
    "Tells whoever waits.",
    "nobody has answered for /x",
    "Somebody else's model.",
    "Given to whomever it concerns.",
  ])("with an actor that is not named: %s", (text) => {
    expect(rulesIn(text)).toEqual(["dialect"]);
  });

  it.each([
    "What a run has used of its budget.",
    "The hosts. What they serve.",
    "Who asked for this run, from the root down.",
    "Whatever costs something is reserved first.",
    "Counted once: what was sent is gone.",
    "| who owns the home | the lock |",
    "- what is allowed",
    "Where the built page is.",
    "How others find the server.",
    "Keeps what is there.",
    "Returns what stops it.",
    "Takes the budget, and what it has left.",
    "For those who join later.",
    "Oldest first, but those that wait.",
    "One for all who ask.",
    "One claim, and who holds it.",
    "A damaged file is no answer.",
    "arguments that are no JSON",
  ])("without a head noun: %s", (text) => {
    expect(rulesIn(text)).toEqual(["headless"]);
  });

  it("once for words that two patterns find", () => {
    expect(rulesIn("What nobody has asked for.")).toEqual(["headless", "dialect"]);
    expect(rulesIn("Kept for those who ask: what is left.")).toEqual(["headless", "headless"]);
  });

  it("across the lines of a comment", () => {
    expect(hitsIn("// Keeps\n// what is there.\nexport const a = 1;\n/**\n * A file\n * is no text.\n */\n")).toEqual([
      "headless in comments:2",
      "headless in comments:6",
    ]);
  });
});

describe("prose is plain", () => {
  it.each([
    "What happens when the lease expires?",
    "Who may cancel a run? The user.",
    "Says what failed.",
    "Defines what happens when the name is taken.",
    "This is what makes the claim safe.",
    "Differs from what the server sends.",
    "Set back to what it was.",
    "Decides what the host does next.",
    "Whether to retry.",
    "Whether the run is parked.",
    "How long a call may take.",
    "How many runs fit.",
    "How to stop a host.",
    "What to do next.",
    "Where possible, the lease is extended.",
    "Where to write the file.",
    "A person who watches the run.",
    "The user, who may be offline, answers later.",
    "There is no lease.",
    "there were no replies",
    "The permit is no longer needed.",
    "The second form was no faster.",
    "Read `what is there` from the disk.",
    "```ts\nwhat is there\n```",
    "## What's new",
  ])("%s", (text) => {
    expect(rulesIn(text)).toEqual([]);
  });
});

describe("a banned word stays in", () => {
  it.each([
    'you cannot delegate to "helper": this agent delegates to nobody',
    "su -c true nobody || sudo -n true",
    "no nobody or other our out",
    "so somebody something still",
  ])("%s", (text) => {
    expect(rulesIn(text)).toEqual([]);
  });

  it("an exception, and not elsewhere in its text", () => {
    expect(rulesIn("It delegates to nobody, and nobody knows.")).toEqual(["dialect"]);
  });
});

describe("unclear prose fails", () => {
  const problemsOf = (text: string, isNew = (_hit: { line: number }) => false): string[] =>
    findUnclearProse(survey({ "docs/a.md": text }), isNew);
  const plain = "plain words\n".repeat(5_000);

  it("for each banned word, in any amount of text", () => {
    expect(problemsOf(`${plain}\nnobody\n`)).toEqual([
      expect.stringContaining("dialect"),
      expect.stringMatching(/^ {2}docs\/a\.md:5002: "nobody" → name the actor/),
    ]);
  });

  it("above two clauses without a head noun per 10,000 words", () => {
    const clause = "It keeps what is there.\n";
    expect(problemsOf(`${plain}\n${clause}${clause}`)).toEqual([]);
    expect(problemsOf(`${plain}\n${clause.repeat(3)}`, ({ line }) => line === 5_004)).toEqual([
      "headless: 3.0 per 10,000 words, and at most 2 are allowed.",
      expect.stringMatching(/^ {2}docs\/a\.md:5004: /),
    ]);
  });

  it("never in plain text", () => {
    expect(problemsOf(plain)).toEqual([]);
  });

  it("without a ratchet", () => {
    const { counts } = survey({ "docs/a.md": "nobody keeps what is there" });
    expect(Object.keys(counts).filter((key) => /dialect|headless/.test(key))).toEqual([]);
  });
});

describe("a banned word is found", () => {
  it.each([
    ["openWish", "wish"],
    ["wishes-for.ts", "wish"],
    ["WORLD_SIZE", "world"],
    ["look-round.ts", "lookRound"],
    ["wasTurnedAway", "turnedAway"],
    ["standIns", "standIn"],
    ["HTTPWorld", "world"],
  ])("in %s", (name, word) => {
    expect(bannedIn(name).map((banned) => banned.word)).toEqual([word]);
  });

  it.each(["wishbone", "worldly", "standard", "background", "outstanding", "roomy"])("but not in %s", (name) => {
    expect(bannedIn(name)).toEqual([]);
  });

  it.each([
    ["a function", "export function openWorld() {}"],
    ["a class", "class World {}"],
    ["a type", "type World = string;"],
    ["an interface", "interface World {}"],
    ["a variable", "const world = 1;"],
    ["a parameter", "export const a = (world: string) => 1;"],
    ["a destructured variable with a name of its own", "const { a: world } = b;"],
    ["a rest variable", "const [, ...world] = b;"],
    ["an import with another name", 'import { a as world } from "./a.ts";'],
    ["a property, if the word is not a key of a contract", "interface A { world: string }"],
    ["a parameter of a function type", "type A = (world: string) => void;"],
    ["a catch clause", "try { a(); } catch (world) { b(); }"],
  ])("in %s", (_what, text) => {
    expect(hitsIn(text)).toEqual(["name world:1"]);
  });

  it.each([
    ["a property that is a key on the wire", "interface A { kept: number }"],
    ["a variable that takes its name from such a key", "const { kept, b: { pin } } = entry;"],
    ["a string", 'const a = "world";'],
    ["a key of an object", "const a = { world: 1 };"],
    ["a use", "a(world);"],
    ["an import", 'import { world } from "./a.ts";'],
    ["a folder that the word is not banned in", "const stage = 1;"],
  ])("but not in %s", (_what, text) => {
    expect(hitsIn(text)).toEqual([]);
  });

  it("in the names of files and folders, each once", () => {
    const { hits } = survey({ "packages/cli/src/wishes/a.ts": "", "packages/cli/src/wishes/pin-a.test.ts": "" });
    expect(hits.map(({ key, file }) => `${key} ${file}`)).toEqual([
      "name wish packages/cli/src/wishes",
      "name pin packages/cli/src/wishes/pin-a.test.ts",
    ]);
  });
});

describe("texts are counted by kind", () => {
  const text = "nobody said so";

  it.each([
    ["comments", "packages/cli/src/a.ts", `// ${text}`],
    ["comments", "apps/dashboard/src/a.tsx", `const a = <b>{/* ${text} */}</b>;`],
    ["strings", "packages/cli/src/a.ts", `const a = "${text}";`],
    ["strings", "packages/cli/src/a.ts", `const a = \`x \${b} ${text} \${c}\`;`],
    ["strings", "packages/cli/src/a.ts", `const a = "it is " +\n"${text}";`],
    ["strings", "apps/dashboard/src/a.tsx", `const a = <b>${text}</b>;`],
    ["docs", "README.md", text],
    ["docs", "packages/cli/README.md", text],
    ["prompts", "packages/roles/agents/main.md", text],
    ["test comments", "packages/cli/src/a.test.ts", `/* ${text} */`],
    ["test comments", "test/chaos/a.ts", `/** ${text} */`],
    ["test strings", "packages/cli/src/a.test.ts", `it("${text}", () => {});`],
  ])("%s of %s", (kind, file, content) => {
    expect(survey({ [file]: content }).hits.map(({ key }) => key)).toEqual([`dialect in ${kind}`]);
  });

  it("a text in parts is one text", () => {
    expect(hitsIn('const a = "the file keeps " + b + " what is left";')).toEqual(["headless in strings:1"]);
    expect(hitsIn(`const a = \`\${b} what follows\`;`)).toEqual(["headless in strings:1"]);
    expect(hitsIn("const a = `reads \\`what is there\\` again`;")).toEqual([]);
    expect(hitsIn('const a = "it " + "is there, " + "who knows";')).toEqual([]);
  });
});

describe("a type name", () => {
  const exported = "export interface Reply {}";

  it("is exported by one file of a package", () => {
    const { hits } = survey({ "packages/cli/src/a.ts": exported, "packages/cli/src/b.ts": "export class Reply {}" });
    expect(hits.map(({ key, words, use }) => [key, words, use])).toEqual([
      [expect.stringContaining("exported types"), "Reply", expect.stringContaining("packages/cli/src/b.ts")],
    ]);
  });

  it("may be exported by two packages, and declared once more without export", () => {
    expect(survey({ "packages/cli/src/a.ts": exported, "packages/core/src/a.ts": exported }).hits).toEqual([]);
    expect(survey({ "packages/cli/src/a.ts": exported, "packages/cli/src/b.ts": "type Reply = 1;" }).hits).toEqual([]);
  });

  it("is declared in at most two files of the tree", () => {
    const files = ["cli", "core", "roles"].map((name) => [`packages/${name}/src/a.ts`, "interface Reply {}"]);
    const { hits } = survey(Object.fromEntries(files));
    expect(hits.map(({ key, words }) => [key, words])).toEqual([
      ["type names declared in more than two files", "Reply"],
    ]);
  });

  it("of a test, or of a component's properties, is free", () => {
    const names = ["a", "b", "c"];
    const of = (file: (name: string) => string, text: string) =>
      survey(Object.fromEntries(names.map((name) => [file(name), text]))).hits;
    expect(of((name) => `packages/cli/src/${name}.test.ts`, "interface Reply {}")).toEqual([]);
    expect(of((name) => `apps/dashboard/src/${name}.tsx`, "interface Props {}")).toEqual([]);
  });
});

describe("the ratchet", () => {
  const hits = [1, 2].map((line) => ({ key: "name wish", file: "a.ts", line, words: "wish", use: "command" }));
  const differences = (limit: number | undefined, isNew = (_hit: { line: number }) => false): string[] =>
    findDifferences(limit === undefined ? {} : { "name wish": limit }, { counts: { "name wish": 2 }, hits }, isNew);

  it("accepts the count that it has", () => {
    expect(differences(2)).toEqual([]);
  });

  it("refuses a higher count, and lists the new lines", () => {
    expect(differences(1, ({ line }) => line === 2)).toEqual([
      "name wish: rose from 1 to 2.",
      '  a.ts:2: "wish" → command',
    ]);
  });

  it("lists all lines if none is known to be new", () => {
    expect(differences(1)).toHaveLength(3);
  });

  it("refuses a lower count until it is recorded", () => {
    expect(differences(3)).toEqual([expect.stringContaining("fell from 3 to 2")]);
    expect(differences(undefined)).toEqual([expect.stringContaining("no ratchet yet")]);
  });

  it("is lowered, never raised, and begins at today's count for a new word", () => {
    expect(lowered({ fell: 3, rose: 1, gone: 5 }, { fell: 2, rose: 4, fresh: 7 })).toEqual({
      fell: 2,
      rose: 1,
      fresh: 7,
    });
  });

  it("accepts other cycles for the same number, and no additional ones", () => {
    const allowed = { values: ["runtime: a -> b", "runtime: b -> a"], types: [] };
    const moved = { values: ["tools: c -> b", "tools: b -> c"], types: [] };
    expect(shrunk(allowed, moved)).toBe(moved);
    expect(shrunk(allowed, { ...moved, types: ["tools: b -> d"] })).toBe(allowed);
    expect(
      shrunk({ values: [], types: ["runtime: a -> b"] }, { values: ["runtime: a -> b"], types: [] }).values,
    ).toEqual([]);
    expect(shrunk(undefined, moved)).toBe(moved);
  });
});

describe("the figures", () => {
  it("are a row for each package and three lines on the tree", () => {
    const table = renderTable(
      survey({
        "packages/cli/src/a.ts": 'import "./b.ts";\n// nobody knows the four words\nconst world = 1;\n',
        "packages/cli/src/b.ts": "\n".repeat(99),
        "docs/a.md": "plain words\n",
      }),
    );
    expect(table).toMatch(/^cli +5 +1 +0 +1 +0 +0$/m);
    expect(table).toMatch(/^docs +2 +0 +0 +0 +0 +0$/m);
    expect(table).toContain("dialect 2000.0 in comments, 0.0 in docs");
    expect(table).toContain(
      "2 source files: median 99 lines, 50 % of at most 60 lines, 50 % imported by one file only",
    );
  });
});
