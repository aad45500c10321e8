import type { TestCounts } from "@troupe/core/internal";
import { countsOf, type TestFailure, type TestReport } from "./test-report.ts";

/** Parsers of the summaries that runners print for people. Each returns no counts for the output of another runner. */
const readers: readonly ((text: string) => TestCounts[])[] = [
  vitestCounts,
  jestCounts,
  mochaCounts,
  nodeCounts,
  pytestCounts,
  unittestCounts,
  cargoCounts,
  tapCounts,
];

/** Counts the tests of an unknown runner, if exactly one parser recognises its output. */
export function parseAnyText(text: string): TestReport {
  const found = readers.map((read) => read(text)).filter((counts) => counts.length > 0);
  const [only] = found;
  return { counts: only !== undefined && found.length === 1 ? sum(only) : null, failures: [] };
}

export function parseUnittest(text: string): TestReport | null {
  const counts = unittestCounts(text);
  if (counts.length === 0) return null;
  const blocks = text.split(/^={20,}\n/m).slice(1);
  const failures = blocks.flatMap((block): TestFailure[] => {
    const [, name, body = ""] = /^(?:FAIL|ERROR): (.*)\n-{20,}\n([\s\S]*)/.exec(block) ?? [];
    if (name === undefined) return [];
    const trace = body.split(/\n\n-{20,}\nRan |\n-{20,}\nRan /)[0] ?? body;
    const places = [...trace.matchAll(/^ {2}File "([^"]+)", line (\d+)/gm)];
    const [, file = null, line] = places.at(-1) ?? [];
    const message =
      trace.slice(trace.search(/^\S*(Error|Exception|Warning|Interrupt|Failure)\b/m)).trim() || trace.trim();
    return [{ name, file, line: line === undefined ? null : Number(line), message, trace: "" }];
  });
  return { counts: sum(counts), failures };
}

export function parseCargo(text: string): TestReport | null {
  const counts = cargoCounts(text);
  if (counts.length === 0) return null;
  const blocks = [...text.matchAll(/^---- (.+?) stdout ----\n([\s\S]*?)(?=\n---- |\n\nfailures:|$(?![\s\S]))/gm)];
  const failures = blocks.map(([, name = "", body = ""]): TestFailure => {
    const [, file = null, line] = /panicked at (?:'.*', )?([^\s:]+):(\d+)/.exec(body) ?? [];
    const message = body.replace(/^note: run with .*$/m, "").trim();
    return { name, file, line: line === undefined ? null : Number(line), message, trace: "" };
  });
  return { counts: sum(counts), failures };
}

