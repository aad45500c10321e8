import type { Agents } from "../harness/scenario-file.ts";
import { delegate, gate, shell } from "../harness/scripted-calls.ts";

// Agents and scripted replies of the recorded sessions. Only record.ts reads this.

const read = (path: string) => ({ tool: "read", args: { path } });
const write = (path: string, content: string) => ({ tool: "write", args: { path, content } });

/** The front matter of each agent in the recorded home. */
export const definitions: Readonly<Record<string, Record<string, unknown>>> = {
  solo: { tools: [] },
  // A child has no tool that its parent lacks.
  lead: {
    tools: ["read", "write", "edit", "ls", "shell"],
    subagents: { allow: ["builder", "checker", "scout", "clerk", "guest", "twig"] },
  },
  builder: { tools: ["read", "write", "edit", "ls", "shell"], subagents: { allow: ["checker"] } },
  checker: { tools: ["read", "shell"], troupe: { limits: { maxIterations: 5 } } },
  scout: {
    tools: ["read"],
    troupe: { intent: "model", retry: { maxAttempts: 2, backoffMs: 50 }, limits: { maxIterations: 2 } },
  },
  clerk: {
    tools: ["read", "recall"],
    troupe: {
      verifiers: [{ name: "files-exist", params: { paths: ["ledger.md"] } }],
      limits: { maxContextTokens: 4_000, maxOutputTokens: 1_000 },
      outputSchema: { type: "object", required: ["total"], properties: { total: { type: "integer" } } },
    },
  },
  reader: {
    tools: ["read", "recall"],
    troupe: { limits: { maxContextTokens: 4_000, maxOutputTokens: 1_000 } },
  },
  guest: { tools: ["read", "write"], troupe: { workspace: "isolated" } },
  twig: { tools: ["read", "write"], troupe: { workspace: "worktree" } },
};

const priced = { inputPerMillion: 1, outputPerMillion: 2 };

/** Scripted replies of one recorded session, and the price of the model in USD per million tokens. */
export interface SessionScenario {
  agents: Agents;
  price?: typeof priced;
}

const musing = "The ledger goes on, and so do I. ".repeat(30);

