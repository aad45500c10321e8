import { RunFailure } from "@troupe/core";
import { defineTool, type Tool } from "@troupe/core/tool";
import { z } from "zod";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { locatePath } from "../workspace/resolve-path.ts";
import { refuseNul } from "./command-result.ts";
import { safeDiffOptions } from "./git-read-only.ts";
import { openRepository, type SandboxedRepository } from "./git-repository.ts";

const pathsMax = 200;
const untrackedShown = 50;

/** Creates the tool that shows changes of the workspace's repository. It runs no program of the repository. */
export function createGitDiffTool({ sandbox }: { sandbox: Sandbox }): Tool {
  return defineTool({
    name: "git_diff",
    description:
      "Shows uncommitted changes of the git repository as a unified diff, and names untracked files. With base, the " +
      "differences from it; main...HEAD shows the changes of a branch. Ask for stat first if there may be many.",
    input: z.strictObject({
      base: z.string().min(1).max(500).optional().describe("Commit, branch or tag; a..b, a...b"),
      staged: z.boolean().default(false).describe("Only staged changes"),
      paths: z.array(z.string().min(1).max(4_096)).max(pathsMax).default([]),
      stat: z.boolean().default(false).describe("Only files and numbers of lines"),
    }),
    risk: "low",
    effect: "read",
    groups: ["git"],
    async run({ base, staged, paths, stat }, context) {
      const wanted = await pathsWithin(context.workspace, paths);
      const repository = await openRepository({ sandbox, context });
      const { ask } = repository;
      const between =
        base === undefined ? await headArguments(repository, staged) : await revisionsOf(base, repository);
      const shape = stat ? ["--stat=120,100", "--summary"] : ["--patch", "--src-prefix=a/", "--dst-prefix=b/"];
      const options = [
        ...safeDiffOptions,
        "--no-color",
        "--submodule=short",
        ...shape,
        ...(staged ? ["--cached"] : []),
      ];
      const diff = await ask(["diff", ...options, ...between, "--", ...wanted]);
      const isOfFiles = !staged && between.length < 2 && !between[0]?.includes("..");
      const untracked = isOfFiles ? await untrackedText(repository, wanted) : "";
      return { output: diff + untracked || "no differences" };
    },
  });
}

/** Paths in the form of literal git pathspecs, checked to be in the workspace. */
export async function pathsWithin(workspace: string, paths: readonly string[]): Promise<string[]> {
  const places = await Promise.all(paths.map((path) => locatePath(workspace, path)));
  return places.map(({ shown }) => `:(top,literal)${shown === "." ? "" : shown}`);
}

/** The commit to compare the working tree with; none before the first commit. */
async function headArguments({ git }: SandboxedRepository, staged: boolean): Promise<string[]> {
  if (staged) return [];
  const head = await git(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]);
  return head.code === 0 ? ["HEAD"] : [];
}

/** Resolves revisions to commit ids, so that git never parses text of a model. */
async function revisionsOf(base: string, repository: SandboxedRepository): Promise<string[]> {
  refuseNul(base, "base");
  const [, from = base, dots = "", to = ""] = /^(.*?)(\.{2,3})(.*)$/s.exec(base) ?? [];
  const first = await commitOf(from || "HEAD", repository);
  if (dots === "") return [first];
  return [`${first}${dots}${await commitOf(to || "HEAD", repository)}`];
}

async function commitOf(name: string, { git }: SandboxedRepository): Promise<string> {
  const end = await git(["rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`]);
  const id = end.stdout.trim();
  if (end.code === 0 && /^[0-9a-f]{40,64}$/.test(id)) return id;
  throw new RunFailure({
    type: "params",
    message: `${JSON.stringify(name)} is not a commit, branch or tag of this repository; git with ["branch", "-a"] lists branches`,
    recoverable: false,
  });
}

async function untrackedText({ ask }: SandboxedRepository, paths: readonly string[]): Promise<string> {
  const list = await ask(["ls-files", "--others", "--exclude-standard", "--directory", "-z", "--", ...paths]);
  const names = list.split("\0").filter((name) => name !== "");
  if (names.length === 0) return "";
  const rest = names.length > untrackedShown ? `, and ${names.length - untrackedShown} more` : "";
  return `\n[untracked: ${names.slice(0, untrackedShown).join(", ")}${rest}]\n`;
}
