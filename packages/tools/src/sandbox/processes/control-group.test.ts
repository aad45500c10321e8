// Control groups. A machine that cannot create any skips the test.
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { runLine, sandboxTest as test } from "../sandbox.fixture.ts";
import { findControllers } from "./control-group.ts";

const controllers = await findControllers();
const folder = controllers?.pids ?? controllers?.memory ?? null;

test.skipIf(folder === null)(
  "the groups of a command are removed with it, and leftover groups at the next start",
  async ({ sandboxOf, workspace }) => {
    if (folder === null) throw new Error("no control groups");
    const mine = () => readdirSync(folder).filter((name) => name.startsWith(`troupe-${process.pid}-`));
    const sandbox = await sandboxOf("process-group");
    await runLine(sandbox, workspace, "sleep 60 & true");
    expect(mine()).toEqual([]);

    const { pid } = spawnSync("true");
    mkdirSync(join(folder, `troupe-${pid}-1`));
    await findControllers();
    expect(readdirSync(folder)).not.toContain(`troupe-${pid}-1`);
  },
);