const point = /^(\s*)(not )?ok\b(?: \d+)?(?: -)?[ \t]*(.*?)(?:[ \t]+# (skip|todo)\b.*)?$/i;

/** Parses the Test Anything Protocol. Only points without nested points count. */
export function parseTap(text: string): TestReport | null {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const failures: TestFailure[] = [];
  const lines = text.split("\n");
  if (!lines.some((line) => /^TAP version|^1\.\.\d+/.test(line))) return null;
  let depthBefore = 0;
  for (const [i, line] of lines.entries()) {
    const [, indent, not, name = "", directive] = point.exec(line) ?? [];
    if (indent === undefined) continue;
    const isParent = indent.length < depthBefore;
    depthBefore = indent.length;
    if (isParent) continue;
    if (directive) counts.skipped += 1;
    else if (not) {
      counts.failed += 1;
      failures.push({ name, file: null, line: null, ...diagnosisAfter(lines.slice(i + 1, i + 60)) });
    } else counts.passed += 1;
  }
  return { counts: countsOf(counts), failures };
}

/** The YAML block between `---` and `...` that may follow a point. */
function diagnosisAfter(lines: readonly string[]): Pick<TestFailure, "message" | "trace"> {
  if (lines[0]?.trim() !== "---") return { message: "", trace: "" };
  const end = lines.findIndex((line) => line.trim() === "...");
  const body = lines.slice(1, end < 0 ? lines.length : end).join("\n");
  return { message: body, trace: body };
}

function sum(all: readonly TestCounts[]): TestCounts {
  const add = (key: keyof TestCounts): number => all.reduce((total, counts) => total + counts[key], 0);
  return countsOf({ passed: add("passed"), failed: add("failed"), skipped: add("skipped") });
}

/** Reads a number before a word, as in `2 failed | 1 passed`. */
function numberBefore(text: string, word: string): number {
  return Number(new RegExp(`(\\d+) ${word}`).exec(text)?.[1] ?? 0);
}

function vitestCounts(text: string): TestCounts[] {
  return [...text.matchAll(/^ *Tests {2,}((?:\d+ (?:failed|passed|skipped|todo)(?: \| )?)+) \(\d+\)/gm)].map(
    ([, words = ""]) =>
      countsOf({
        passed: numberBefore(words, "passed"),
        failed: numberBefore(words, "failed"),
        skipped: numberBefore(words, "skipped") + numberBefore(words, "todo"),
      }),
  );
}

function jestCounts(text: string): TestCounts[] {
  return [...text.matchAll(/^Tests: +(.*\d+ total)/gm)].map(([, words = ""]) =>
    countsOf({
      passed: numberBefore(words, "passed"),
      failed: numberBefore(words, "failed"),
      skipped: numberBefore(words, "skipped") + numberBefore(words, "todo"),
    }),
  );
}

function mochaCounts(text: string): TestCounts[] {
  return [...text.matchAll(/^ {2}(\d+) passing \(.*\)((?:\n {2}\d+ (?:failing|pending))*)/gm)].map(
    ([, passed, rest = ""]) =>
      countsOf({
        passed: Number(passed),
        failed: numberBefore(rest, "failing"),
        skipped: numberBefore(rest, "pending"),
      }),
  );
}

/** The summary of `node --test`, by its spec and TAP reporters. */
function nodeCounts(text: string): TestCounts[] {
  const summary =
    /^[ℹ#] tests \d+\n(?:[ℹ#] suites \d+\n)?[ℹ#] pass (\d+)\n[ℹ#] fail (\d+)\n[ℹ#] cancelled (\d+)\n[ℹ#] skipped (\d+)\n[ℹ#] todo (\d+)/gm;
  return [...text.matchAll(summary)].map(([, pass, fail, cancelled, skipped, todo]) =>
    countsOf({
      passed: Number(pass),
      failed: Number(fail) + Number(cancelled),
      skipped: Number(skipped) + Number(todo),
    }),
  );
}

function pytestCounts(text: string): TestCounts[] {
  const summary =
    /^=* ?((?:\d+ (?:passed|failed|skipped|errors?|xfailed|xpassed|deselected|warnings?)(?:, )?)+) in [\d.]+s/gm;
  return [...text.matchAll(summary)].map(([, words = ""]) =>
    countsOf({
      passed: numberBefore(words, "passed") + numberBefore(words, "xpassed"),
      failed: numberBefore(words, "failed") + numberBefore(words, "errors?\\b"),
      skipped: numberBefore(words, "skipped") + numberBefore(words, "xfailed"),
    }),
  );
}

function unittestCounts(text: string): TestCounts[] {
  return [...text.matchAll(/^Ran (\d+) tests? in [\d.]+s\n\n(OK|FAILED|NO TESTS RAN)(?: \((.*)\))?/gm)].map(
    ([, ran, , words = ""]) => {
      const of = (word: string): number => Number(new RegExp(`(?:^|, )${word}=(\\d+)`).exec(words)?.[1] ?? 0);
      const failed = of("failures") + of("errors") + of("unexpected successes");
      const skipped = of("skipped");
      return countsOf({ passed: Math.max(0, Number(ran) - failed - skipped), failed, skipped });
    },
  );
}

function cargoCounts(text: string): TestCounts[] {
  return [...text.matchAll(/^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored/gm)].map(
    ([, passed, failed, ignored]) =>
      countsOf({ passed: Number(passed), failed: Number(failed), skipped: Number(ignored) }),
  );
}

/** Skips the output of `node --test`, which ends its TAP with its own summary. */
function tapCounts(text: string): TestCounts[] {
  const report = /^TAP version/m.test(text) && nodeCounts(text).length === 0 ? parseTap(text) : null;
  return report?.counts ? [report.counts] : [];
}
