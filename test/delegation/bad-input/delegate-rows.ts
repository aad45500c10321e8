import type { RunErrorType } from "@troupe/core/internal";
import { call, calling } from "../scripted-agents.ts";
import { json, type Row, refused } from "./row.ts";

type Bad = readonly [what: string, args: unknown, type: RunErrorType, says: string];

const reachable = "you can to: helper, lead";
const go = { agent: "helper", task: "go" };

/** Agents that main cannot ask. */
const strangers: readonly (readonly [what: string, agent: string, says?: string])[] = [
  ["an unknown name", "ghost"],
  ["a near miss", "helpers"],
  ["in capitals", "HELPER"],
  ["known to others only", "other"],
  ["switched off", "off"],
  ["its own", "main", "main → main is a cycle"],
  ["constructor", "constructor"],
  ["__proto__", "__proto__"],
  ["a tool's", "write"],
  ["a word for all", "all"],
];

/** Names that could not even stand in a subject. */
const impossible = [
  ["empty", ""],
  ["a star", "*"],
  ["a wildcard of the bus", "troupe.>"],
  ["with a blank", "help er"],
  ["with a line break", "helper\nother"],
  ["a path", "../helper"],
  ["in another script", "помощник"],
  ["of 200 letters", "h".repeat(200)],
] as const;

const wrongAgents: Bad[] = [
  ...strangers.map(
    ([what, agent, says = `you cannot delegate to "${agent}"; ${reachable}`]): Bad => [
      `an agent whose name is ${what}`,
      { agent, task: "go" },
      "permission",
      says,
    ],
  ),
  ...impossible.map(
    ([what, agent]): Bad => [`an agent whose name is ${what}`, { agent, task: "go" }, "params", "agent: "],
  ),
  ["a number for an agent", { agent: 7, task: "go" }, "params", "agent: "],
  ["two agents", { agent: ["helper", "lead"], task: "go" }, "params", "agent: "],
  ["null for an agent", { agent: null, task: "go" }, "params", "agent: "],
  ["an object for an agent", { agent: { id: "helper" }, task: "go" }, "params", "agent: "],
];

const wrongTasks: Bad[] = [
  ["nothing", {}, "params", "agent: name the agent"],
  ["no agent", { task: "go" }, "params", "agent: name the agent"],
  ["no task", { agent: "helper" }, "params", "task: say what the agent should do"],
  ["an empty task", { agent: "helper", task: "" }, "params", "task: say what the agent should do"],
  ["a task of blanks", { agent: "helper", task: " \n\t " }, "params", "task: say what the agent should do"],
  ["a number for a task", { agent: "helper", task: 1 }, "params", "task: "],
  ["null for a task", { agent: "helper", task: null }, "params", "task: "],
  ["a list for a task", { agent: "helper", task: ["go", "on"] }, "params", "task: "],
  ["a task of 200,001 letters", { agent: "helper", task: "x".repeat(200_001) }, "params", "task: "],
  ["null", null, "params", "arguments: "],
  ["a text", "helper: go", "params", "arguments: "],
  ["a list", [go], "params", "arguments: "],
  ["a number", 42, "params", "arguments: "],
  ["a prototype alone", json('{"__proto__":{"agent":"helper","task":"go"}}'), "params", "agent: name the agent"],
  ["a name of blanks", { ...go, name: "  " }, "params", "name: "],
];

const wrongContext: Bad[] = [
  ["an unknown mode of context", { ...go, context: "everything" }, "params", "context: "],
  ["text for a mode of context", { ...go, context: "here is all that I know" }, "params", "context: "],
  ["an object for a mode of context", { ...go, context: { mode: "full" } }, "params", "context: "],
  ["one file that is not a list", { ...go, context_files: "notes.md" }, "params", "context_files: "],
  ["51 files", { ...go, context_files: Array.from({ length: 51 }, (_, i) => `${i}.md`) }, "params", "context_files: "],
  ["a file without a name", { ...go, context_files: [""] }, "params", "context_files.0: is empty"],
  ["a file with a number for a name", { ...go, context_files: [1] }, "params", "context_files.0: "],
  ["a schema in words", { ...go, output_schema: "a list of findings" }, "params", "output_schema: "],
  ["criteria in a list", { ...go, success_criteria: ["it works"] }, "params", "success_criteria: "],
];

