/**
 * Sends calls whose arguments are not a JSON object over each wire format, each in a whole run: SDK, socket, host, journal and
 * record. Each becomes one tool error that the model reads, and the run goes on.
 */
import path from "node:path";
import type { Entry, RunResponse } from "@troupe/core";
import { openRecord, openSqliteJournal, startRecorder } from "@troupe/recorder";
import fc from "fast-check";
import { expect, test } from "vitest";
import { fastClock } from "../../harness/fast-clock.ts";
import { isLong } from "../../harness/long.ts";
import type { ModelServerOptions } from "../../harness/model-server/start-model-server.ts";
import { tempFolder } from "../../harness/temp-folder.ts";
import { startModelTeam } from "./team.ts";
import { wires } from "./wires.ts";

const malformedMax = isLong ? 1_000 : 100;
/** More alike in one run would end it as one that goes in circles. */
const perRun = 2;
/** Of as many at once. */
const runsAtOnce = 100;

/** Any text, halves of surrogates too. The unit "binary" of `fc.string` takes a second of each process to list all characters. */
const anyText = fc.array(fc.nat(0xffff), { minLength: 1, maxLength: 40 }).map((units) => String.fromCharCode(...units));

const broken = fc.oneof(
  fc.json({ maxDepth: 3 }).map((json) => `{"word":${json}`),
  fc.string({ minLength: 1 }).map((text) => `{${text}`),
  anyText.map((text) => `!${text.toWellFormed()}`),
  fc
    .oneof(fc.array(fc.integer()), fc.string(), fc.integer(), fc.boolean(), fc.constant(null))
    .map((value) => JSON.stringify(value)),
  fc.jsonValue({ maxDepth: 2 }).map((value) => `{"word":{"__proto__":{"polluted":${JSON.stringify(value)}}}}`),
  fc.constantFrom("__proto__", "\\u005f_proto__").map((name) => `{"${name}":{"polluted":true}}`),
  fc.constantFrom("\\ud800", "\\udfff").map((half) => `{"word":"a${half}"}`),
  fc.integer({ min: 101, max: 3_000 }).map((depth) => `${'{"word":'.repeat(depth)}1${"}".repeat(depth)}`),
);

function isMalformed(args: string): boolean {
  try {
    const value: unknown = JSON.parse(args);
    return (
      !(typeof value === "object" && value !== null && !Array.isArray(value)) || /proto__|\\ud|:\{"word/i.test(args)
    );
  } catch {
    return true;
  }
}

const samples = fc.sample(broken.filter(isMalformed), { numRuns: malformedMax, seed: 11 });
const runs = Array.from({ length: malformedMax / perRun }, (_, i) => samples.slice(i * perRun, (i + 1) * perRun));

const scenario: ModelServerOptions["scenario"] = {
  agents: {
    main: runs.map((args, i) => ({
      when: { task: `/^run ${i}$/` },
      steps: [
        {
          calls: [
            ...args.map((rawArgs) => ({ tool: "lookup", rawArgs })),
            { tool: "lookup", args: { word: `word ${i}` } },
          ],
        },
        { text: "{{result.2.output}}" },
      ],
    })),
  },
};

test.for(wires)("many malformed arguments over $wire", { timeout: 180_000 }, async (wire, context) => {
  expect(samples).toHaveLength(malformedMax);
  const folder = await tempFolder("malformed", context);
  const journal = await openSqliteJournal({ file: path.join(folder, "journal.db") });
  const record = await openRecord({ file: path.join(folder, "troupe.db") });
  const wrong: string[] = [];
  const recorder = startRecorder({ journal, record, onError: ({ message }) => void wrong.push(message) });
  context.onTestFinished(async () => {
    await recorder.stop();
    await record.close();
    await journal.close();
  });
  const clock = fastClock(100);
  const { server, ask } = await startModelTeam(context, { wire, scenario, clock, retryClock: clock, journal });

  const settled: { response: RunResponse; entries: Entry[] }[] = [];
  for (let first = 0; first < runs.length; first += runsAtOnce) {
    const tasks = runs.slice(first, first + runsAtOnce).map((_, i) => `run ${first + i}`);
    settled.push(...(await Promise.all(tasks.map((task) => ask(task)))));
  }
  await recorder.caughtUp();

  for (const [i, { response, entries }] of settled.entries()) {
    const shown = JSON.stringify(runs[i]).slice(0, 300);
    expect(response, shown).toMatchObject({ status: "completed", metrics: { iterations: 2, toolCalls: perRun + 1 } });
    const planned = entries.filter((entry) => entry.kind === "calls.planned");
    const refused = planned.flatMap((entry) => entry.refused.map(({ call, error: { type } }) => ({ call, type })));
    expect(refused, shown).toEqual([0, 1].map((call) => ({ call, type: "params" })));
    const finished = entries.filter((entry) => entry.kind === "tool.finished");
    expect(finished, shown).toMatchObject([{ call: perRun, outcome: { error: null } }]);
    expect(
      entries.filter(({ kind }) => kind === "model.failed"),
      shown,
    ).toEqual([]);
    expect(await record.reader.run(response.runId), shown).toMatchObject({
      status: "completed",
      toolCalls: perRun + 1,
    });
  }
  // Nothing was asked twice, and the vendor's rules were kept with every one of them in the conversation.
  expect(server.calls().map(({ status }) => status)).toEqual(Array.from({ length: runs.length * 2 }, () => 200));
  const told = server.calls().map(({ body }) => JSON.stringify(body).match(/its arguments /g)?.length ?? 0);
  expect(told.reduce((sum, count) => sum + count, 0)).toBe(malformedMax);
  expect(wrong).toEqual([]);
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
});
