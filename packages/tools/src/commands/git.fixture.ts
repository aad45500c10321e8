import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const identity = {
  GIT_AUTHOR_NAME: "a",
  GIT_AUTHOR_EMAIL: "a@example.org",
  GIT_COMMITTER_NAME: "a",
  GIT_COMMITTER_EMAIL: "a@example.org",
};

/** Runs git as a person would who set up a repository; the machine's own configuration is left out. */
export function setUpGit(folder: string, ...args: string[]): string {
  return run(folder, ["git", ...withoutMaintenance, ...args]);
}

/** A commit would start a further process. */
const withoutMaintenance: readonly string[] = ["-c", "maintenance.auto=false"];

function run(folder: string, [program = "", ...args]: readonly string[]): string {
  const env = {
    PATH: process.env.PATH ?? "",
    HOME: folder,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    ...identity,
  };
  return execFileSync(program, args, { cwd: folder, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

/** A repository with its first commit: these files, by their paths. */
export function makeRepository(folder: string, files: Readonly<Record<string, string | Buffer>>): void {
  putFiles(folder, files);
  const git = `git ${withoutMaintenance.join(" ")}`;
  const steps = ["init --quiet --initial-branch=main", "add --all", "commit --quiet --message=begin"];
  // By one shell: each start of a process from a test worker is slow.
  run(folder, ["sh", "-c", steps.map((step) => `${git} ${step}`).join(" && ")]);
}

export function putFiles(folder: string, files: Readonly<Record<string, string | Buffer>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}
