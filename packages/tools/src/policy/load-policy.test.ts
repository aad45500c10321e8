/** A policy counts to the letter, or the machine does not start: troupe never guesses. */
import { mkdir, mkdtempDisposable, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defaultPolicy, ToolSpec } from "@troupe/core";
import { describe, expect, it } from "vitest";
import { loadPolicy, policyWarnings } from "./load-policy.ts";
import { parsePolicy } from "./parse-policy.ts";

const file = "/home/policy.yaml";

describe("a policy", () => {
  it.each([
    ["an empty file", ""],
    ["a file of comments", "# nothing yet\n"],
    ["a byte order mark", "\uFEFF# nothing yet\r\n"],
    ["empty sections", "tools: {}\nagents: {}\nrisk: {}"],
  ])("without settings: %s", (_, text) => {
    expect(parsePolicy(text, file)).toEqual(defaultPolicy);
  });

  it("is the first layer of every grant, and decides about each risk", () => {
    const text = `
tools:
  allow: [read, filesystem, mcp__github__*]
  deny: [shell]
agents:
  allow: ["*"]
  disabled: [coder]
risk: {medium: ask, high: deny}
commands: {loss: deny}
writes: [src, "**/test"]
sandbox: {mode: required, readable: [/opt/sdk]}
web: {privateHosts: [wiki.example.org], trustedHosts: [docs.example.org]}
privateFiles: ["customers/**"]
delegation: {noHost: queue}
savedFiles: {fileMb: 1}
cacheReads: true
`;
    expect(parsePolicy(text, file)).toEqual({
      layer: {
        from: "policy",
        kind: "policy",
        tools: ["read", "filesystem", "mcp__github__*"],
        denyTools: ["shell"],
        agents: ["*"],
        denyAgents: ["coder"],
        writes: ["src", "**/test"],
      },
      risk: { low: "allow", medium: "ask", high: "deny" },
      commands: { loss: "deny" },
      sandbox: { mode: "required", network: false, readable: ["/opt/sdk"], memoryMb: 4_096, processes: 512 },
      disk: { freeMb: null, sessionMb: 10_240 },
      web: { privateHosts: ["wiki.example.org"], deny: [], trustedHosts: ["docs.example.org"] },
      privateFiles: ["customers/**"],
      delegation: { noHost: "queue", workspaceLostMs: 600_000 },
      savedFiles: { fileMb: 1, totalMb: 256 },
      cacheReads: true,
    });
  });

  it("limits the use of a disk", () => {
    expect(parsePolicy("disk: {freeMb: 0, sessionMb: 5}", file).disk).toEqual({ freeMb: 0, sessionMb: 5 });
    expect(() => parsePolicy("disk: {sessionMb: lots}", file)).toThrow(
      expect.objectContaining({ code: "INVALID_POLICY", fix: expect.stringContaining("such as sessionMb: 10240") }),
    );
  });

  it("has durations with units", () => {
    const { delegation } = parsePolicy("delegation: {workspaceLostMs: 10m}", file);
    expect(delegation.workspaceLostMs).toBe(600_000);
  });

  it("with an empty list of allowed tools differs from one without a list", () => {
    const { layer } = parsePolicy("tools: {allow: []}\nagents: {allow: []}", file);
    expect(layer).toMatchObject({ tools: [], agents: [] });
  });
});

