import { call, calling } from "../scripted-agents.ts";
import { json, type Row, refused } from "./row.ts";

/** Names that no tool has. */
const strangers = [
  ["another program's", "sudo"],
  ["a near miss", "reads"],
  ["in capitals", "READ"],
  ["with a capital", "READ"],
  ["with a blank after it", "read "],
  ["with a line break after it", "read\n"],
  ["with a namespace", "functions.read"],
  ["with a path", "../read"],
  ["two at once", "read,write"],
  ["a command line", "read; rm -rf /"],
  ["of an unknown server", "mcp__github__create_issue"],
  ["a pattern", "mcp__*"],
  ["a star", "*"],
  ["a group of tools", "filesystem"],
  ["nothing", ""],
  ["blanks", "   "],
  ["__proto__", "__proto__"],
  ["constructor", "constructor"],
  ["toString", "toString"],
  ["hasOwnProperty", "hasOwnProperty"],
  ["a near miss of delegate", "delegates"],
  ["delegate in capitals", "DELEGATE"],
  ["an agent's", "helper"],
  ["in another script", "прочитать"],
  ["a picture", "📖"],
  ["with a NUL", "read\u0000"],
  ["with terminal escapes", "\u001B[2Jread"],
  ["markup", "<img src=x onerror=alert(1)>"],
  ["half a character", "read\uD83D"],
] as const;

const unknownTools = strangers.map(([what, name]) =>
  refused(`a tool whose name is ${what}`, call(name, { path: "notes.md" }), [
    "permission",
    `the tool ${JSON.stringify(name)} is not granted to this run; it has: read, write, echo`,
  ]),
);

const note = { path: "new.md", content: "x" };

/** Tools that the machine has, and that this run was not given. */
const notGranted: Row[] = [
  refused("deploy, by an agent that lists others", call("deploy", { to: "prod" }), [
    "permission",
    '"deploy" is not granted',
  ]),
  ...(["read", "write", "echo", "deploy"] as const).map((name) =>
    refused(`${name}, by an agent without tools`, call(name, note), ["permission", "it has no tools"], {
      agent: "toolless",
    }),
  ),
  ...(["write", "echo", "deploy"] as const).map((name) =>
    refused(`${name}, by an agent that reads`, call(name, note), ["permission", "it has: read"], { agent: "reader" }),
  ),
  refused("write, where its session allows reading", call("write", note), ["permission", "it has: read"], {
    submission: { grant: { tools: ["read"] } },
  }),
  refused("write, where its session denies it", call("write", note), ["permission", "it has: read, echo"], {
    submission: { grant: { denyTools: ["write"] } },
  }),
  refused("write, where its session denies its group", call("write", note), ["permission", "it has: echo"], {
    submission: { grant: { denyTools: ["filesystem"] } },
  }),
  refused(
    "read, where its session allows nothing",
    call("read", { path: "notes.md" }),
    ["permission", "it has no tools"],
    {
      submission: { grant: { tools: [] } },
    },
  ),
  refused(
    "read, where its session allows it and denies it",
    call("read", { path: "notes.md" }),
    ["permission", "it has no tools"],
    {
      submission: { grant: { tools: ["read"], denyTools: ["read"] } },
    },
  ),
  refused(
    "an ungranted tool with the words of a person",
    call("deploy", { to: "prod", approved: true, by: "a person" }),
    ["permission", '"deploy" is not granted'],
  ),
];

