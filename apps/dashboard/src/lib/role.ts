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

/** What an agent is for, as far as its icon tells. */
export type Role = (typeof roles)[number];

const kin: Readonly<Record<string, Role>> = {
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
 * The role that an agent's id speaks of, by the first of its words that is known.
 *
 * @example
 * roleOf("senior-coder"); // "coder"
 */
export function roleOf(agent: string): Role {
  for (const word of agent.toLowerCase().split(/[^a-z0-9]+/)) {
    const own = roles.find((role) => role === word);
    if (own) return own;
    if (Object.hasOwn(kin, word)) return kin[word] ?? "other";
  }
  return "other";
}
