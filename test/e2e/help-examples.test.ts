/** Every example of the help is executed as a user would, and once more with `--json`, whose fields are documented. */
import { beforeAll, describe, expect, it, type TestContext } from "vitest";
import type { CliResult } from "../harness/cli.ts";
import { startInProcess } from "../harness/cli-in-process.ts";
import { daemonExamples } from "./help/daemon-examples.ts";
import type { ExampleCase, ExampleCases } from "./help/example-case.ts";
import { executeExample } from "./help/execute-example.ts";
import { readHelp } from "./help/help-texts.ts";
import { differencesOf, readDocumentedOutputs } from "./help/output-fields.ts";
import { sessionExamples } from "./help/session-examples.ts";
import { setupExamples } from "./help/setup-examples.ts";
import { openShop, type Shop } from "./help/shop.ts";

const texts = await readHelp((args) => startInProcess(args, { home: "/nonexistent" }).ended);
const documented = await readDocumentedOutputs();
const cases: ExampleCases = { ...sessionExamples, ...daemonExamples, ...setupExamples };
const lines = [...new Set(texts.flatMap(({ examples }) => examples.map(({ line }) => line)))];

/** Outputs that a further flag changes. */
const withFlags: ExampleCases = {
  'troupe run "which licences do our dependencies have?" --stream-json': { shows: /"event":"result"/ },
  "troupe sessions show last --log --json": { shows: /"conversations"/ },
  "troupe up -d --json": { shows: /"event":"running"/ },
};

let shop: Shop;
beforeAll(async () => {
  const steps: Parameters<TestContext["onTestFinished"]>[0][] = [];
  shop = await openShop({ onTestFinished: (step) => void steps.push(step) });
  return async (context: TestContext) => {
    for (const step of steps.reverse()) await step(context);
  };
});

function expectOutput({ code, stdout, stderr }: CliResult, example: ExampleCase): void {
  expect([code, stdout + stderr]).toEqual([example.code ?? 0, expect.stringMatching(example.shows)]);
}

/** The command of a line that takes `--json`; the longest one, because a group can be a command. */
function commandWithJson(line: string): string | undefined {
  const named = texts.filter(({ command, hasJson }) => hasJson && `${line} `.startsWith(`troupe ${command} `));
  return named.map(({ command }) => command).sort((one, other) => other.length - one.length)[0];
}

describe("each example of the help works, and its --json output is documented:", () => {
  it.for(lines)("%s", async (line) => {
    const example = cases[line];
    if (!example) throw new Error(`no table in test/e2e/help says what this example needs and prints: ${line}`);
    const written = executeExample(shop, line, example);
    if (!example.atOnce) expectOutput(await written, example);
    const command = commandWithJson(line);
    if (command === undefined) return;
    const { code, stdout, stderr } = await executeExample(shop, line, example, ["--json"]);
    if (example.atOnce) expectOutput(await written, example);
    expect([code, stderr]).toEqual([example.jsonCode ?? example.code ?? 0, expect.any(String)]);
    const output = documented.find(({ row }) => row === command);
    expect(output && differencesOf(output, stdout), `${command}: ${stdout.slice(0, 500)}`).toEqual([]);
  });

  it.for(Object.entries(withFlags))("%s", async ([line, example]) => {
    const result = await executeExample(shop, line, example);
    expectOutput(result, example);
    const output = documented.find(
      ({ row }) => /--\w|-d/.test(row) && row.split(" ").every((word) => line.includes(word)),
    );
    expect(output && differencesOf(output, result.stdout), output?.row).toEqual([]);
  });
});

describe("the tables", () => {
  it("have no example that the help does not have", () => {
    expect(Object.keys(cases).filter((line) => !lines.includes(line))).toEqual([]);
    expect(lines.length).toBeGreaterThan(90);
  });

  it("of the reference have each command with --json, and no other", () => {
    const rows = documented.map(({ row }) => row).filter((row) => !/ -/.test(row));
    expect(rows.sort()).toEqual(texts.flatMap(({ command, hasJson }) => (hasJson ? [command] : [])).sort());
    expect(documented.filter(({ row }) => / -/.test(row))).toHaveLength(Object.keys(withFlags).length);
  });

  it("of the reference name schemas of the API", async () => {
    const { url, token } = shop.daemon;
    const reply = await fetch(`${url}/api/v1/openapi.json`, { headers: { authorization: `Bearer ${token}` } });
    const { components } = (await reply.json()) as { components: { schemas: object } };
    const names = new Set(documented.flatMap((output) => output.names));
    expect([...names].filter((name) => !Object.hasOwn(components.schemas, name))).toEqual([]);
    expect(names.size).toBeGreaterThan(20);
  });
});
