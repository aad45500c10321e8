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
      const before = await headCommit(repository);
      if (wanted.length > 0) await stage(wanted, repository);
      const only = paths.length > 0 ? ["--only", "--", ...wanted] : [];
      if ((await git(["diff", "--cached", "--quiet", ...(only.length > 0 ? only.slice(1) : [])])).code === 0) {
        throw refused(
          wanted.length > 0
            ? "nothing has changed there that git does not ignore"
            : "nothing is staged: give paths, or all",
        );
      }
      const options = ["--quiet", "--no-verify", "--no-gpg-sign", "--cleanup=whitespace"];
      await ask(["commit", ...options, `--message=${message}`, ...only], { identity: await identity(), writes: true });
      const id = (await ask(["rev-parse", "HEAD"])).trim();
      const committed = await committedFiles(before, id, repository);
      return { output: commitText(id, message, await branchOf(repository), committed) };
    },
  });
}

/** The current commit; null before the first one. */
async function headCommit({ git }: SandboxedRepository): Promise<string | null> {
  const end = await git(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]);
  return end.code === 0 ? end.stdout.trim() : null;
}

async function branchOf({ git }: SandboxedRepository): Promise<string> {
  const end = await git(["symbolic-ref", "--short", "--quiet", "HEAD"]);
  return end.code === 0 ? end.stdout.trim() : "no branch (a detached HEAD)";
}

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
  const changed = await ask(["diff-files", "-z", "--name-only", "--ignore-submodules=dirty", "--", ...paths]);
  const unknown = await ask(["ls-files", "-z", "--others", "--exclude-standard", "--", ...paths]);
  const files = `${changed}${unknown}`.split("\0").filter((path) => path !== "" && !path.endsWith("/"));
  return [...new Set(files)];
}

/** Files that a filter of the repository would transform. Filters do not run here. */
async function filteredAmong(files: readonly string[], { filters, ask }: SandboxedRepository): Promise<string[]> {
  if (filters.length === 0 || files.length === 0) return [];
  const fields = (await ask(["check-attr", "-z", "--stdin", "filter"], { input: files.join("\0") })).split("\0");
  return fields.filter((_, i) => i % 3 === 0 && filters.includes(fields[i + 2] ?? ""));
}

function commitText(id: string, message: string, branch: string, files: readonly CommittedFile[]): string {
  const lines = files.slice(0, filesShown).map(({ path, kind, lines }) => `${kind} ${path}${lines}`);
  if (files.length > filesShown) lines.push(`and ${files.length - filesShown} more`);
  return `committed ${id.slice(0, 12)} on ${branch}: ${message.split("\n", 1)[0]}\n${lines.join("\n")}`;
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
 * The files that differ between two commits; `from` is null for the first commit. They are listed in the output only:
 * the calls that changed the files have reported the changes.
 */
async function committedFiles(from: string | null, to: string, { ask }: SandboxedRepository): Promise<CommittedFile[]> {
  const options = ["-r", "-z", "--no-renames", "--no-commit-id", "--no-ext-diff", "--no-textconv"];
  const between = from === null ? ["--root", to] : [from, to];
  const counts = linesIn(await ask(["diff-tree", ...options, "--numstat", ...between]));
  const fields = (await ask(["diff-tree", ...options, "--name-status", ...between])).split("\0");
  return fields.flatMap((path, i) => {
    if (i % 2 === 0) return [];
    return [{ path, kind: kinds[fields[i - 1] ?? ""] ?? "modified", lines: counts.get(path) ?? "" }];
  });
}

/** Format of a record: added, removed and path, separated by tabs and ended by NUL. */
function linesIn(numstat: string): Map<string, string> {
  const counts = new Map<string, string>();
  for (const record of numstat.split("\0")) {
    const [, added, removed, path] = /^(\d+)\t(\d+)\t(.*)$/s.exec(record) ?? [];
    if (path !== undefined) counts.set(path, ` (+${added} -${removed})`);
  }
  return counts;
}
