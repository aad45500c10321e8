import { afterEach, describe, expect, test } from "vitest";
import { createFakeCli, removeTemporaryFolders } from "../testing/fake-cli.ts";
import { createOfflineCli } from "../testing/offline-troupe.ts";
import { aRun, aSession } from "../testing/rows.ts";

// The granted tools of a run with their reasons, and the state machines.

afterEach(removeTemporaryFolders);

const session = "0198a222-0000-7000-8000-000000000002";
const child = "5c5c5c5c-0000-8000-8000-000000000004";

function settled() {
  const row = aSession({ session });
  const runs = [aRun({ run: row.rootRun, session }), aRun({ run: child, session, parentRun: row.rootRun, order: 1 })];
  return createOfflineCli([{ row, runs }]).cli;
}

describe("explain", () => {
  test("names the layer that took a tool away", async () => {
    const cli = settled();
    expect(await cli.run("explain", "5c5c")).toBe(0);
    expect(cli.out().trimEnd().split("\n")).toEqual([
      `run     ${child}`,
      "agent   lead",
      "layers  policy ∩ session ∩ lead",
      "",
      "KIND   NAME   GRANTED  WHY",
      "tool   read   ✓ yes    let through by every layer",
      "tool   shell  ✗ no     not in tools of lead",
      "agent  coder  ✓ yes    let through by every layer",
    ]);
  });

  test("shows one named tool or agent, and the root of a named session", async () => {
    const cli = settled();
    expect(await cli.run("explain", session, "shell", "--json")).toBe(0);
    expect(JSON.parse(cli.out())).toMatchObject({
      session,
      verdicts: [{ kind: "tool", name: "shell", granted: false, removedBy: "lead" }],
    });
  });

  test.each([
    [
      ["explain", "5c5c", "shel"],
      /no tool or agent "shel"; available: read, shell, coder\nfix: {3}did you mean shell\?/,
    ],
    [["explain", "5c5c", "xylophone"], /no tool or agent "xylophone"; .*\nfix: {3}troupe explain 5c5c/],
    [["explain", "77"], /there is no run "77"/],
    [["explain"], /missing required argument 'run'/],
  ])("%j is refused with 2", async (args, message) => {
    const cli = settled();
    expect(await cli.run(...args)).toBe(2);
    expect(cli.err()).toMatch(message);
  });
});

describe("inspect machine", () => {
  test.each([
    [[], /^stateDiagram-v2\n {2}\[\*\] --> intent\n/],
    [["agent"], /\n {2}state execute \{/],
    [["delegation"], /^stateDiagram-v2\n {2}\[\*\] --> queued\n/],
    [["batch"], /^stateDiagram-v2\n {2}\[\*\] --> /],
  ])("%j is a Mermaid diagram", async (args, diagram) => {
    const cli = createFakeCli();
    expect(await cli.run("inspect", "machine", ...args)).toBe(0);
    expect(cli.out()).toMatch(diagram);
    expect(cli.err()).toBe("");
  });

  test.each(["agent", "delegation", "batch"])("--json is the definition of %s", async (name) => {
    const cli = createFakeCli();
    expect(await cli.run("inspect", "machine", name, "--json")).toBe(0);
    const definition = JSON.parse(cli.out());
    expect(definition).toMatchObject({ id: name, type: "compound" });
    expect(Object.keys(definition.states)).toContain("settled");
  });

  test("an unknown name is refused with the known names", async () => {
    const cli = createFakeCli();
    expect(await cli.run("inspect", "machine", "toString")).toBe(2);
    expect(cli.err()).toMatch(
      /no machine "toString"; available: agent, delegation, batch\nfix: {3}troupe inspect machine agent/,
    );
  });
});
