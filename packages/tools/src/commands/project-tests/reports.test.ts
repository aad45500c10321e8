// Reports of real runners, captured from small projects and shortened.
import { describe, expect, it } from "vitest";
import { parseGoReport, parseJestReport, parseJunitReport, parseMochaReport } from "./structured-reports.ts";
import { parseAnyText, parseCargo, parseTap, parseUnittest } from "./text-reports.ts";

describe("machine-readable reports", () => {
  it("of Jest", () => {
    const report = {
      numPassedTests: 3,
      numFailedTests: 1,
      numPendingTests: 1,
      numTodoTests: 1,
      testResults: [
        {
          name: "/w/a.test.js",
          status: "failed",
          message: "● math › adds",
          assertionResults: [
            {
              fullName: "math adds",
              ancestorTitles: ["math"],
              title: "adds",
              status: "failed",
              location: { line: 4, column: 3 },
              failureMessages: ["Error: expected 3\n    at Object.<anonymous> (/w/a.test.js:5:9)"],
            },
            { fullName: "math takes", status: "passed", location: null },
          ],
        },
        { name: "/w/b.test.js", status: "failed", message: "SyntaxError: Unexpected token", assertionResults: [] },
      ],
    };
    expect(parseJestReport(JSON.stringify(report))).toEqual({
      counts: { run: 4, passed: 3, failed: 1, skipped: 2 },
      failures: [
        {
          name: "math > adds",
          file: "/w/a.test.js",
          line: 4,
          message: "Error: expected 3",
          trace: "    at Object.<anonymous> (/w/a.test.js:5:9)",
        },
        {
          name: "the file could not be run",
          file: "/w/b.test.js",
          line: null,
          message: "SyntaxError: Unexpected token",
          trace: "",
        },
      ],
    });
  });

  it("of Mocha", () => {
    const report = {
      stats: { suites: 1, tests: 3, passes: 1, pending: 1, failures: 1 },
      failures: [
        {
          title: "adds",
          fullTitle: "math adds",
          file: "/w/a.js",
          err: { message: "no", stack: "Error: no\n    at Context.<anonymous> (a.js:3:9)" },
        },
      ],
    };
    expect(parseMochaReport(JSON.stringify(report))).toEqual({
      counts: { run: 2, passed: 1, failed: 1, skipped: 1 },
      failures: [
        {
          name: "math adds",
          file: "/w/a.js",
          line: null,
          message: "Error: no",
          trace: "    at Context.<anonymous> (a.js:3:9)",
        },
      ],
    });
  });

  it("of pytest", () => {
    const xml = `<?xml version="1.0" encoding="utf-8"?><testsuites><testsuite name="pytest" errors="1" failures="1" skipped="1" tests="4">
<testcase classname="tests.test_a" name="test_ok" time="0.001" /><testcase classname="tests.test_a" name="test_no[a&gt;b]" time="0.001"><failure message="assert 1 == 2">def test_no():
&gt;       assert 1 == 2
E       assert 1 == 2

tests/test_a.py:5: AssertionError</failure></testcase><testcase classname="tests.test_a" name="test_skip" time="0.0"><skipped type="pytest.skip" message="later">x</skipped></testcase><testcase classname="" name="tests.test_b" time="0.000"><error message="collection failure">ImportError &#x27;x&#39; <![CDATA[<failure>]]></error></testcase></testsuite></testsuites>`;
    const report = parseJunitReport(xml);
    expect(report?.counts).toEqual({ run: 3, passed: 1, failed: 2, skipped: 1 });
    expect(report?.failures[0]).toMatchObject({
      name: "tests.test_a test_no[a>b]",
      message: expect.stringContaining("assert 1 == 2"),
    });
    expect(report?.failures[1]).toMatchObject({ name: "tests.test_b", message: "ImportError 'x' <failure>" });
  });

  it("of go test, with subtests and without their parent", () => {
    const events = [
      { Action: "start", Package: "m/a" },
      { Action: "output", Package: "m/a", Test: "TestAdd/two", Output: "    a_test.go:9: want 2\n" },
      { Action: "fail", Package: "m/a", Test: "TestAdd/two" },
      { Action: "pass", Package: "m/a", Test: "TestAdd/one" },
      { Action: "fail", Package: "m/a", Test: "TestAdd" },
      { Action: "skip", Package: "m/a", Test: "TestLater" },
      { Action: "fail", Package: "m/a" },
      { Action: "output", Package: "m/b", Output: "FAIL\tm/b [build failed]\n" },
      { Action: "fail", Package: "m/b" },
    ];
    const report = parseGoReport(`# m/b\n${events.map((event) => JSON.stringify(event)).join("\n")}\n`);
    expect(report?.counts).toEqual({ run: 2, passed: 1, failed: 1, skipped: 1 });
    expect(report?.failures.map(({ name, message }) => [name, message.trim()])).toEqual([
      ["m/a TestAdd/two", "a_test.go:9: want 2"],
      ["m/b", "FAIL\tm/b [build failed]"],
    ]);
  });

  it("in TAP, with nested points and without their parent", () => {
    const tap = `TAP version 13
# Subtest: math
    ok 1 - adds
    not ok 2 - takes
      ---
      message: 'expected 1'
      ...
    1..2
not ok 1 - math
ok 2 - other # SKIP later
ok 3 - plain
1..3
`;
    const report = parseTap(tap);
    expect(report?.counts).toEqual({ run: 3, passed: 2, failed: 1, skipped: 1 });
    expect(report?.failures).toMatchObject([{ name: "takes", message: expect.stringContaining("expected 1") }]);
  });

  it.each([parseJestReport, parseMochaReport, parseJunitReport, parseGoReport, parseTap, parseUnittest, parseCargo])(
    "of another kind have no result for %o",
    (parse) => {
      for (const text of ["", "{}", "[1]", "nothing", '{"stats":1}', "<html>", "\0\ufffd"])
        expect(parse(text)).toBeNull();
    },
  );
});

