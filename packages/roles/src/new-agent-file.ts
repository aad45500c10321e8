import { TroupeError } from "@troupe/core";
import { Token } from "@troupe/core/internal";
import { type AgentFileChanges, editAgentFile } from "./edit-agent-file.ts";

export interface NewAgent {
  /** The id. */
  name: string;
  /** @default a placeholder, or the description of the copied file */
  description?: string | undefined;
  /** The text of an agent file to copy. @default a template with comments */
  from?: string | undefined;
}

/**
 * The text of a new agent file, with comments that explain the usual keys, or the copy of another file under a new name.
 * Throws `USAGE` for a name that is not a valid id.
 *
 * @example
 * newAgentFile({ name: "archivist", description: "Files finished documents." });
 */
export function newAgentFile({ name, description, from }: NewAgent): string {
  if (!Token.safeParse(name).success) {
    throw new TroupeError("USAGE", `${JSON.stringify(name)} is not a valid name: use letters, digits, - and _ only`, {
      fix: "troupe agents new my-agent",
    });
  }
  const text = from ?? template;
  const changes: AgentFileChanges = {
    name,
    ...(description === undefined ? {} : { description }),
    // A copy with the id of the original would replace it.
    ...(from === undefined ? {} : { id: undefined }),
  };
  return editAgentFile(text, changes);
}

const template = `---
# The id: letters, digits, - and _. The file can have any name.
name: my-agent
# When to delegate to this agent. The models of other agents read this.
description: Describe here when other agents should use this agent.
# The tools that it may use. Without this line: all tools that its parent grants. [] means none.
tools: [read, search, glob, recall]
# A size (opus, sonnet, haiku), provider/model, or inherit for the model of the session.
model: inherit
# The agents that it may delegate to, by id, or "*" for all of them.
# subagents:
#   allow: [researcher]
# Limits, and the folders where it may write:
# troupe:
#   limits: {maxIterations: 20, maxDurationMs: 10m}
#   writes: [docs]
---

You are a specialist. Describe here the work of this agent, its rules, and the form of its answer.

Work in these steps:

1. Read the files of the task.
2. Do the work.
3. Answer with the result and the files that you used.
`;