const wrongLimits: Bad[] = [
  ["no iterations", { ...go, limits: { max_iterations: 0 } }, "params", "limits.max_iterations: "],
  ["a negative number of iterations", { ...go, limits: { max_iterations: -1 } }, "params", "limits.max_iterations: "],
  ["half an iteration", { ...go, limits: { max_iterations: 0.5 } }, "params", "limits.max_iterations: "],
  ["infinite iterations", { ...go, limits: { max_iterations: "unlimited" } }, "params", "limits.max_iterations: "],
  ["a list for a limit", { ...go, limits: { max_tokens: [1] } }, "params", "limits.max_tokens: "],
  ["free of charge", { ...go, limits: { max_cost_usd: 0 } }, "params", "limits.max_cost_usd: "],
  ["limits in words", { ...go, limits: "none" }, "params", "limits: "],
  ["no attempts", { ...go, retry: { max_attempts: 0 } }, "params", "retry.max_attempts: "],
  ["a thousand attempts", { ...go, retry: { max_attempts: 1_000 } }, "params", "retry.max_attempts: "],
  ["attempts on unknown errors", { ...go, retry: { on: ["everything"] } }, "params", "retry.on.0: "],
  [
    "an unknown alternative",
    { ...go, retry: { alternative: "ghost" } },
    "permission",
    'you cannot delegate to "ghost"',
  ],
  [
    "an alternative that it may not use",
    { ...go, retry: { alternative: "other" } },
    "permission",
    'you cannot delegate to "other"',
  ],
  ["itself as an alternative", { ...go, retry: { alternative: "main" } }, "permission", "main → main is a cycle"],
  ["a disabled alternative", { ...go, retry: { alternative: "off" } }, "permission", 'you cannot delegate to "off"'],
];

const named = (name: string, after: string[] = []) => ({ ...go, name, after });

const wrongBatches: Bad[] = [
  ["no tasks", { tasks: [] }, "params", "tasks: give at least one task"],
  ["null for tasks", { tasks: null }, "params", "name the agent"],
  ["one task that is not a list", { tasks: go }, "params", "tasks: "],
  ["tasks in words", { tasks: ["ask helper to go"] }, "params", "tasks.0: "],
  ["1,001 tasks", { tasks: Array.from({ length: 1_001 }, () => go) }, "params", "tasks: "],
  [
    "one task without an agent among valid ones",
    { tasks: [go, { task: "go" }, go] },
    "params",
    "tasks.1.agent: name the agent",
  ],
  ["one task without text among valid ones", { tasks: [go, go, { agent: "helper" }] }, "params", "tasks.2.task: "],
  [
    "one unknown agent among valid ones",
    { tasks: [go, { agent: "ghost", task: "go" }, go] },
    "permission",
    'to "ghost"',
  ],
  ["itself among valid ones", { tasks: [go, { agent: "main", task: "go" }] }, "permission", "main → main is a cycle"],
  ["two tasks with one name", { tasks: [named("a"), named("a")] }, "params", 'two tasks are named "a"'],
  ["a task that depends on itself", { tasks: [named("a", ["a"])] }, "params", "a → a is a cycle"],
  ["tasks that depend on each other", { tasks: [named("a", ["b"]), named("b", ["a"])] }, "params", "is a cycle"],
  [
    "a long cycle of tasks",
    { tasks: [named("a", ["c"]), named("b", ["a"]), named("c", ["b"]), named("d")] },
    "params",
    "is a cycle",
  ],
  [
    "a task that depends on an unknown one",
    { tasks: [named("a", ["z"])] },
    "params",
    '"a" waits for "z", which is no task here',
  ],
  ["a task that depends on a prototype", { tasks: [named("a", ["__proto__"])] }, "params", "which is no task here"],
  ["an unknown mode", { tasks: [go], mode: "concurrent" }, "params", "mode: "],
  ["an unknown policy", { tasks: [go], policy: "best effort" }, "params", "policy: use all, any, continue or quorum"],
  ["a number for a policy", { tasks: [go], policy: 2 }, "params", "policy: "],
  ["a quorum that is not a number", { tasks: [go], policy: "quorum" }, "params", "quorum: say how many"],
  [
    "a quorum above the number of tasks",
    { tasks: [go], policy: "quorum", quorum: 2 },
    "params",
    "2 of 1 tasks cannot succeed",
  ],
  ["a quorum of none", { tasks: [go], policy: "quorum", quorum: 0 }, "params", "quorum: "],
  ["an unknown handle", { cancel: ["1.0.0"] }, "params", "1.0.0 is not a handle of a running task; none is running"],
  ["an empty handle", { cancel: [] }, "params", "cancel: "],
  ["a number for a handle", { cancel: 1 }, "params", "cancel: "],
  ["a prototype for a handle", { cancel: "__proto__" }, "params", "is not a handle of a running task"],
];

