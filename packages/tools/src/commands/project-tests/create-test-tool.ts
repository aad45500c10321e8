import { randomUUID } from "node:crypto";
import { realpath } from "node:fs/promises";
import { join, relative } from "node:path";
import { RunFailure } from "@troupe/core";
import { endWithinBytes } from "@troupe/core/internal";
import { defineTool, type Tool, type ToolResult } from "@troupe/core/tool";
import { z } from "zod";
import type { CommandResult, Sandbox } from "../../sandbox/sandbox.ts";
import { resolvePath } from "../../workspace/resolve-path.ts";
import { commandHint, describeEnd, endError, refuseNul, shownOutput } from "../command-result.ts";
import { commandConsent, commandFiles, commandOutward, commandRisk } from "../command-risk.ts";
import { type FoundRunner, findRunner, supportedRunners } from "./find-runner.ts";
import { runnerNames, runners } from "./runners.ts";
import { failuresText, type TestReport } from "./test-report.ts";

/** Generous, because the report comes at the end of the output. */
const captureBytesMax = 16 * 1024 * 1024;
const outputBytesShown = 8 * 1024;

/** Creates the tool that runs the workspace's tests with the project's runner and counts them. */
export function createTestTool({ sandbox }: { sandbox: Sandbox }): Tool {
  return defineTool({
    name: "test",
    description:
      "Runs the project's tests with its own runner. Gives the counts, and the message and position of each failed " +
      "test. Give paths or a filter to run only some, which is quicker.",
    input: z.strictObject({
      paths: z.array(z.string().min(1).max(4_096)).max(100).default([]).describe("Test files or folders"),
      filter: z.string().min(1).max(1_000).optional().describe("Part of a test's name"),
      runner: z.enum(runnerNames).optional().describe("If the project has several"),
      timeoutMs: z.int().min(1).max(600_000).default(300_000),
    }),
    risk: "medium",
    riskOf: () => commandRisk(sandbox),
    consent: (_args, { grant }) => commandConsent(sandbox, grant),
    outwardOf: () => commandOutward(sandbox),
    ...commandFiles(sandbox, () => ({ runsAnyFile: true })),
    effect: "unsafe",
    groups: ["shell"],
    async run({ paths, filter = null, runner: only = null, timeoutMs }, context) {
      const workspace = await realpath(context.workspace).catch(() => {
        throw failure("tool_error", `the workspace ${context.workspace} does not exist`);
      });
      refuseOption(filter, "filter");
      const places = await Promise.all(paths.map((path) => resolveTestPath(workspace, path)));
      const found = await findRunner(workspace, folderOf(places), only);
      if (!found)
        throw failure("tool_error", `no way to run tests was found; looked for ${supportedRunners}; use shell`);
      const command = commandOf(found, { workspace, places: places.map(({ shown }) => shown), filter });
      const { grant, signal } = context;
      const end = await sandbox.run({
        ...command,
        workspace,
        session: context.session,
        folder: found.folder,
        writes: grant.writes,
        timeoutMs,
        signal,
        captureBytesMax,
      });
      const hint = commandHint(end, { sandbox, grant });
      return resultOf(end, { found, workspace, mark: command.mark, timeoutMs, hint });
    },
  });
}

interface TestPath {
  shown: string;
  /** The folder itself, or the file's folder. */
  folder: string;
}

async function resolveTestPath(workspace: string, path: string): Promise<TestPath> {
  refuseOption(path, "path");
  await using place = await resolvePath(workspace, path);
  const { shown, found } = place;
  refuseOption(shown, "path");
  if (found.kind === "missing") {
    throw failure("params", `${shown}: no such file or folder; glob finds test files`);
  }
  return { shown, folder: found.kind === "folder" ? shown : shown.split("/").slice(0, -1).join("/") || "." };
}

/** A runner would read it as an option, and some options run programs or write files. */
function refuseOption(value: string | null, what: string): void {
  if (value === null) return;
  refuseNul(value, `the ${what}`);
  if (value.startsWith("-"))
    throw failure("params", `the ${what} ${JSON.stringify(value)} begins with "-", like an option`);
}

/** The deepest folder that contains all paths. */
function folderOf(places: readonly TestPath[]): string {
  const [first = [], ...others] = places.map(({ folder }) => (folder === "." ? [] : folder.split("/")));
  const differs = first.findIndex((segment, i) => others.some((other) => other[i] !== segment));
  return (differs < 0 ? first : first.slice(0, differs)).join("/") || ".";
}

/**
 * Runs the command after the mark and the PATH folders. Then prints the mark and the report, which the runner wrote to
 * the path that replaces the mark in its arguments. Only the command itself can see that path.
 */
