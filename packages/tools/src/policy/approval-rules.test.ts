/** A stored rule replaces a question to the user: it matches exactly its call, and no rule is ever lost. */
import { chmod, mkdir, mkdtempDisposable, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ApprovalRule, type ApprovalRules, derivedId, hashArguments } from "@troupe/core/internal";
import { describe, expect, test as plainTest } from "vitest";
import { openApprovalRules } from "./approval-rules.ts";

const test = plainTest.extend<{ file: string }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's needs from this pattern
  file: async ({}, use) => {
    await using folder = await mkdtempDisposable(join(tmpdir(), "troupe-rules-"));
    await use(join(folder.path, "rules.json"));
  },
});

const args = { command: "npm test", env: { a: 1, b: [2] } };
const place = { workspace: "/project", agent: "coder" };

function rule(id: string, changes: Partial<ApprovalRule> = {}): ApprovalRule {
  return ApprovalRule.parse({
    id: derivedId(id),
    decision: "allow",
    tool: "shell",
    argsHash: hashArguments(args),
    args,
    workspace: "/project",
    agent: null,
    createdAt: "2026-11-18T12:00:00.000Z",
    by: "me",
    ...changes,
  });
}

async function rulesWith(file: string, ...rules: ApprovalRule[]): Promise<ApprovalRules> {
  const store = await openApprovalRules({ file });
  for (const each of rules) await store.add(each);
  return store;
}

test("a denial may use another program's name of the tool; a rule that allows may not", async ({ file }) => {
  const anyArguments = { tool: "Bash", argsHash: null, args: null };
  const allowing = await rulesWith(file, rule("1", anyArguments));
  expect(allowing.match({ name: "shell", args }, place)).toBeNull();
  const denying = await rulesWith(file, rule("2", { ...anyArguments, decision: "deny" }));
  expect(denying.match({ name: "shell", args }, place)?.decision).toBe("deny");
});

describe("a rule for exact arguments matches", () => {
  test.for<[string, { name?: string; args?: unknown; workspace?: string; agent?: string }, boolean]>([
    ["the same call", {}, true],
    ["the same arguments in another order", { args: { env: { b: [2], a: 1 }, command: "npm test" } }, true],
    ["one more argument", { args: { ...args, timeoutMs: 1 } }, false],
    ["one argument less", { args: { command: "npm test" } }, false],
    ["another value", { args: { ...args, command: "npm test; rm -rf /" } }, false],
    ["a number for a text", { args: { ...args, env: { a: "1", b: [2] } } }, false],
    ["a list in place of an object", { args: [args] }, false],
    ["nothing", { args: null }, false],
    ["another tool", { name: "shell2" }, false],
    ["a tool in capitals", { name: "Shell" }, false],
    ["another workspace", { workspace: "/project2" }, false],
    ["a folder in the workspace", { workspace: "/project/sub" }, false],
    ["any agent, without a named one", { agent: "tester" }, true],
  ])("%s: %j", async ([, changes, fits], { file }) => {
    const rules = await rulesWith(file, rule("1"));
    const { name = "shell", args: given = args, ...where } = changes;
    const call = { name, args: JSON.parse(JSON.stringify(given)) };
    expect(rules.match(call, { ...place, ...where })).toEqual(fits ? rule("1") : null);
  });

  test("only its own agent, if it names one", async ({ file }) => {
    const rules = await rulesWith(file, rule("1", { agent: "coder" }));
    const call = { name: "shell", args };
    expect(rules.match(call, place)).not.toBeNull();
    expect(rules.match(call, { ...place, agent: "tester" })).toBeNull();
  });
});

test("a rule for any arguments matches them all, of its tool alone", async ({ file }) => {
  const rules = await rulesWith(file, rule("1", { argsHash: null, args: null }));
  expect(rules.match({ name: "shell", args: { command: "anything" } }, place)).not.toBeNull();
  expect(rules.match({ name: "write", args }, place)).toBeNull();
});

test("a denial wins, in any order of the rules", async ({ file }) => {
  const rules = await rulesWith(
    file,
    rule("allow-before"),
    rule("deny", { decision: "deny", argsHash: null, args: null }),
    rule("allow-after", { agent: "coder" }),
  );
  expect(rules.match({ name: "shell", args }, place)).toMatchObject({ decision: "deny" });
});

