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
      const between = base === undefined ? "" : await revisionsOf(base, repository);
      const shape = stat ? ["--stat=120,100", "--summary"] : ["--patch", "--src-prefix=a/", "--dst-prefix=b/"];
      const options = [
        ...safeDiffOptions,
        "--no-color",
        "--submodule=short",
        ...shape,
        ...(staged ? ["--cached"] : []),
      ];
      if (staged || between.includes("..")) {
        const revisions = between === "" ? [] : [between];
        return { output: (await ask(["diff", ...options, ...revisions, "--", ...wanted])) || "no differences" };
      }
      const script = `${diffOfFiles} ${options.join(" ")} $from -- "$@"`;
      const [untracked, diff] = readDiffOfFiles(await ask([between, ...wanted], { script }));
      return { output: diff + untrackedText(untracked) || "no differences" };
    },
  });
}

/**
 * Prints the untracked files, an empty record and the differences of the files from a commit, from HEAD without one, or
 * from the index before the first commit. One command, because the sandbox of a command costs more than git.
 */
const diffOfFiles = `
  from=$1; shift
  git ls-files --others --exclude-standard --directory -z -- "$@" || exit
  printf '\\0'
  [ "$from" != "" ] || ! git rev-parse --verify --quiet 'HEAD^{commit}' > /dev/null || from=HEAD
  exec git diff`;

function readDiffOfFiles(text: string): [untracked: string[], diff: string] {
  const untracked: string[] = [];
  let at = 0;
  for (let end = text.indexOf("\0"); end > at; end = text.indexOf("\0", at)) {
    untracked.push(text.slice(at, end));
    at = end + 1;
  }
  return [untracked, text.slice(at + 1)];
}

/** Paths in the form of literal git pathspecs, checked to be in the workspace. */
export async function pathsWithin(workspace: string, paths: readonly string[]): Promise<string[]> {
  const places = await Promise.all(paths.map((path) => locatePath(workspace, path)));
  return places.map(({ shown }) => `:(top,literal)${shown === "." ? "" : shown}`);
}

/** Resolves revisions to commit ids, so that git never parses text of a model. */
async function revisionsOf(base: string, repository: SandboxedRepository): Promise<string> {
  refuseNul(base, "base");
  const [, from = base, dots = "", to = ""] = /^(.*?)(\.{2,3})(.*)$/s.exec(base) ?? [];
  const first = await commitOf(from || "HEAD", repository);
  return dots === "" ? first : `${first}${dots}${await commitOf(to || "HEAD", repository)}`;
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

function untrackedText(names: readonly string[]): string {
  if (names.length === 0) return "";
  const rest = names.length > untrackedShown ? `, and ${names.length - untrackedShown} more` : "";
  return `\n[untracked: ${names.slice(0, untrackedShown).join(", ")}${rest}]\n`;
}