const script = `
  mark=$1 PATH=$2:$PATH; shift 2; export PATH
  folder=$(mktemp -d "\${TMPDIR:-/tmp}/report.XXXXXX") || exit
  for arg do
    shift
    case $arg in *"$mark") arg=\${arg%"$mark"}$folder/report;; esac
    set -- "$@" "$arg"
  done
  "$@"
  code=$?
  printf '\\n%s\\n' "$mark"
  if [ -f "$folder/report" ]; then cat "$folder/report"; fi
  rm -rf "$folder"
  exit $code
`;

interface CommandParts {
  workspace: string;
  places: readonly string[];
  filter: string | null;
}

function commandOf(found: FoundRunner, { workspace, places, filter }: CommandParts) {
  const { takesNo, argv } = runners[found.name];
  if (takesNo !== undefined && (places.length > 0 || (filter !== null && takesNo !== "paths"))) {
    throw failure("params", `${titleOf(found)} takes no ${takesNo}: run all of them, or use shell`);
  }
  const mark = `report-${randomUUID()}`;
  const paths = places.map((place) => relative(found.folder, place) || ".");
  const wanted = { paths, filter, projectArgs: found.projectArgs, report: mark };
  const folders = [found.folder, "."].flatMap((folder) =>
    ["node_modules/.bin", ".venv/bin", "venv/bin"].map((bin) => join(workspace, folder, bin)),
  );
  return {
    argv: ["/bin/sh", "-c", script, "test", mark, folders.join(":"), ...argv(wanted)],
    env: { CI: "1", NO_COLOR: "1", FORCE_COLOR: "0", PYTHONDONTWRITEBYTECODE: "1", ...found.env },
    mark,
  };
}

interface ResultContext {
  found: FoundRunner;
  workspace: string;
  mark: string;
  timeoutMs: number;
  hint: string | null;
}

function resultOf(end: CommandResult, { found, workspace, mark, timeoutMs, hint }: ResultContext): ToolResult {
  const { output, report } = splitOutput(end, mark);
  const parsed = runners[found.name].parse({ report, output }) ?? { counts: null, failures: [] };
  const how = describeEnd(end, timeoutMs);
  const counted = countText(parsed, end, how);
  const ran = `[${titleOf(found)}${found.folder === "." ? "" : ` in ${found.folder}`}: ${found.why}]`;
  const failures = failuresText(parsed.failures, workspace);
  // Without a parsed failure, the runner's own output has to explain it.
  const isSilent = failures === "" && (end.code !== 0 || parsed.counts === null || parsed.counts.run === 0);
  const runnerOutput = isSilent
    ? endWithinBytes(shownOutput(output).trim(), outputBytesShown, "[…]\n") || "[no output]"
    : "";
  const advice = installHint(end, found) ?? hint;
  const parts = [`${counted}\n${ran}`, failures, runnerOutput, advice === null ? "" : `[hint: ${advice}]`];
  const error = endError(end, how);
  return {
    output: parts.filter((part) => part !== "").join("\n\n"),
    tests: parsed.counts,
    ...(error ? { error: end.reason === "exited" ? { ...error, message: counted } : error } : {}),
  };
}

function countText({ counts, failures }: TestReport, end: CommandResult, how: string): string {
  if (counts === null) return `${how}; the tests could not be counted`;
  const { passed, failed, skipped, run } = counts;
  const words = run + skipped === 0 ? "no test was run" : `${passed} passed, ${failed} failed, ${skipped} skipped`;
  if (end.reason === "exited" && (end.code === 0 || failed > 0)) return words;
  const besides = failures.length > 0 ? `${failures.length} could not be run` : how;
  return `${words}; ${besides}`;
}

/** Splits the output at the mark; the report is null if there is none. */
function splitOutput({ output, stdout }: CommandResult, mark: string): { output: string; report: string | null } {
  const [, report = ""] = stdout.split(`\n${mark}\n`);
  const runnerOutput = output.split(`\n${mark}\n`, 1)[0] ?? "";
  return { output: runnerOutput, report: report === "" ? null : report };
}

function titleOf({ name }: FoundRunner): string {
  const titles = {
    node: "node --test",
    go: "go test",
    cargo: "cargo test",
    make: "make test",
    script: "the test script",
  };
  return Object.entries(titles).find(([known]) => known === name)?.[1] ?? name;
}

function installHint(end: CommandResult, { name }: FoundRunner): string | null {
  const isMissing = end.code === 127 || /No module named pytest/.test(end.output);
  return isMissing && name !== "script"
    ? `${name} is not installed here: install the project's dependencies first`
    : null;
}

function failure(type: "params" | "tool_error", message: string): RunFailure {
  return new RunFailure({ type, message, recoverable: false });
}
