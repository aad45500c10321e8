import { z } from "zod";
import { countsOf, type TestFailure, type TestReport } from "./test-report.ts";

/** The report of Jest, and of Vitest, which uses the same format. */
const JestReport = z.object({
  numPassedTests: z.int().nonnegative(),
  numFailedTests: z.int().nonnegative(),
  numPendingTests: z.int().nonnegative().default(0),
  numTodoTests: z.int().nonnegative().default(0),
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string().optional(),
      message: z.string().nullish(),
      assertionResults: z.array(
        z.object({
          fullName: z.string(),
          ancestorTitles: z.array(z.string()).default([]),
          title: z.string().optional(),
          status: z.string(),
          failureMessages: z.array(z.string()).nullish(),
          location: z.object({ line: z.int() }).nullish(),
        }),
      ),
    }),
  ),
});

export function parseJestReport(text: string): TestReport | null {
  const report = parseJson(text, JestReport);
  if (!report) return null;
  const { numPassedTests: passed, numFailedTests: failed, numPendingTests, numTodoTests } = report;
  const failures = report.testResults.flatMap((file): TestFailure[] => {
    const broken = file.assertionResults.filter(({ status }) => status === "failed");
    if (broken.length === 0 && file.status === "failed") {
      const message = (file.message ?? "").trim() || "the file could not be run";
      return [{ name: "the file could not be run", file: file.name, line: null, message, trace: "" }];
    }
    return broken.map(({ fullName, ancestorTitles, title, failureMessages, location }) => ({
      name: title === undefined ? fullName : [...ancestorTitles, title].join(" > "),
      file: file.name,
      line: location?.line ?? null,
      ...splitStack((failureMessages ?? []).join("\n\n")),
    }));
  });
  return { counts: countsOf({ passed, failed, skipped: numPendingTests + numTodoTests }), failures };
}

const MochaReport = z.object({
  stats: z.object({ passes: z.int(), failures: z.int(), pending: z.int().default(0) }),
  failures: z.array(
    z.object({
      fullTitle: z.string(),
      file: z.string().nullish(),
      err: z.object({ message: z.string().optional(), stack: z.string().optional() }).default({}),
    }),
  ),
});

export function parseMochaReport(text: string): TestReport | null {
  const report = parseJson(text, MochaReport);
  if (!report) return null;
  const { passes, failures, pending } = report.stats;
  return {
    counts: countsOf({ passed: passes, failed: failures, skipped: pending }),
    failures: report.failures.map(({ fullTitle, file, err }) => ({
      name: fullTitle,
      file: file ?? null,
      line: null,
      ...splitStack(err.stack ?? err.message ?? ""),
    })),
  };
}

const GoEvent = z.object({
  Action: z.string(),
  Package: z.string().default(""),
  Test: z.string().optional(),
  Output: z.string().default(""),
});

/** The output of `go test -json`: one JSON line per event, between other lines. */
export function parseGoReport(text: string): TestReport | null {
  const ends = new Map<string, { action: string; name: string }>();
  const outputs = new Map<string, string>();
  let events = 0;
  for (const line of text.split("\n")) {
    const event = line.startsWith("{") ? parseJson(line, GoEvent) : null;
    if (!event) continue;
    events += 1;
    const key = `${event.Package} ${event.Test ?? ""}`;
    if (event.Action === "output") outputs.set(key, (outputs.get(key) ?? "") + event.Output);
    if (["pass", "fail", "skip"].includes(event.Action)) {
      ends.set(key, { action: event.Action, name: event.Test === undefined ? event.Package : key });
    }
  }
  if (events === 0) return null;
  const keys = [...ends.keys()];
  const leaves = keys.filter((key) => !key.endsWith(" ") && !keys.some((other) => other.startsWith(`${key}/`)));
  const keysWith = (action: string): string[] => leaves.filter((key) => ends.get(key)?.action === action);
  // A failed package without a failed test could not be built.
  const broken = keys.filter((key) => key.endsWith(" ") && ends.get(key)?.action === "fail");
  const unbuilt = broken.filter((key) => !keysWith("fail").some((test) => test.startsWith(key)));
  return {
    counts: countsOf({
      passed: keysWith("pass").length,
      failed: keysWith("fail").length,
      skipped: keysWith("skip").length,
    }),
    failures: [...keysWith("fail"), ...unbuilt].map((key) => ({
      name: ends.get(key)?.name ?? key,
      file: null,
      line: null,
      message: (outputs.get(key) ?? "").replace(/^\s*(=== RUN|--- FAIL).*\n/gm, ""),
      trace: "",
    })),
  };
}

