import { execFileSync } from "node:child_process";
import { join } from "node:path";
import type { ToolOutcome } from "@troupe/core";
import { describe, expect, inject } from "vitest";
import type { Sandbox, SandboxedCommand } from "../../sandbox/sandbox.ts";
import { createRipgrep } from "../ripgrep.ts";
import { granted, searchTest } from "../search.fixture.ts";
import { createPlanFilesTool } from "./plan-files.ts";

interface Fixtures {
  plan: (goal: string, options?: { limit?: number; searchMs?: number }) => Promise<ToolOutcome>;
}

const test = searchTest.extend<Fixtures>({
  plan: async ({ call, sandbox }, use) => {
    await use((goal, { limit = 12, searchMs = 20_000 } = {}) =>
      call(createPlanFilesTool({ ripgrep: createRipgrep({ sandbox }), sandbox, searchMs }), { goal, limit }, granted),
    );
  },
});

/** A shop: two packages, tests beside the source, documents and build output. */
const shop: Readonly<Record<string, string>> = {
  ".gitignore": "dist/\n",
  "README.md": "# Shop\n\nSells things. Prices and discounts are in packages/pricing.\n",
  "package.json": '{ "name": "shop" }\n',
  "packages/pricing/src/index.ts": 'export * from "../discount.ts";\nexport * from "../price-list.ts";\n',
  "packages/pricing/src/discount.ts":
    "/** What a customer saves. */\nexport function applyDiscount(total: number, percent: number) {\n  return total - (total * percent) / 100;\n}\n",
  "packages/pricing/src/discount.test.ts":
    'import { applyDiscount } from "../discount.ts";\ntest("saves", () => {});\n',
  "packages/pricing/src/price-list.ts": "export class PriceList {\n  lookUp(article: string) {}\n}\n",
  "packages/checkout/src/basket.ts":
    'import { applyDiscount } from "@shop/pricing/discount";\nexport class Basket {\n  total() {\n    return applyDiscount(1, 2);\n  }\n}\n',
  "packages/checkout/src/payment.ts":
    "export async function chargeCard(cents: number) {\n  // a customer pays once: repeats have the same key\n  return retryRequest(cents);\n}\n",
  "packages/checkout/src/retry-request.ts": "export function retryRequest(cents: number) {\n  return cents;\n}\n",
  "packages/checkout/src/main.ts": 'import { Basket } from "../basket.ts";\nnew Basket();\n',
  "dist/discount.js": "function applyDiscount(discount) { return discount * discount; }\n",
  "docs/shipping.md": "# Shipping\n\nParcels leave at noon.\n",
};

const paths = ({ output }: ToolOutcome): string[] =>
  output.split("\n").flatMap((row) => /^\d+\. (\S+) /.exec(row)?.[1] ?? []);

describe("for a goal, the files to look at come first:", () => {
  test.for([
    { goal: "Discounts above 100 percent should be refused", first: "packages/pricing/src/discount.ts" },
    { goal: "why is a card charged twice when the payment is retried?", first: "packages/checkout/src/payment.ts" },
    { goal: "chargeCard", first: "packages/checkout/src/payment.ts" },
    { goal: "retryRequest must stop after five times", first: "packages/checkout/src/retry-request.ts" },
    { goal: "look at price-list.ts", first: "packages/pricing/src/price-list.ts" },
    { goal: "write down in the docs when parcels are shipped", first: "docs/shipping.md" },
    { goal: "test that a discount is never negative", first: "packages/pricing/src/discount.test.ts" },
  ])("$goal", async ({ goal, first }, { put, plan }) => {
    await put(shop);
    const outcome = await plan(goal);
    expect(outcome.error).toBeNull();
    expect(paths(outcome)[0]).toBe(first);
    expect(paths(outcome)).not.toContain("dist/discount.js");
  });
});

test("each with its reasons, followed by its tests and importers", async ({ put, plan }) => {
  await put(shop);
  const { output } = await plan("the discount of a customer");

  const rows = output.split("\n");
  expect(rows[0]).toBe(
    "1. packages/pricing/src/discount.ts (100): its name has “discount”; defines applyDiscount; " +
      "has “discount” once, “customer” once",
  );
  expect(rows[1]).toMatch(/^2\. packages\/pricing\/src\/discount\.test\.ts \(\d+\): .*; tests discount\.ts$/);
  expect(output).toMatch(/packages\/checkout\/src\/basket\.ts \(\d+\): .*imports discount\.ts/);
  expect(output).toMatch(/packages\/pricing\/src\/index\.ts \(\d+\): .*an entry point; imports discount\.ts/);
  expect(rows.at(-1)).toMatch(/^\[\d+ of \d+ relevant files, of 12 in all; searched for: discount, customer\]$/);
});

