// The runner of a project is detected from its files.
import { describe, expect } from "vitest";
import { workspaceTest as test } from "../../workspace.fixture.ts";
import { putFiles } from "../git.fixture.ts";
import { findRunner } from "./find-runner.ts";
import { runners } from "./runners.ts";

const pack = (content: object): string => JSON.stringify(content);
const withScript = (script: string): Record<string, string> => ({
  "package.json": pack({ scripts: { test: script } }),
});

describe("the runner is found:", () => {
  test.for<{ files: Record<string, string>; name: string; projectArgs?: string[]; env?: Record<string, string> }>([
    { files: withScript("vitest run --config x.ts"), name: "vitest", projectArgs: ["run", "--config", "x.ts"] },
    {
      files: withScript("NODE_ENV=test npx jest --ci"),
      name: "jest",
      projectArgs: ["--ci"],
      env: { NODE_ENV: "test" },
    },
    {
      files: withScript("mocha -r 'ts-node/register' \"test/**/*.ts\""),
      name: "mocha",
      projectArgs: ["-r", "ts-node/register", "test/**/*.ts"],
    },
    {
      files: withScript("node --import tsx --test test/*.ts"),
      name: "node",
      projectArgs: ["--import", "tsx", "--test", "test/*.ts"],
    },
    { files: withScript("tsc && vitest run"), name: "script", projectArgs: ["tsc && vitest run"] },
    {
      files: { "package.json": pack({ scripts: { test: "tsc && jest" }, devDependencies: { jest: "^30" } }) },
      name: "jest",
    },
    { files: { "package.json": pack({ devDependencies: { vitest: "^5" } }) }, name: "vitest" },
    { files: { ...withScript('echo "Error: no test specified" && exit 1'), "test/a.test.mjs": "" }, name: "node" },
    { files: { "package.json": "no JSON", "go.mod": "" }, name: "go" },
    { files: { "Cargo.toml": "" }, name: "cargo" },
    { files: { "pyproject.toml": "[tool.pytest.ini_options]", "tests/test_a.py": "" }, name: "pytest" },
    { files: { "conftest.py": "" }, name: "pytest" },
    { files: { "pyproject.toml": "[project]", "tests/test_a.py": "" }, name: "unittest", projectArgs: ["-s", "tests"] },
    { files: { Makefile: "all:\n\ttrue\ntest: all\n\ttrue\n" }, name: "make" },
  ])("$name in $files", async ({ files, name, projectArgs = [], env = {} }, { folder }) => {
    putFiles(folder, files);
    expect(await findRunner(folder, ".", null)).toMatchObject({
      name,
      projectArgs,
      env,
      folder: ".",
      why: expect.any(String),
    });
  });

  test("in the nearest folder that has one", async ({ folder }) => {
    putFiles(folder, {
      ...withScript("jest"),
      "packages/a/package.json": pack({}),
      "packages/b/go.mod": "",
      "packages/b/x/y.go": "",
    });
    expect(await findRunner(folder, "packages/a", null)).toMatchObject({ name: "jest", folder: "." });
    expect(await findRunner(folder, "packages/b/x", null)).toMatchObject({ name: "go", folder: "packages/b" });
    expect(await findRunner(folder, "packages/b/x", "jest")).toMatchObject({ name: "jest", folder: "." });
    expect(await findRunner(folder, ".", "pytest")).toMatchObject({ name: "pytest", why: "asked for" });
  });

  test("nowhere: the result is null", async ({ folder }) => {
    putFiles(folder, { Makefile: "all:\n", "package.json": pack({ scripts: { test: 3 } }) });
    expect(await findRunner(folder, ".", null)).toBeNull();
  });
});

describe("a runner's arguments", () => {
  const wanted = { paths: ["a/b.test.ts"], filter: "it's", report: "R" };

  test.for([
    {
      name: "vitest",
      projectArgs: ["run", "--config", "x.ts", "src"],
      argv: [
        "vitest",
        "run",
        "--config",
        "x.ts",
        "--reporter=default",
        "--reporter=json",
        "--outputFile.json=R",
        "--testNamePattern=it's",
        "a/b.test.ts",
      ],
    },
    {
      name: "jest",
      projectArgs: ["--watch"],
      argv: [
        "jest",
        "--ci",
        "--json",
        "--testLocationInResults",
        "--outputFile=R",
        "--testNamePattern=it's",
        "a/b.test.ts",
      ],
    },
    {
      name: "mocha",
      projectArgs: ["-r", "x", "test"],
      argv: ["mocha", "-r", "x", "--reporter=json", "--reporter-option=output=R", "--grep=it's", "a/b.test.ts"],
    },
    { name: "ava", projectArgs: [], argv: ["ava", "--tap", "--match=*it's*", "a/b.test.ts"] },
    {
      name: "pytest",
      projectArgs: [],
      argv: ["python3", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml=R", "-k", "it's", "a/b.test.ts"],
    },
    {
      name: "unittest",
      projectArgs: ["-s", "tests"],
      argv: ["python3", "-m", "unittest", "-k", "it's", "a/b.test.ts"],
    },
    { name: "go", projectArgs: [], argv: ["go", "test", "-json", "-run=it's", "./a/b.test.ts"] },
    { name: "cargo", projectArgs: [], argv: ["cargo", "test", "--", "it's"] },
  ] as const)("$name for some of its tests", ({ name, projectArgs, argv }) => {
    expect(runners[name].argv({ ...wanted, projectArgs })).toEqual(argv);
  });
});