/** Arguments that do not fit the tool's own schema. */
const misfits: readonly (readonly [what: string, tool: string, args: unknown, says: string])[] = [
  ["nothing", "write", {}, "path: "],
  ["no content", "write", { path: "new.md" }, "content: "],
  ["no path", "write", { content: "x" }, "path: "],
  ["a number for a path", "write", { path: 1, content: "x" }, "path: "],
  ["null for a path", "write", { path: null, content: "x" }, "path: "],
  ["a list for a path", "write", { path: ["new.md"], content: "x" }, "path: "],
  ["an object for a path", "write", { path: { to: "new.md" }, content: "x" }, "path: "],
  ["an empty path", "write", { path: "", content: "x" }, "path: "],
  ["a number for content", "write", { path: "new.md", content: 5 }, "content: "],
  ["null for content", "write", { path: "new.md", content: null }, "content: "],
  ["an object for content", "write", { path: "new.md", content: { text: "x" } }, "content: "],
  ["an additional field", "write", { ...note, mode: "0777" }, 'Unrecognized key: "mode"'],
  ["another tool's words", "write", { file_path: "new.md", content: "x" }, "path: "],
  ["fields in capitals", "write", { PATH: "new.md", CONTENT: "x" }, "path: "],
  ["a workspace as an argument", "write", { ...note, workspace: "/" }, 'Unrecognized key: "workspace"'],
  ["a grant as an argument", "write", { ...note, grant: { tools: ["deploy"] } }, 'Unrecognized key: "grant"'],
  ["an approval as an argument", "write", { ...note, approved: true }, 'Unrecognized key: "approved"'],
  ["a prototype alone", "write", json('{"__proto__":{"path":"new.md","content":"x"}}'), "path: "],
  [
    "a constructor",
    "write",
    json('{"path":"new.md","content":"x","constructor":{"prototype":{"polluted":1}}}'),
    '"constructor"',
  ],
  ["a list", "write", ["new.md", "x"], "expected object"],
  ["a text", "write", "new.md", "expected object"],
  ["a number", "write", 42, "expected object"],
  ["true", "write", true, "expected object"],
  ["null", "write", null, "expected object"],
  ["no path to read", "read", {}, "path: "],
  ["line zero", "read", { path: "notes.md", offset: 0 }, "offset: "],
  ["a line before the first", "read", { path: "notes.md", offset: -5 }, "offset: "],
  ["half a line", "read", { path: "notes.md", offset: 1.5 }, "offset: "],
  ["a line in words", "read", { path: "notes.md", offset: "first" }, "offset: "],
  ["no lines", "read", { path: "notes.md", limit: 0 }, "limit: "],
  ["more lines than allowed", "read", { path: "notes.md", limit: 1e9 }, "limit: "],
  ["many paths", "read", { paths: ["notes.md", "folder/inside.txt"] }, "path: "],
  ["a text", "read", "notes.md", "expected object"],
  ["a list", "echo", [1, 2, 3], "expected object"],
  ["a text", "echo", "hello", "expected object"],
  ["null", "echo", null, "expected object"],
];

const badArguments = misfits.map(([what, tool, args, says]) =>
  refused(`${tool} with ${what}`, call(tool, args), ["params", says]),
);

/** Paths that the tool itself refuses: it is reached, and does nothing. */
const places: readonly (readonly [
  what: string,
  tool: "read" | "write",
  path: string,
  says: readonly ["permission" | "params" | "tool_error", string],
])[] = [
  ["above the workspace", "write", "../outside/new.md", ["permission", "it has .. in it"]],
  ["above the workspace, by a detour", "write", "folder/../../outside/new.md", ["permission", "it has .. in it"]],
  ["absolute", "write", "/tmp/troupe-bad-input-new.md", ["permission", "absolute and elsewhere"]],
  ["of the system", "write", "/etc/passwd", ["permission", "absolute and elsewhere"]],
  ["through a link that leads outside", "write", "out/new.md", ["permission", "leads out"]],
  ["of a link that leads outside", "write", "secret-link", ["permission", "leads out"]],
  ["of a broken link that leads outside", "write", "nowhere", ["permission", "leads out"]],
  ["of a folder", "write", "folder", ["permission", "it is a folder"]],
  ["of the workspace itself", "write", ".", ["permission", "it is a folder"]],
  ["below a file", "write", "notes.md/new.md", ["params", "not a folder"]],
  ["with a NUL", "write", "new\u0000.md", ["params", "NUL"]],
  ["of 300 letters", "write", "n".repeat(300), ["params", "too long"]],
  ["above the workspace", "read", "../outside/secret.txt", ["permission", "it has .. in it"]],
  ["of this process", "read", "/proc/self/environ", ["permission", "absolute and elsewhere"]],
  ["through a link that leads outside", "read", "out/secret.txt", ["permission", "leads out"]],
  ["of a link that leads outside", "read", "secret-link", ["permission", "leads out"]],
  ["of a missing file", "read", "note.md", ["params", "the nearest names are: notes.md"]],
  ["of a file's inside", "read", "notes.md/x", ["params", "not a folder"]],
];

