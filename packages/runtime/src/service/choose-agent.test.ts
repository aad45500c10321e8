/** The agent that receives a request, by the names of a team and an agent. */
import { AgentDefinition, type AgentRegistry } from "@troupe/core";
import { describe, expect, test } from "vitest";
import { chooseAgent } from "./choose-agent.ts";

const definition = (id: string, team?: string): AgentDefinition =>
  AgentDefinition.parse({
    ...{ id, name: id, description: id, prompt: id, source: { origin: "builtin", path: `${id}.md` } },
    ...(team === undefined ? {} : { team }),
  });

const agents = [
  definition("main"),
  definition("writer"),
  definition("news_lead", "news"),
  definition("news_writer", "news"),
];
const registry: AgentRegistry = {
  agents,
  teams: [
    {
      ...{ name: "news", description: "News", entry: "news_lead", agents: ["news_lead", "news_writer"] },
      ...{ origin: "project", path: "/w/.troupe/teams/news/team.yaml" },
    },
  ],
  problems: [
    {
      ...{ path: "/w/.troupe/teams/books/team.yaml", line: 3, column: 1, severity: "error", code: "missing-entry" },
      ...{ message: "the team books has no entry agent", fix: "add entry: editor" },
    },
  ],
  find: (id) => agents.find((agent) => agent.id === id),
  renderPrompt: () => "",
};

test.each([
  [{}, "main"],
  [{ agent: "writer" }, "writer"],
  [{ team: "news" }, "news_lead"],
  [{ team: "news", agent: "writer" }, "news_writer"],
  [{ team: "news", agent: "news_writer" }, "news_writer"],
  [{ agent: "news_writer" }, "news_writer"],
])("%j is %s", (names, id) => {
  expect(chooseAgent(registry, names, "main").id).toBe(id);
});

describe("an error says what to do", () => {
  test.each([
    [
      { team: "nws" },
      { code: "UNKNOWN_TEAM", message: 'there is no team "nws"; available: news', fix: "did you mean news?" },
    ],
    [{ team: "films" }, { code: "UNKNOWN_TEAM", fix: "troupe teams ls" }],
    [
      { team: "news", agent: "writr" },
      {
        code: "UNKNOWN_AGENT",
        message: 'the team news has no agent "writr"; available: lead, writer',
        fix: "did you mean writer?",
      },
    ],
    [
      { team: "books" },
      {
        code: "INVALID_TEAM",
        message:
          'the team "books" cannot be used: /w/.troupe/teams/books/team.yaml:3: the team books has no entry agent',
        fix: "add entry: editor",
      },
    ],
  ])("%j", (names, error) => {
    let thrown: unknown;
    try {
      chooseAgent(registry, names, "main");
    } catch (cause) {
      thrown = cause;
    }
    expect(thrown).toMatchObject(error);
  });
});