describe("the file", () => {
  test("is created with the first rule, private, and read by the next process", async ({ file }) => {
    const rules = await openApprovalRules({ file });
    expect(rules.list()).toEqual([]);
    await expect(stat(file)).rejects.toMatchObject({ code: "ENOENT" });
    await rules.add(rule("1"));
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await openApprovalRules({ file })).list()).toEqual([rule("1")]);
    expect(await readdir(join(file, ".."))).toEqual(["rules.json"]);
  });

  test("becomes private again with the next rule", async ({ file }) => {
    const rules = await rulesWith(file, rule("1"));
    await chmod(file, 0o644);
    await rules.add(rule("2", { tool: "write" }));
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  test("loses none of many rules that are added and removed at once", async ({ file }) => {
    const rules = await rulesWith(file, rule("old"));
    const ids = Array.from({ length: 30 }, (_, i) => `${i}`);
    await Promise.all([...ids.map((id) => rules.add(rule(id, { tool: id }))), rules.remove(derivedId("old"))]);
    const tools = (await openApprovalRules({ file })).list().map(({ tool }) => tool);
    expect(tools.sort()).toEqual(ids.sort());
    expect(rules.list()).toHaveLength(ids.length);
  });

  test("keeps rules that another process has added meanwhile", async ({ file }) => {
    const one = await openApprovalRules({ file });
    const other = await rulesWith(file, rule("1"));
    await one.add(rule("2", { tool: "write" }));
    await other.remove(derivedId("2"));
    expect((await openApprovalRules({ file })).list()).toEqual([rule("1")]);
  });

  test("holds one rule, with any number of additions", async ({ file }) => {
    const rules = await rulesWith(file, rule("1"));
    expect(await rules.add(rule("2", { by: "another user" }))).toEqual(rule("1"));
    expect(rules.list()).toHaveLength(1);
  });

  test("is not touched by the removal of a missing rule", async ({ file }) => {
    const rules = await rulesWith(file, rule("1"));
    const before = await stat(file);
    expect(await rules.remove(derivedId("2"))).toBeNull();
    expect((await stat(file)).ino).toBe(before.ino);
  });

  test("has a limit on the number of rules", async ({ file }) => {
    const many = Array.from({ length: 1_000 }, (_, i) => rule(`${i}`, { tool: `t${i}` }));
    await writeFile(file, JSON.stringify({ version: 1, rules: many }));
    const rules = await openApprovalRules({ file });
    await expect(rules.add(rule("more"))).rejects.toMatchObject({ code: "LIMIT_REACHED" });
    expect(rules.list()).toHaveLength(1_000);
  });
});

describe("a damaged file is reported, and stays unchanged:", () => {
  test.for([
    ["cut off", '{"version": 1, "rules": ['],
    ["empty", ""],
    ["of another version", '{"version": 2, "rules": []}'],
    ["with an invalid rule", JSON.stringify({ version: 1, rules: [{ ...rule("1"), decision: "maybe" }] })],
    ["with an unknown key", JSON.stringify({ version: 1, rules: [], notes: "x" })],
  ])("%s", async ([, text], { file }) => {
    const rules = await rulesWith(file, rule("1"));
    await writeFile(file, text ?? "");
    const problem = {
      code: "INVALID_POLICY",
      message: expect.stringContaining(file),
      fix: expect.stringContaining(`mv ${file} ${file}.damaged`),
    };
    await expect(openApprovalRules({ file })).rejects.toMatchObject(problem);
    await expect(rules.add(rule("2", { tool: "write" }))).rejects.toMatchObject(problem);
    await expect(rules.remove(derivedId("1"))).rejects.toMatchObject(problem);
    expect(await readFile(file, "utf8")).toBe(text);
    // The rules that were read before the damage still apply.
    expect(rules.match({ name: "shell", args }, place)).toEqual(rule("1"));
  });
});

test("a rule that cannot be stored is refused, and the next one can be stored", async ({ file }) => {
  const folder = join(file, "..", "later");
  const rules = await openApprovalRules({ file: join(folder, "rules.json") });
  await expect(rules.add(rule("1"))).rejects.toMatchObject({
    code: "HOME_UNWRITABLE",
    message: expect.stringContaining("ENOENT"),
  });
  expect(rules.list()).toEqual([]);
  await mkdir(folder);
  await rules.add(rule("1"));
  expect(rules.list()).toHaveLength(1);
});
