const roles = [
  "user",
  "main",
  "coder",
  "tester",
  "reviewer",
  "planner",
  "debugger",
  "researcher",
  "writer",
  "email",
  "calendar",
  "contacts",
  "slack",
  "other",
] as const;

/** The role of an agent, for its icon. */
export type Role = (typeof roles)[number];

const synonyms: Readonly<Record<string, Role>> = {
  root: "main",
  orchestrator: "main",
  lead: "main",
  code: "coder",
  developer: "coder",
  engineer: "coder",
  test: "tester",
  qa: "tester",
  review: "reviewer",
  verifier: "reviewer",
  plan: "planner",
  architect: "planner",
  debug: "debugger",
  research: "researcher",
  search: "researcher",
  explorer: "researcher",
  report: "writer",
  mail: "email",
  gmail: "email",
  contact: "contacts",
};

/**
 * The role of an agent, by the first known word in its id.
 *
 * @example
 * roleOf("senior-coder"); // "coder"
 */
export function roleOf(agent: string): Role {
  for (const word of agent.toLowerCase().split(/[^a-z0-9]+/)) {
    const exact = roles.find((role) => role === word);
    if (exact) return exact;
    if (Object.hasOwn(synonyms, word)) return synonyms[word] ?? "other";
  }
  return "other";
}
