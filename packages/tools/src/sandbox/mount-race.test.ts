// A command of an agent exchanges a folder with a link while other commands of its workspace are prepared and cleaned up.
// A sandbox that finds a folder by its name and mounts, restores or removes it by its name later is led out.
import { execFile } from "node:child_process";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, inject, test } from "vitest";
import type { MountRace } from "./mount-race.test-helper.ts";
import { containing, runLine, sandboxTest } from "./sandbox.fixture.ts";

const helper = join(import.meta.dirname, "mount-race.test-helper.ts");
const users = process.getuid?.() === 0 ? ["root", "ordinary"] : ["this user"];
/** In the normal run, each of the three targets of the link meets each of the six ways of a command. */
const tries = inject("long") ? 1_200 : 18;

for (const [k, kind] of containing.entries()) {
  /** In the normal run, each backend meets one of the users. */
  const usersOfKind = inject("long") ? users : users.filter((_, u) => (u + k) % users.length === users.length - 1);
  describe.concurrent(`${kind}: a folder that is exchanged with a link while commands are prepared`, () => {
    test.for(usersOfKind)(
      "leads none of them, and no clean-up, out of the workspace, as user: %s",
      { timeout: 3_600_000 },
      async (user) => {
        const { stdout } = await promisify(execFile)(process.execPath, [helper, kind, `${tries}`, user]).catch(
          (error: { stdout: string }) => error,
        );
        const race: MountRace = JSON.parse(stdout);
        expect(race.escapes).toEqual([]);
        expect(race.tries).toBe(tries);
        // The race would prove nothing if every command were refused, or if no name were exchanged.
        expect(race.ran).toBeGreaterThan(tries / 4);
        expect(race.exchanges).toBeGreaterThan(tries);
      },
    );
  });
}

/** By its path: the program of the test comes first in the search path. */
const mountOfTheMachine = 'for at in /usr/bin /bin /usr/sbin /sbin; do [ ! -x $at/mount ] || exec $at/mount "$@"; done';

sandboxTest(
  "a protected folder that is exchanged right before it is mounted stays as it is",
  async ({ programs, sandboxOf, folder, workspace }) => {
    const settings = join(workspace, "b/.claude/settings.json");
    await mkdir(join(workspace, "a/.claude"), { recursive: true });
    await writeFile(join(workspace, "a/.claude/settings.json"), "{}");
    // Takes the place of another command, at the worst moment.
    const exchange = `[ -e ${workspace}/b ] || { mv ${workspace}/a ${workspace}/b; mkdir -p ${workspace}/a/.claude; }`;
    const mount = join(programs, "namespaces", "mount");
    await mkdir(join(programs, "namespaces"));
    await writeFile(mount, `#!/bin/sh\n[ ! -e ${folder}/armed ] || ${exchange}\n${mountOfTheMachine}\n`);
    await chmod(mount, 0o755);
    const sandbox = await sandboxOf("namespaces");
    expect(sandbox.kind).toBe("namespaces");
    await writeFile(join(folder, "armed"), "");
    const end = await runLine(sandbox, workspace, "echo evil > b/.claude/settings.json");
    expect(end.output).toContain("Read-only file system");
    expect(await readFile(settings, "utf8")).toBe("{}");
  },
);
