import { RunFailure } from "@troupe/core";
import type { FileChange } from "@troupe/core/internal";
import { defineTool, type Tool } from "@troupe/core/tool";
import { z } from "zod";
import { refuseNul } from "./command-result.ts";
import { commandConsent } from "./command-risk.ts";
import type { GitParts } from "./git.ts";
import { pathsWithin } from "./git-diff.ts";
import { openRepository, type SandboxedRepository } from "./git-repository.ts";

const filesShown = 100;

/**
 * Creates the tool that commits to the workspace's repository. It runs no program of the repository: no hooks and no
 * filters.
 */
export function createGitCommitTool({ sandbox, identity }: GitParts): Tool {
  return defineTool({
    name: "git_commit",
    description:
      "Commits to the git repository: the files and folders of paths as they are now (new and deleted ones " +
      "included), or all; with neither, the staged changes. Hooks do not run; nothing is pushed.",
    input: z.strictObject({
      message: z.string().trim().min(1).max(20_000).describe("A subject line, then why"),
      paths: z.array(z.string().min(1).max(4_096)).max(500).default([]),
      all: z.boolean().default(false),
    }),
    risk: "medium",
    consent: (_args, { grant }) => commandConsent(sandbox, grant),
    effect: "unsafe",
    groups: ["git"],
    async run({ message, paths, all }, context) {
      refuseNul(message, "the message");
      if (all && paths.length > 0) throw refused("give paths or all, not both");
      const wanted = all ? [":(top)"] : await pathsWithin(context.workspace, paths);
      const repository = await openRepository({ sandbox, context });
      const { git, ask } = repository;
      if (wanted.length > 0) await stage(wanted, repository);
      const only = paths.length > 0 ? ["--", ...wanted] : [];
      if ((await git(["diff", "--cached", "--quiet", ...only])).code === 0) {
        throw refused(
          wanted.length > 0
            ? "nothing has changed there that git does not ignore"
            : "nothing is staged: give paths, or all",
        );
      }
      const made = await ask([message, ...(only.length > 0 ? ["--only", ...only] : [])], {
        identity: await identity(),
        writes: true,
        script: commit,
      });
      return { output: await commitText(made.split("\n").slice(-4), message, repository) };
    },
  });
}

/**
 * Commits, and prints the commit before, the new one and the branch: each in a line, which is empty if it has none. One
 * command, because the sandbox of a command costs more than git.
 */
const commit = `
  message=$1; shift
  before=$(git rev-parse --verify --quiet 'HEAD^{commit}')
  git commit --quiet --no-verify --no-gpg-sign --cleanup=whitespace "--message=$message" "$@" || exit
  printf '%s\\n' "$before" "$(git rev-parse HEAD)" "$(git symbolic-ref --short --quiet HEAD)"
`;

/** Does not use `git add`, which would read submodules with their own configuration. */
async function stage(paths: readonly string[], repository: SandboxedRepository): Promise<void> {
  const files = await changedFiles(paths, repository);
  const filtered = await filteredAmong(files, repository);
  if (filtered.length > 0) {
    throw refused(
      `${filtered.slice(0, 5).join(", ")} go through a filter of the repository (large files, mostly), which is not run ` +
        `here; leave them out, or commit them with git, which may run it in a sandbox`,
    );
  }
  await repository.ask(["update-index", "--add", "--remove", "-z", "--stdin"], {
    writes: true,
    input: files.join("\0"),
  });
}

/** Files that differ from the index, including files that git does not know yet, without nested repositories. */
async function changedFiles(paths: readonly string[], { ask }: SandboxedRepository): Promise<string[]> {
  const files = (await ask(paths, { script: listChanged })).split("\0");
  return [...new Set(files.filter((path) => path !== "" && !path.endsWith("/")))];
}

const listChanged = `
  git diff-files -z --name-only --ignore-submodules=dirty -- "$@" || exit
  exec git ls-files -z --others --exclude-standard -- "$@"
`;

/** Files that a filter of the repository would transform. Filters do not run here. */
async function filteredAmong(files: readonly string[], { filters, ask }: SandboxedRepository): Promise<string[]> {
  if (filters.length === 0 || files.length === 0) return [];
  const fields = (await ask(["check-attr", "-z", "--stdin", "filter"], { input: files.join("\0") })).split("\0");
  return fields.filter((_, i) => i % 3 === 0 && filters.includes(fields[i + 2] ?? ""));
}

async function commitText(
  [before = "", id = "", branch = ""]: readonly string[],
  message: string,
  repository: SandboxedRepository,
): Promise<string> {
  const files = await committedFiles(before, id, repository);
  const lines = files.slice(0, filesShown).map(({ path, kind, lines }) => `${kind} ${path}${lines}`);
  if (files.length > filesShown) lines.push(`and ${files.length - filesShown} more`);
  const on = branch || "no branch (a detached HEAD)";
  return `committed ${id.slice(0, 12)} on ${on}: ${message.split("\n", 1)[0]}\n${lines.join("\n")}`;
}

function refused(message: string): RunFailure {
  return new RunFailure({ type: "params", message: `nothing was committed: ${message}`, recoverable: false });
}

/** A file that a commit changed. */
interface CommittedFile {
  path: string;
  kind: FileChange["kind"];
  /** ` (+1 -0)`; empty for a binary file. */
  lines: string;
}

const kinds: Readonly<Record<string, FileChange["kind"]>> = { A: "created", D: "deleted" };

/**
 * The files that differ between two commits; `from` is empty for the first commit. They are listed in the output only:
 * the calls that changed the files have reported the changes.
 */
async function committedFiles(from: string, to: string, { ask }: SandboxedRepository): Promise<CommittedFile[]> {
  const options = ["-r", "-z", "--no-renames", "--no-commit-id", "--no-ext-diff", "--no-textconv"];
  const between = from === "" ? ["--root", to] : [from, to];
  const fields = (await ask(["diff-tree", ...options, "--raw", "--numstat", ...between])).split("\0");
  const files: { path: string; status: string }[] = [];
  let at = 0;
  // A record of two fields for each file, then a record of one field with its numbers of lines.
  for (; fields[at]?.startsWith(":"); at += 2) {
    files.push({ path: fields[at + 1] ?? "", status: fields[at]?.split(" ").at(-1) ?? "" });
  }
  const counts = linesIn(fields.slice(at));
  return files.map(({ path, status }) => ({ path, kind: kinds[status] ?? "modified", lines: counts.get(path) ?? "" }));
}

/** Format of a record: added, removed and path, separated by tabs. */
function linesIn(numstat: readonly string[]): Map<string, string> {
  const counts = new Map<string, string>();
  for (const record of numstat) {
    const [, added, removed, path] = /^(\d+)\t(\d+)\t(.*)$/s.exec(record) ?? [];
    if (path !== undefined) counts.set(path, ` (+${added} -${removed})`);
  }
  return counts;
}