const badPaths = places.map(([what, tool, path, hears]) =>
  refused(`${tool} at a path ${what}`, call(tool, tool === "read" ? { path } : { path, content: "x" }), hears, {
    reaches: [tool],
  }),
);

/** Messages of vendor adapters about arguments that are not JSON. */
const noJson = ["Unexpected end of JSON input", "Expected property name at position 1", "a lone surrogate"];

const malformed = ["read", "write", "delegate", "Task", "sudo"].flatMap((tool) =>
  noJson.map((reason) =>
    refused(
      `${tool} with arguments that are no JSON: ${reason}`,
      { ...call(tool, null), problem: `its arguments are no JSON: ${reason}` },
      ["params", reason],
    ),
  ),
);

const megabyte = 1024 * 1024;

/** `[[[…]]]`, so deep that going into it by recursion ends in a stack overflow. */
function nested(depth: number): unknown {
  return json(`{"x":${"[".repeat(depth)}${"]".repeat(depth)}}`);
}

const tooMuch: Row[] = [
  ...(["write", "read", "echo", "delegate", "sudo"] as const).map((tool) =>
    refused(
      `${tool} with 10 MB of arguments`,
      call(tool, { path: "new.md", content: "x".repeat(10 * megabyte), agent: "helper", task: "go" }),
      ["params", "bytes as JSON; at most 262144 are allowed"],
    ),
  ),
  refused("write with one byte too many", call("write", { path: "new.md", content: "x".repeat(262_144) }), [
    "params",
    "at most 262144",
  ]),
  refused(
    "echo with 100,000 keys",
    call("echo", Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`key${i}`, i]))),
    ["params", "at most 262144"],
  ),
  ...[101, 10_000, 100_000].map((depth) =>
    refused(`echo with arguments ${depth} levels deep`, call("echo", nested(depth)), ["params", "levels deep"]),
  ),
  refused("delegate with a task 100,000 levels deep", call("delegate", { agent: "helper", task: nested(100_000) }), [
    "params",
    "levels deep",
  ]),
  refused("a tool whose name is a megabyte long", call("x".repeat(megabyte)), [
    "params",
    "its name has 1048576 characters",
  ]),
  {
    name: "70 calls of unknown tools in one turn",
    outputs: [calling(...Array.from({ length: 70 }, (_, i) => call("sudo", { i }, `call-${i}`)))],
    errors: [
      ...Array.from({ length: 64 }, () => ["permission", '"sudo" is not granted'] as const),
      ...Array.from({ length: 6 }, () => ["params", "of 70 in one turn; at most 64 are made"] as const),
    ],
  },
  {
    name: "more calls than its run may make",
    agent: "sparing",
    outputs: [calling(...Array.from({ length: 4 }, (_, i) => call("sudo", { i }, `call-${i}`)))],
    errors: [
      ["permission", '"sudo" is not granted'],
      ["permission", '"sudo" is not granted'],
      ["budget", "the limit of 2 tool calls is reached"],
      ["budget", "the limit of 2 tool calls is reached"],
    ],
  },
  {
    name: "more calls than the whole tree may make",
    submission: { budget: { toolCalls: 1 } },
    outputs: [calling(call("sudo", { i: 0 }, "a"), call("sudo", { i: 1 }, "b"))],
    errors: [
      ["permission", '"sudo" is not granted'],
      ["budget", "the tool calls that the whole tree may make"],
    ],
  },
  {
    name: "two calls with one id",
    outputs: [calling(call("sudo", { i: 0 }, "same"), call("sudo", { i: 1 }, "same"))],
    errors: [
      ["permission", '"sudo" is not granted'],
      ["permission", '"sudo" is not granted'],
    ],
  },
];

export const toolRows: readonly Row[] = [
  ...unknownTools,
  ...notGranted,
  ...badArguments,
  ...badPaths,
  ...malformed,
  ...tooMuch,
];