describe("a mistake is reported with its line, its key and the next step", () => {
  it.each([
    ["tool: {deny: [shell]}", "line 1: tool: there is no such key", "did you mean tools?"],
    ["tools:\n  dney: [shell]", "line 2: tools.dney: there is no such key", "did you mean deny?"],
    ["agents: {deny: [coder]}", "line 1: agents.deny: there is no such key", "use one of: allow, disabled"],
    ["risk: {critical: ask}", "line 1: risk.critical: there is no such key", "use one of: low, medium, high"],
    ["risk:\n  low: allow\n  high: aks", "line 3: risk.high: Invalid option", "did you mean ask?"],
    ["risk: {high: no}", "line 1: risk.high: Invalid option", "write allow, ask or deny"],
    ["sandbox: {mode: requierd}", "line 1: sandbox.mode: Invalid option", "did you mean required?"],
    ["sandbox: {mode: 1}", "line 1: sandbox.mode: Invalid option", "write auto, required, off"],
    ["sandbox: {network: maybe}", "line 1: sandbox.network", "write network: true or network: false"],
    [
      "sandbox: {processes: 1}",
      "line 1: sandbox.processes",
      "write a whole number that is large enough, such as processes: 512",
    ],
    ["sandbox: {readable: opt}", "line 1: sandbox.readable", "write a list of absolute paths: readable: [/opt/data]"],
    ["sandbox: {readable: [opt]}", "line 1: sandbox.readable.0", "write a list of absolute paths"],
    ["delegation: {noHost: que}", "line 1: delegation.noHost: Invalid option", "did you mean queue?"],
    ["delegation: {noHost: 1}", "line 1: delegation.noHost: Invalid option", "write fail or queue"],
    ["delegation: {workspaceLostMs: soon}", 'delegation.workspaceLostMs: "soon" is not a duration; expected', "10m"],
    ["delegation: {workspaceLostMs: 1}", "line 1: delegation.workspaceLostMs", "write milliseconds, at least 1000"],
    ["writes: src", "line 1: writes: Invalid input", "write a list of folders: writes: [src, test]"],
    ["cacheReads: maybe", "line 1: cacheReads: Invalid input", "write cacheReads: true or cacheReads: false"],
    ["tools:\n", "line 1: tools: Invalid input", "write keys and values, such as tools: {allow: …}"],
    ["tools:\n  deny: shell", "line 2: tools.deny: Invalid input", "write a list of names: deny: [a, b]"],
    ["tools:\n  deny:\n", "line 2: tools.deny: Invalid input", "write a list of names: deny: [a, b]"],
    ["tools:\n  deny:\n    - shell\n    - ''", "line 4: tools.deny.1:", "write a name"],
    ["tools:\n  deny:\n    - 1", "line 3: tools.deny.0:", "write a name"],
    ["agents: {disabled: ['*']}", "line 1: agents.disabled.0:", "to allow no agents, write agents: {allow: []}"],
    ["agents: {disabled: [a b]}", "line 1: agents.disabled.0:", "write a name"],
    ["deny shell", "line 1: Invalid input", "write keys and values, such as tools: {allow: …}"],
    ["tools: {}\ntools: {}", "line 2: Map keys must be unique", "correct line 2 of policy.yaml"],
    ["tools: [", "line 1: ", "correct line 1 of policy.yaml"],
    ["tools: !secret {}", "line 1: Unresolved tag", "correct line 1 of policy.yaml"],
    ["tools: {}\n---\nrisk: {}", "multiple documents", "correct line 2 of policy.yaml"],
  ])("%j", (text, message, fix) => {
    expect(() => parsePolicy(text, file)).toThrow(
      expect.objectContaining({
        code: "INVALID_POLICY",
        message: expect.stringMatching(new RegExp(`^/home/policy.yaml is not a policy: .*${escaped(message)}`)),
        fix: expect.stringContaining(fix),
      }),
    );
  });

  it("several are reported in the order of their lines", () => {
    const text = "risk: {high: aks}\nagents: {x: 1}\ntools: {y: 1}\nz: 1";
    expect(() => parsePolicy(text, file)).toThrow(
      expect.objectContaining({
        message: expect.stringMatching(/line 1: .*line 2: .*line 3: .*\(and 1 more\)$/),
        fix: "line 1 of policy.yaml: did you mean ask?",
      }),
    );
  });

  it("aliases that expand cannot fill the memory", () => {
    const levels = Array.from({ length: 12 }, (_, i) => `a${i + 1}: &a${i + 1} [${`*a${i},`.repeat(9)}*a${i}]`);
    expect(() => parsePolicy(["a0: &a0 [x]", ...levels].join("\n"), file)).toThrow(
      expect.objectContaining({ code: "INVALID_POLICY" }),
    );
  });
});

describe("a policy's file", () => {
  it("is read", async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), "troupe-policy-"));
    const path = join(folder.path, "policy.yaml");
    await writeFile(path, "risk: {low: deny}");
    expect((await loadPolicy(path)).risk.low).toBe("deny");
  });

  it("is optional", async () => {
    expect(await loadPolicy("/nonexistent/policy.yaml")).toEqual(defaultPolicy);
  });

  it("that cannot be read does not count as an empty policy", async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), "troupe-policy-"));
    const path = join(folder.path, "policy.yaml");
    await mkdir(path);
    await expect(loadPolicy(path)).rejects.toMatchObject({
      code: "INVALID_POLICY",
      message: expect.stringContaining(path),
      fix: expect.stringContaining("remove it"),
    });
  });
});

describe("unknown tool names in a policy", () => {
  const specs = [
    ToolSpec.parse({ name: "shell", description: "x", risk: "low", effect: "read", groups: ["os"], inputSchema: {} }),
  ];

  it.each([
    ["deny: [shel]", ['tools.deny of the policy names "shel", but no tool here has that name: did you mean shell?']],
    ["allow: [web_fetch]", ['tools.allow of the policy names "web_fetch", but no tool here has that name']],
    ["deny: [shell, os, delegate, Task, mcp__github__*]", []],
    ['allow: ["*"]', []],
  ])("%s", (tools, warnings) => {
    expect(policyWarnings(parsePolicy(`tools: {${tools}}`, file), specs)).toEqual(warnings);
  });
});

function escaped(text: string): string {
  return text.replaceAll(/[.[\]{}()*+?^$|]/g, "\\$&");
}