const byMain = [...wrongAgents, ...wrongTasks, ...wrongContext, ...wrongLimits, ...wrongBatches].map(
  ([what, args, type, says]) => refused(`delegate with ${what}`, call("delegate", args), [type, says]),
);

/** The same under the other names and words by which models know it. */
const aliases: Row[] = ["Task", "task", "Agent", "delegate_to_agent"].flatMap((tool) => [
  refused(`${tool} with an unknown role`, call(tool, { role: "ghost", task: "go" }), ["permission", reachable]),
  refused(`${tool} with an unknown subagent type`, call(tool, { subagent_type: "ghost", prompt: "go" }), [
    "permission",
    reachable,
  ]),
  refused(`${tool} without words`, call(tool, { subagent_type: "helper", prompt: "" }), ["params", "prompt: "]),
]);

/** Refusals that depend on the calling agent or on its remaining budget. */
const byOthers: Row[] = [
  refused("a leaf that delegates", call("delegate", go), ["permission", "this agent delegates to nobody"], {
    agent: "leaf",
  }),
  refused(
    "a leaf that delegates under another name",
    call("Task", { subagent_type: "helper", prompt: "go" }),
    ["permission", "this agent delegates to nobody"],
    { agent: "leaf" },
  ),
  refused("a leaf that stops tasks", call("delegate", { cancel: "1.0.0" }), ["params", "none is running"], {
    agent: "leaf",
  }),
  refused(
    "an agent at the deepest level that delegates",
    call("delegate", go),
    ["depth", "depth 1 is over the limit of 0"],
    { agent: "flat" },
  ),
  refused(
    "three children where two are left",
    call("delegate", { tasks: [go, go, go] }),
    ["budget", "3 more agents are over the limit of 2 for one run"],
    { agent: "sparing" },
  ),
  refused(
    "three children where the tree has two left",
    call("delegate", { tasks: [go, go, go] }),
    ["budget", "over the budget of the whole tree: 2 may still be started"],
    { submission: { budget: { spawns: 2 } } },
  ),
  refused("a child where the tree has none left", call("delegate", go), ["budget", "0 may still be started"], {
    submission: { budget: { spawns: 0 } },
  }),
  refused("an agent that its session denies", call("delegate", go), ["permission", "you can to: lead"], {
    submission: { grant: { denyAgents: ["helper"] } },
  }),
  refused("an agent that its session does not name", call("delegate", go), ["permission", "you can to: lead"], {
    submission: { grant: { agents: ["lead"] } },
  }),
  refused("any agent, where its session names none", call("delegate", go), ["permission", "delegates to nobody"], {
    submission: { grant: { agents: [] } },
  }),
  refused(
    "files, by an agent that cannot read",
    call("delegate", { ...go, context_files: ["notes.md"] }),
    ["permission", "you cannot read files, so you cannot pass notes.md on"],
    { agent: "toolless" },
  ),
  {
    name: "three delegate calls with two children left",
    agent: "sparing",
    submission: { limits: { maxToolCalls: 2 } },
    outputs: [
      calling(
        call("delegate", { tasks: [go, go, go] }, "a"),
        call("delegate", { tasks: [go, go, go, go] }, "b"),
        call("delegate", go, "c"),
      ),
    ],
    errors: [
      ["budget", "3 more agents are over the limit of 2"],
      ["budget", "4 more agents are over the limit of 2"],
      ["budget", "the limit of 2 tool calls is reached"],
    ],
  },
];

/** Files that the parent cannot pass on: the child is planned, and never asked. */
const unreadable: Row[] = (
  [
    ["that does not exist", "note.md", "params", "the context file note.md cannot be passed on"],
    ["above the workspace", "../outside/secret.txt", "permission", "it has .. in it"],
    ["that is absolute", "/etc/passwd", "permission", "absolute and elsewhere"],
    ["behind a link that leads outside", "secret-link", "permission", "leads out"],
  ] as const
).map(([what, file, type, says]) =>
  refused(`delegate with a file ${what}`, call("delegate", { ...go, context_files: [file] }), [type, says], {
    plans: 1,
    reaches: ["read"],
  }),
);

export const delegateRows: readonly Row[] = [...byMain, ...aliases, ...byOthers, ...unreadable];