function parseJson<S extends z.ZodType>(text: string, schema: S): z.output<S> | null {
  try {
    return schema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

/** Splits a stack into its message and its frames. */
export function splitStack(stack: string): Pick<TestFailure, "message" | "trace"> {
  const lines = stack.split("\n");
  const first = lines.findIndex((line) => /^\s+at |^\s*❯ /.test(line));
  return first < 0
    ? { message: stack, trace: stack }
    : { message: lines.slice(0, first).join("\n"), trace: lines.slice(first).join("\n") };
}

const attributesOf = `((?:[^>"'/]|"[^"]*"|'[^']*'|/(?!>))*)`;
const testcase = new RegExp(String.raw`<testcase\b${attributesOf}(?:/>|>([\s\S]*?)</testcase>)`, "g");
const failed = new RegExp(String.raw`<(?:failure|error)\b${attributesOf}(?:/>|>([\s\S]*?)</(?:failure|error)>)`);

interface Case {
  attributes: Record<string, string>;
  failure: string | null;
  isSkipped: boolean;
}

/** JUnit XML, as `node --test` and pytest write it. */
export function parseJunitReport(xml: string): TestReport | null {
  if (!/<testsuites?\b/.test(xml)) return null;
  const cases = [...xml.matchAll(testcase)].map(([, attributes = "", body = ""]) => caseOf(attributes, body));
  const failures = cases.filter(({ failure }) => failure !== null);
  const skipped = cases.filter(({ failure, isSkipped }) => failure === null && isSkipped).length;
  return {
    counts: countsOf({ passed: cases.length - failures.length - skipped, failed: failures.length, skipped }),
    failures: failures.map(failureOf),
  };
}

function caseOf(attributes: string, body: string): Case {
  const found = failed.exec(body);
  const text = decode(found?.[2] ?? "").trim();
  const failure = found ? text || (attributesIn(found[1] ?? "").message ?? "") : null;
  return { attributes: attributesIn(attributes), failure, isSkipped: /<skipped\b/.test(body) };
}

function failureOf({ attributes, failure }: Case): TestFailure {
  const { name = "", classname = "", file = null, line } = attributes;
  const isNamed = classname !== "" && classname !== "test";
  return {
    // Node escapes quotes in names twice.
    name: decode(isNamed ? `${classname} ${name}` : name),
    file,
    line: line === undefined ? null : Number(line) + 1,
    ...splitStack(failure ?? ""),
  };
}

function attributesIn(text: string): Record<string, string> {
  const pairs = [...text.matchAll(/([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g)];
  return Object.fromEntries(pairs.map(([, name = "", double, single]) => [name, decode(double ?? single ?? "")]));
}

const entities: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };

function decode(text: string): string {
  return text.replace(/<!\[CDATA\[([\s\S]*?)\]\]>|&(#x?[\da-f]+|\w+);/gi, (whole, cdata?: string, entity?: string) => {
    if (cdata !== undefined) return cdata;
    const code = /^#(x?)([\da-f]+)$/i.exec(entity ?? "");
    if (!code) return entities[entity ?? ""] ?? whole;
    const point = Number.parseInt(code[2] ?? "", code[1] ? 16 : 10);
    return point <= 0x10ffff ? String.fromCodePoint(point) : whole;
  });
}