describe("text reports", () => {
  it("of unittest", () => {
    const text = `.Fs
======================================================================
FAIL: test_no (tests.test_a.Case.test_no)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/w/tests/test_a.py", line 8, in test_no
    self.assertEqual(1, 2)
AssertionError: 1 != 2

----------------------------------------------------------------------
Ran 3 tests in 0.001s

FAILED (failures=1, skipped=1)
`;
    expect(parseUnittest(text)).toEqual({
      counts: { run: 2, passed: 1, failed: 1, skipped: 1 },
      failures: [
        {
          name: "test_no (tests.test_a.Case.test_no)",
          file: "/w/tests/test_a.py",
          line: 8,
          message: "AssertionError: 1 != 2",
          trace: "",
        },
      ],
    });
  });

  it("of cargo, with the sum of its programs", () => {
    const text = `
running 2 tests
test tests::adds ... ok
test tests::takes ... FAILED

failures:

---- tests::takes stdout ----
thread 'tests::takes' panicked at src/lib.rs:20:9:
assertion \`left == right\` failed
note: run with \`RUST_BACKTRACE=1\` environment variable to display a backtrace


failures:
    tests::takes

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

test result: ok. 4 passed; 0 failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.00s
`;
    expect(parseCargo(text)).toMatchObject({
      counts: { run: 6, passed: 5, failed: 1, skipped: 2 },
      failures: [{ name: "tests::takes", file: "src/lib.rs", line: 20 }],
    });
  });

  it.each([
    [
      "vitest",
      " Test Files  1 failed | 3 passed (4)\n      Tests  2 failed | 10 passed | 1 skipped | 1 todo (14)\n",
      [10, 2, 2],
    ],
    ["jest", "Test Suites: 1 failed, 1 total\nTests:       1 failed, 1 skipped, 2 passed, 4 total\n", [2, 1, 1]],
    ["mocha", "\n  5 passing (12ms)\n  1 pending\n  2 failing\n\n  1) math\n", [5, 2, 1]],
    ["node", "ℹ tests 4\nℹ suites 1\nℹ pass 2\nℹ fail 1\nℹ cancelled 0\nℹ skipped 1\nℹ todo 0\n", [2, 1, 1]],
    [
      "node, in TAP",
      "TAP version 13\nok 1 - a\n1..1\n# tests 1\n# suites 0\n# pass 1\n# fail 0\n# cancelled 0\n# skipped 0\n# todo 0\n",
      [1, 0, 0],
    ],
    ["pytest", "==== 1 failed, 2 passed, 1 skipped, 1 xfailed, 1 error in 0.12s ====\n", [2, 2, 2]],
    ["pytest -q", "3 passed in 0.01s\n", [3, 0, 0]],
    ["unittest", "Ran 2 tests in 0.000s\n\nOK\n", [2, 0, 0]],
    ["tap", "TAP version 14\nok 1 - a\nnot ok 2 - b\n1..2\n", [1, 1, 0]],
    ["several packages of one kind", "Tests:  2 passed, 2 total\nTests:  1 failed, 1 total\n", [2, 1, 0]],
  ])("of %s are recognised without a known runner", (_runner, text, [passed = 0, failed = 0, skipped = 0]) => {
    expect(parseAnyText(text).counts).toEqual({ run: passed + failed, passed, failed, skipped });
  });

  it.each([
    ["nothing", "all good\n"],
    ["a number in a sentence", "3 passed the exam in 2s of 1999\n"],
    ["two kinds at once", "Tests:       2 passed, 2 total\n3 passed in 0.01s\n"],
  ])("are not recognised in %s", (_what, text) => {
    expect(parseAnyText(text).counts).toBeNull();
  });
});
