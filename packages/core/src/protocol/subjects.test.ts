/** Subjects are built and parsed in one module; no id or name can break one apart or widen a subscription. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyText } from "../text/any-text.test-helper.ts";
import { createSubjects, type ParsedSubject, type Subjects, subjectMatches } from "./subjects.ts";

const subjects = createSubjects();

function build(from: Subjects, parsed: ParsedSubject): string {
  switch (parsed.kind) {
    case "task":
      return from.task(parsed.locality, parsed.agent, parsed.run);
    case "hint":
      return from.hint(parsed.locality, parsed.agent);
    case "journal":
      return from.journal(parsed.session, parsed.run);
    case "live":
      return from.live(parsed.session, parsed.run);
    case "inbox":
      return from.inbox(parsed.session);
    case "settled":
      return from.settled(parsed.run);
    case "control":
      return from.control(parsed.host);
    case "drain":
      return from.drain(parsed.host);
    case "host":
      return from.host(parsed.host);
  }
}

const examples: [string, ParsedSubject][] = [
  ["troupe.task.any.helper.r1", { kind: "task", locality: "any", agent: "helper", run: "r1" }],
  ["troupe.hint.any.helper", { kind: "hint", locality: "any", agent: "helper" }],
  ["troupe.journal.s1.r1", { kind: "journal", session: "s1", run: "r1" }],
  ["troupe.inbox.s1", { kind: "inbox", session: "s1" }],
  ["troupe.settled.r1", { kind: "settled", run: "r1" }],
  ["troupe.live.s1.r1", { kind: "live", session: "s1", run: "r1" }],
  ["troupe.control.h1", { kind: "control", host: "h1" }],
  ["troupe.drain.h1", { kind: "drain", host: "h1" }],
  ["troupe.host.h1", { kind: "host", host: "h1" }],
];

test.each(examples)("%s", (subject, parsed) => {
  expect(build(subjects, parsed)).toBe(subject);
  expect(subjects.parse(subject)).toEqual(parsed);
});

test("wildcards match only their own subjects", () => {
  const matched = (pattern: string): string[] =>
    examples.filter(([subject]) => subjectMatches(pattern, subject)).map(([, { kind }]) => kind);
  expect(Object.keys(subjects.all).sort()).toEqual([
    "control",
    "host",
    "inbox",
    "journal",
    "journalOf",
    "live",
    "liveOf",
    "settled",
    "task",
    "tasksOf",
  ]);
  expect(matched(subjects.all.settled)).toEqual(["settled"]);
  expect(matched(subjects.all.live)).toEqual(["live"]);
  expect(matched(subjects.all.liveOf("s1"))).toEqual(["live"]);
  expect(matched(subjects.all.liveOf("s2"))).toEqual([]);
  expect(matched(subjects.all.control)).toEqual(["control"]);
  expect(matched(subjects.all.task)).toEqual(["task"]);
  expect(matched(subjects.all.tasksOf("any", "helper"))).toEqual(["task"]);
  expect(matched(subjects.all.tasksOf("any", "other"))).toEqual([]);
  expect(matched(subjects.all.tasksOf("other", "helper"))).toEqual([]);
  expect(matched(subjects.all.journal)).toEqual(["journal"]);
  expect(matched(subjects.all.journalOf("s1"))).toEqual(["journal"]);
  expect(matched(subjects.all.journalOf("s2"))).toEqual([]);
  expect(matched(subjects.all.inbox)).toEqual(["inbox"]);
  expect(matched(subjects.all.host)).toEqual(["host"]);
});

test("namespaces are separate", () => {
  const other = createSubjects("other");
  expect(other.settled("r1")).toBe("other.settled.r1");
  expect(subjects.parse(other.settled("r1"))).toBeNull();
});

describe("hostile tokens are refused", () => {
  const hostile = ["", ".", "a.b", "*", ">", "a b", "a\n", "a\r\nPUB x", "ä", "\u0000", "a".repeat(129), "a/b", "$SYS"];
  test.each(hostile)("%j", (token) => {
    const builders = [
      () => subjects.task(token, "a", "r"),
      () => subjects.task("any", token, "r"),
      () => subjects.task("any", "a", token),
      () => subjects.journal(token, "r"),
      () => subjects.journal("s", token),
      () => subjects.inbox(token),
      () => subjects.settled(token),
      () => subjects.live(token, "r"),
      () => subjects.control(token),
      () => subjects.drain(token),
      () => subjects.host(token),
      () => subjects.all.liveOf(token),
      () => createSubjects(token),
    ];
    for (const builder of builders) {
      expect(builder).toThrow(expect.objectContaining({ code: "INVALID_MESSAGE" }));
    }
    expect(subjects.parse(`troupe.settled.${token}`)).toBeNull();
  });

  test.each([
    "",
    "troupe",
    "troupe.",
    "troupe.settled",
    "troupe.settled.a.b",
    "troupe.toString.a",
    "troupe.constructor.a",
    "troupe.nope.a",
    "x.settled.a",
  ])("%j is not a troupe subject", (subject) => {
    expect(subjects.parse(subject)).toBeNull();
  });
});

describe("patterns match as in NATS", () => {
  test.each([
    ["a.b", "a.b", true],
    ["a.b", "a.c", false],
    ["a.b", "a", false],
    ["a", "a.b", false],
    ["a.*", "a.b", true],
    ["a.*", "a", false],
    ["a.*", "a.b.c", false],
    ["*.b", "a.b", true],
    ["a.*.c", "a.b.c", true],
    ["*", "a", true],
    ["a.>", "a.b", true],
    ["a.>", "a.b.c.d", true],
    ["a.>", "a", false],
    [">", "a", true],
    [">", "a.b", true],
    ["*.>", "a.b", true],
    ["*.>", "a", false],
    ["a.>", "a.", false],
    ["a.*", "a.", false],
    ["a.*.b", "a..b", false],
    ["A", "a", false],
    ["a*", "ab", false],
    ["a.>", "ab.c", false],
  ])("%s and %s: %s", (pattern, subject, matches) => {
    expect(subjectMatches(pattern, subject)).toBe(matches);
  });
});

describe("properties", () => {
  const token = fc.stringMatching(/^[A-Za-z0-9_-]{1,128}$/);
  const anyParsed: fc.Arbitrary<ParsedSubject> = fc.oneof(
    fc.record({ kind: fc.constant("task" as const), locality: token, agent: token, run: token }),
    fc.record({ kind: fc.constantFrom("journal" as const, "live" as const), session: token, run: token }),
    fc.record({ kind: fc.constant("inbox" as const), session: token }),
    fc.record({ kind: fc.constant("settled" as const), run: token }),
    fc.record({ kind: fc.constantFrom("control" as const, "drain" as const, "host" as const), host: token }),
  );

  test("a built subject is parsed to the same parts", () => {
    fc.assert(
      fc.property(token, anyParsed, (namespace, parsed) => {
        const from = createSubjects(namespace);
        expect(from.parse(build(from, parsed))).toEqual(parsed);
      }),
    );
  });

  test("any text that is not a token is refused", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        fc.pre(!/^[A-Za-z0-9_-]{1,128}$/.test(text));
        expect(() => subjects.settled(text)).toThrow();
      }),
    );
  });
});