export const scenarios = {
  plain: { agents: { solo: [{ steps: [{ text: "Two and two are four." }] }] } },

  turns: {
    agents: {
      builder: [
        {
          when: { continued: true },
          steps: [{ calls: [read("greeting.txt")] }, { text: "It still says: {{result.0.output}}" }],
        },
        { steps: [{ calls: [write("greeting.txt", "Hello.\n")] }, { text: "Written." }] },
      ],
    },
  },

  tools: {
    agents: {
      builder: [
        {
          steps: [
            { text: "First I look.", calls: [{ tool: "ls", args: { path: "." } }, read("missing.md")] },
            { calls: [write("list.md", "- one\n- two\n"), write("notes/why.md", "Because.\n")] },
            { calls: [{ tool: "edit", args: { path: "list.md", old: "- two", new: "- 2" } }] },
            { calls: [{ tool: "edit", args: { path: "list.md", old: "- nine", new: "- 9" } }] },
            {
              calls: [shell("cat list.md; exit 3"), shell("wc -l < list.md"), { tool: "edit", args: {}, rawArgs: "{" }],
            },
            { calls: [{ tool: "fly", args: { to: "the moon" } }] },
            { text: "The list is there.\n{{result.0.output}}" },
          ],
        },
      ],
    },
  },

  tree: {
    price: priced,
    agents: {
      lead: [
        {
          steps: [
            {
              text: "Both at once.",
              calls: [
                {
                  tool: "delegate",
                  args: {
                    tasks: [
                      { name: "north", agent: "scout", task: "look north", context: "summary" },
                      { name: "south", agent: "scout", task: "look south" },
                      { name: "house", agent: "builder", task: "build the house", after: ["north", "south"] },
                    ],
                  },
                },
                delegate("scout", "get lost"),
                delegate("stranger", "introduce yourself"),
              ],
            },
            { text: "All is reported.\n{{result.0.output}}" },
          ],
        },
      ],
      builder: [
        {
          steps: [
            { calls: [write("house.txt", "walls\n")] },
            {
              calls: [
                { tool: "delegate", args: { agent: "checker", task: "check the house", context_files: ["house.txt"] } },
                { tool: "delegate", args: { agent: "checker", task: "check it again", context: "full" } },
              ],
            },
            { text: "Built: {{result.0.summary}} {{result.1.summary}}" },
          ],
        },
      ],
      checker: [{ steps: [{ calls: [read("house.txt"), shell("wc -c < house.txt")] }, { text: "It stands." }] }],
      scout: [
        {
          when: { task: "north", attempt: 1 },
          intent: { text: "not JSON" },
          steps: [{ text: "I see", error: { type: "network", message: "the line went dead", recoverable: true } }],
        },
        { when: { task: "lost" }, steps: [{ calls: [read("nowhere.md")] }, { calls: [read("nowhere.md")] }] },
        {
          intent: {
            text: JSON.stringify({
              risk: "low",
              expected_format: "one sentence",
              success_criteria: ["it names every plant"],
              notes: ["look once"],
            }),
          },
          steps: [{ text: "Nothing but grass ({{task}}, attempt {{attempt}}).", latencyMs: 30 }],
        },
      ],
    },
  },

  checked: {
    agents: {
      lead: [{ steps: [{ calls: [delegate("clerk", "add up")] }, { text: "{{result.0.output}}" }] }],
      clerk: [
        {
          steps: [
            { text: "It is forty-two." },
            { text: '{"total": "42"}', calls: [read("ledger.md")] },
            { text: '{"total": 42}' },
          ],
        },
      ],
    },
  },

  room: {
    agents: {
      reader: [
        {
          summary: { text: "## Found out\nPage 1 is long." },
          steps: [
            ...[1, 2, 3, 4].map((page) => ({ calls: [read(`page-${page}.txt`)] })),
            { text: "Once more.", calls: [{ tool: "recall", args: { result: "1/0" } }] },
            ...[5, 6, 7, 8, 9].map((page) => ({ text: musing, calls: [read(`line-${page}.txt`)] })),
            { text: "All pages are read." },
          ],
        },
      ],
    },
  },

  capped: {
    price: priced,
    agents: {
      lead: [
        {
          steps: [
            { calls: [delegate("checker", "check for ever"), delegate("checker", "check briefly")] },
            { calls: [shell("echo three"), shell("echo four"), delegate("checker", "check once more")] },
            { text: "This is what I have: {{result.0.output}}" },
          ],
        },
      ],
      checker: [
        { when: { task: "ever" }, steps: [{ text: "Checking.", calls: [shell("echo again")], repeat: true }] },
        { steps: [{ calls: [shell("echo once")] }, { text: "Checked." }] },
      ],
    },
  },

  spent: {
    price: priced,
    agents: {
      lead: [{ steps: [{ text: musing, calls: [delegate("checker", "check")], repeat: true }] }],
      checker: [{ steps: [{ text: musing, calls: [shell("echo a")] }, { text: musing }] }],
    },
  },

  folders: {
    agents: {
      lead: [
        {
          steps: [
            { calls: [delegate("guest", "write a letter"), delegate("twig", "grow")] },
            { text: "{{result.0.output}} {{result.1.output}}" },
          ],
        },
      ],
      guest: [{ steps: [{ calls: [write("letter.txt", "Dear all\n")] }, { text: "Sent." }] }],
      twig: [{ steps: [{ calls: [read("root.txt"), write("leaf.txt", "green\n")] }, { text: "Grown." }] }],
    },
  },

  steered: {
    agents: {
      lead: [
        {
          steps: [
            { calls: [gate("lead"), delegate("builder", "build slowly"), delegate("scout", "look")] },
            { calls: [delegate("builder", "build something else")] },
            { text: "never said" },
          ],
        },
      ],
      builder: [
        { when: { task: "slowly" }, steps: [{ calls: [gate("slow")] }, { text: "never said" }] },
        { steps: [{ calls: [gate("other"), delegate("checker", "check")] }, { text: "never said" }] },
      ],
      checker: [{ steps: [{ text: "I am thinking about it.", latencyMs: 600_000 }] }],
      scout: [{ steps: [{ text: "Nothing." }] }],
    },
  },

  paused: {
    agents: {
      lead: [{ steps: [{ calls: [gate("lead"), delegate("checker", "check")] }, { text: "{{result.1.summary}}" }] }],
      checker: [{ steps: [{ calls: [gate("checker")] }, { text: "Checked." }] }],
    },
  },

  killed: {
    agents: {
      lead: [
        {
          steps: [
            { calls: [delegate("builder", "build"), delegate("scout", "look")] },
            { text: "{{result.0.output}} {{result.1.output}}" },
          ],
        },
      ],
      builder: [
        {
          steps: [
            { calls: [write("wall.txt", "brick\n")] },
            { calls: [gate("builder")] },
            { text: "{{result.0.output}}" },
          ],
        },
      ],
      scout: [{ steps: [{ calls: [read("wall.txt")] }, { text: "It took a while.", latencyMs: 4_000 }] }],
    },
  },

  drained: {
    agents: {
      lead: [{ steps: [{ calls: [delegate("checker", "check")] }, { text: "{{result.0.summary}}" }] }],
      checker: [{ steps: [{ text: "I take my time.", latencyMs: 7_000 }] }],
    },
  },

  asked: {
    agents: {
      lead: [
        {
          steps: [
            { calls: [shell("echo lead > lead.txt"), delegate("builder", "help")] },
            { text: "{{result.0.output}} {{result.1.output}}" },
          ],
        },
      ],
      builder: [
        {
          steps: [
            { calls: [shell("echo bad"), shell("echo good")] },
            { calls: [shell("echo not asked again")] },
            { text: "{{result.0.output}}" },
          ],
        },
      ],
    },
  },

  waiting: {
    agents: {
      lead: [{ steps: [{ calls: [delegate("builder", "deploy")] }, { text: "never said" }] }],
      builder: [{ steps: [{ calls: [shell("echo deployed")] }, { text: "never said" }] }],
    },
  },
} satisfies Record<string, SessionScenario>;

export type SessionName = keyof typeof scenarios;
