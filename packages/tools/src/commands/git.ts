import { RunFailure } from "@troupe/core";
import { defineTool, type Tool } from "@troupe/core/tool";
import { z } from "zod";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { commandHint, commandResult, refuseNul } from "./command-result.ts";
import { commandConsent, commandFiles, commandOutward, commandRisk } from "./command-risk.ts";
import type { GitIdentity } from "./git-identity.ts";
import { isReadOnly, readOnlyOptions } from "./git-read-only.ts";
import { openRepository } from "./git-repository.ts";
import { gitRisk, usesRemotes, whyNotRun } from "./git-risk.ts";

export interface GitParts {
  sandbox: Sandbox;
  /** Author of commits. */
  identity: () => Promise<GitIdentity>;
}

const argumentsMax = 200;

/** Creates the tool that runs git in the workspace's repository. */
export function createGitTool({ sandbox, identity }: GitParts): Tool {
  return defineTool({
    name: "git",
    description:
      'Runs git with a list of arguments: ["log", "--oneline", "-5"]. Hooks, aliases and editors do not run. Calls ' +
      "that rewrite history, discard work or contact other repositories may need approval. For changes and commits " +
      "prefer git_diff and git_commit.",
    input: z.strictObject({
      args: z.array(z.string().max(20_000)).min(1).max(argumentsMax),
      timeoutMs: z.int().min(1).max(600_000).default(60_000),
    }),
    risk: "low",
    riskOf: ({ args }) => {
      const risk = gitRisk(args);
      return risk === "medium" ? commandRisk(sandbox) : risk;
    },
    consent: ({ args }, { grant }) => (isReadOnly(args) ? null : commandConsent(sandbox, grant)),
    outwardOf: ({ args }) => (!isReadOnly(args) && usesRemotes(args) ? commandOutward(sandbox) : null),
    commandsOf: ({ args }) => [{ words: ["git", ...args], assigns: false, writes: false }],
    ...commandFiles(sandbox, ({ args }: { args: string[] }) => ({ words: ["git", ...args] })),
    effect: "unsafe",
    groups: ["git"],
    async run({ args, timeoutMs }, context) {
      for (const arg of args) refuseNul(arg, "an argument");
      const refused = whyNotRun(args);
      if (refused !== null) throw new RunFailure({ type: "params", message: refused, recoverable: false });
      const [name = "", ...rest] = args;
      const readOnly = isReadOnly(args);
      const { git } = await openRepository({ sandbox, context, mayBeNew: name === "init" || name === "clone" });
      const end = await git(readOnly ? [name, ...readOnlyOptions(name), ...rest] : args, {
        identity: await identity(),
        writes: !readOnly,
        filters: !readOnly && sandbox.contains,
        remotes: !readOnly && usesRemotes(args),
        timeoutMs,
      });
      return commandResult(end, timeoutMs, commandHint(end, { sandbox, grant: context.grant }));
    },
  });
}
