import { randomUUID } from "node:crypto";
import { AgentDefinition, type AgentProblem, type Company, TroupeError } from "@troupe/core";
import type { Composition, RecordArchive } from "../troupe.ts";
import { FakeTroupe } from "./fake-troupe.ts";

export interface FakeComposition extends Composition {
  /** All that were started, in order. */
  started: FakeTroupe[];
  archive: RecordArchive | null;
  problems: AgentProblem[];
  demo: boolean;
}

/** The other packages, in memory. Troupes find each other by address, as over the network. */
export function createFakeComposition(): FakeComposition {
  const composition: FakeComposition = {
    started: [],
    archive: null,
    problems: [],
    demo: false,
    storeVersions: { journal: 1, record: 1 },
    async start({ home, kind, port }) {
      const url = `http://127.0.0.1:${port === 0 ? 40_001 + composition.started.length : port}`;
      const { token } = home;
      const troupe = new FakeTroupe({ url, token, home: home.path, kind, demo: composition.demo });
      composition.started.push(troupe);
      return troupe;
    },
    connect({ url, token }) {
      const found = composition.started.findLast((troupe) => troupe.url === url && troupe.token === token);
      if (found) return found;
      const nobody = new FakeTroupe({ url, token, home: "", kind: "run", demo: false });
      nobody.dead = true;
      return nobody;
    },
    newSession: () => randomUUID(),
    openReader: async () => composition.archive,
    loadCompany: async () => companyOf(composition.problems),
    async validateAgents(paths) {
      if (paths.length === 0) throw new TroupeError("USAGE", "no paths");
      return { agents: [...companyOf([]).agents], problems: composition.problems };
    },
  };
  return composition;
}

function companyOf(problems: readonly AgentProblem[]): Company {
  const lead = AgentDefinition.parse({
    id: "lead",
    name: "Lead",
    description: "Splits \u001b[31mwork\u001b[0m up",
    prompt: "You lead.",
    subagents: { allow: ["researcher"] },
    source: { origin: "builtin", path: "/shipped/lead.md" },
  });
  return {
    agents: [lead],
    problems,
    find: (id) => (id === lead.id ? lead : undefined),
    renderPrompt: () => "",
  };
}