test("the subjects of commits count", async ({ folder, put, plan }) => {
  const git = (...args: string[]): void => {
    const who = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgSign=false"];
    execFileSync("git", [...who, ...args], { cwd: folder, env: { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null" } });
  };
  await put({ "a.ts": "customs\n", "b.ts": "customs\n", "c.ts": "customs\n" });
  git("init", "-q");
  git("add", "a.ts", "c.ts");
  git("commit", "-qm", "first");
  git("add", "b.ts");
  git("commit", "-qm", "customs duties are paid");

  const outcome = await plan("customs duties");

  expect(paths(outcome)).toEqual(["b.ts", "a.ts", "c.ts"]);
  expect(outcome.output).toContain("b.ts (100): has “customs” once; changed in “customs duties are paid”");
});

test("programs that a repository configures are not run", async ({ folder, put, plan, glob }) => {
  execFileSync("git", ["init", "-q"], { cwd: folder });
  const touch = `touch ${join(folder, "PWNED")}`;
  await put({
    ".git/config": `[core]\n repositoryformatversion = 0\n fsmonitor = ${touch}\n pager = ${touch}\n[log]\n showSignature = true\n[gpg]\n program = ${touch}\n[diff]\n external = ${touch}\n`,
    ".gitattributes": "* diff=evil\n",
    "a.ts": "customs\n",
  });
  await plan("customs");
  expect((await glob({ pattern: "PWNED", ignored: true })).output).toContain("no file matches");
});

test("git reads no user configuration and cannot write", async ({ folder, put, call, sandbox }) => {
  await put({ "a.ts": "customs\n" });
  const commands: SandboxedCommand[] = [];
  const watched: Sandbox = {
    ...sandbox,
    run(command) {
      commands.push(command);
      return sandbox.run(command);
    },
  };
  const tool = createPlanFilesTool({ ripgrep: createRipgrep({ sandbox: watched }), sandbox: watched });
  await call(tool, { goal: "customs" }, granted);

  const git = commands.find(({ argv }) => argv[0] === "git");
  expect(git?.env).toMatchObject({ GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null", GIT_NO_LAZY_FETCH: "1" });
  expect(
    commands.every(({ writes, workspace }) => writes.length === 1 && writes[0]?.length === 0 && workspace === folder),
  ).toBe(true);
});

test("the same goal gives the same ranking", async ({ put, plan }) => {
  await put(shop);
  const goal = "customer total price request article";
  const answers = [await plan(goal), await plan(goal)].map(({ output }) => output);
  expect(new Set(answers).size).toBe(1);
});

describe("without anything to match", () => {
  test("in the goal, entry points are shown", async ({ put, plan }) => {
    await put(shop);
    expect((await plan("please make it better")).output).toBe(
      "no file contains a word of the goal (searched for: no specific words); entry points: README.md, " +
        "package.json, packages/checkout/src/main.ts, packages/pricing/src/index.ts",
    );
    expect((await plan("kubernetes")).output).toContain(
      "no file contains a word of the goal (searched for: kubernetes)",
    );
  });

  test("in the folder, the output says so", async ({ plan }) => {
    expect((await plan("anything")).output).toContain("no file contains a word of the goal");
  });

  test("out of time, the output names the missing searches", async ({ put, plan }) => {
    await put(shop);
    const { output, error } = await plan("discount", { searchMs: 1 });
    expect(error?.type === "timeout" || output.includes("[not searched, out of time:")).toBe(true);
  });
});

describe("odd goals give a result:", () => {
  const goals = ["--pre=x", "$(reboot)", "((((", "\\", "a{1000}{1000}", "🎭🎭🎭", "[z-a] discount", "- -- _ ./ ../.."];
  /** An option, a pattern that is none, a pattern that is too large, and words that match. */
  const typical = ["--pre=x", "((((", "a{1000}{1000}", "[z-a] discount"];
  test.for(inject("long") ? goals : typical)("%s", async (goal, { put, plan }) => {
    await put(shop);
    expect((await plan(goal)).error).toBeNull();
  });

  test("4,000 characters of one word, at once", { timeout: 10_000 }, async ({ put, plan }) => {
    await put(shop);
    for (const text of inject("long") ? ["x", "a.", "a-", "aB", "../"] : ["x", "aB"]) {
      expect((await plan(text.repeat(4_000).slice(0, 4_000))).error).toBeNull();
    }
  });
});
