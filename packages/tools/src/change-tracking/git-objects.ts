import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { gitEnvironment } from "../commands/git-environment.ts";

/** Reads objects of a repository through one git process, which runs no program of the repository. */
export interface GitObjects extends AsyncDisposable {
  /** The content of a blob; null if git does not have it, or it has another size. */
  read(object: string, size: number): Promise<Buffer | null>;
}

const timeoutMs = 10_000;

/** A larger object of a wrong size ends the reading. */
const objectBytesMax = 8 * 1024 * 1024;

/** Opens the objects of the repository of a folder. Git starts at the first read. */
export function openGitObjects(folder: string): GitObjects {
  let child: ChildProcess | null = null;
  let input = Buffer.alloc(0);
  let hasEnded = false;
  let wake = (): void => {};

  const start = (): ChildProcess => {
    const { PATH = "" } = process.env;
    const safe = gitEnvironment({ workspace: folder, configKeys: [] });
    const env = { PATH, ...safe };
    const git = spawn("git", ["cat-file", "--batch"], { cwd: folder, env, stdio: ["pipe", "pipe", "ignore"] });
    git.stdout.on("data", (chunk: Buffer) => {
      input = Buffer.concat([input, chunk]);
      wake();
    });
    const ended = (): void => {
      hasEnded = true;
      wake();
    };
    git.on("error", ended).on("close", ended);
    git.stdin.on("error", ended);
    setTimeout(() => git.kill("SIGKILL"), timeoutMs).unref();
    return git;
  };

  /** Waits until a condition holds for the input. False if git ended before. */
  const until = async (isReady: () => boolean): Promise<boolean> => {
    while (!isReady()) {
      if (hasEnded) return false;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    return true;
  };

  const take = (length: number): Buffer => {
    const taken = input.subarray(0, length);
    input = input.subarray(length);
    return taken;
  };

  return {
    async read(object, size) {
      child ??= start();
      child.stdin?.write(`${object}\n`);
      if (!(await until(() => input.includes(10)))) return null;
      const [, type, length] = take(input.indexOf(10) + 1)
        .toString("latin1")
        .trimEnd()
        .split(" ");
      if (length === undefined) return null;
      const bytes = Number(length);
      // A forged index can name any object.
      if (bytes > Math.max(size, objectBytesMax)) {
        hasEnded = true;
        child.kill("SIGKILL");
        return null;
      }
      if (!(await until(() => input.length > bytes))) return null;
      const content = take(bytes + 1).subarray(0, bytes);
      return type === "blob" && bytes === size ? content : null;
    },
    async [Symbol.asyncDispose]() {
      if (child === null || child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
      const closed = once(child, "close");
      child.kill("SIGKILL");
      await closed;
    },
  };
}
