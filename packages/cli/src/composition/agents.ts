import { validateAgents, validateTeams } from "@troupe/roles";
import { replaySession } from "@troupe/runtime";
import { shippedToolSpecs } from "@troupe/tools";
import { createHomeAgentSource, readHomeFeed, readToolSpecs } from "troupe/internal";
import type { Composition } from "../cli.ts";

/** Agents, teams and tools of a home and a folder. */
export const agents: Pick<Composition, "loadAgents" | "toolSpecs" | "replay" | "validateAgents" | "validateTeams"> = {
  loadAgents: ({ home, workspace, env }) => createHomeAgentSource(home, env).load(workspace),
  toolSpecs: readToolSpecs,
  async replay({ home, session, current, env }) {
    const from = await readHomeFeed(home, session);
    const today = current ? { agentSource: createHomeAgentSource(home, env), tools: shippedToolSpecs() } : {};
    return await replaySession({ session, from, ...today });
  },
  validateAgents,
  validateTeams,
};
