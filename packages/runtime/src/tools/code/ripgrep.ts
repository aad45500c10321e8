import { dirname } from "node:path";
import { RunFailure } from "@troupe/core";
import type { Sandbox } from "../../sandbox/sandbox.ts";

export interface Ripgrep {
  run(args: readonly string[], search: RipgrepSearch): Promise<{ stdout: string; isCut: boolean }>;
}

export interface RipgrepSearch {
  workspace: string;
  signal: AbortSignal;
  timeoutMs: number;
  captureBytesMax: number;
}

const always = [
  "--no-config",
  "--color=never",
  "--no-follow",
  "--hidden",
  "--no-require-git",
  "--no-ignore-global",
  "--no-heading",
  "--no-messages",
  "--null",
  "--glob=!.git",
];

export function createRipgrep({ sandbox }: { sandbox: Sandbox }): Ripgrep {
  return {
    async run(args, search) {
      const { rgPath } = await import("@vscode/ripgrep");
      const end = await sandbox.run({
        argv: [rgPath, ...always, ...args],
        writes: [[]],
        readable: [dirname(rgPath)],
        ...search,
      });
      if (end.reason !== "exited") {
        throw new RunFailure({
          type: end.reason === "timeout" ? "timeout" : "cancelled",
          message: "stopped",
          recoverable: false,
        });
      }
      return { stdout: end.stdout || end.output, isCut: end.droppedBytes > 0 };
    },
  };
}
