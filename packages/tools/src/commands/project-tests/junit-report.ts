import { splitStack } from "./structured-reports.ts";
import { countsOf, type TestFailure, type TestReport } from "./test-report.ts";

const attributesOf = `((?:[^>"'/]|"[^"]*"|'[^']*'|/(?!>))*)`;
const testcase = new RegExp(String.raw`<testcase\b${attributesOf}(?:/>|>([\s\S]*?)</testcase>)`, "g");
const failed = new RegExp(String.raw`<(?:failure|error)\b${attributesOf}(?:/>|>([\s\S]*?)</(?:failure|error)>)`);

interface Case {
  attributes: Record<string, string>;
  failure: string | null;
  isSkipped: boolean;
}

/** JUnit's XML, as `node --test` and pytest write it. */
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
