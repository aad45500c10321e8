/** An undo of the changes of a shell command: deleted, overwritten, created, linked, and with other bits. */
import { chmod, lstat, mkdir, readFile, readlink, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, it } from "vitest";
import { troupe } from "../harness/cli.ts";
import { startDaemonInProcess } from "../harness/daemon.ts";
import { writePolicy } from "../harness/home-files.ts";
import { writeScenario } from "../harness/scenario-file.ts";
import { responseOf } from "../harness/session-queries.ts";
import { tempFolder } from "../harness/temp-folder.ts";

const command = [
  "rm -rf notes",
  "echo changed > kept.txt",
  "echo new > made.txt",
  "chmod +x plain.sh",
  "ln -sfn made.txt link",
  "mv tool.sh moved.sh",
].join("; ");

it("restores the files that a command changed", async (test) => {
  const home = await tempFolder("undo-commands", test);
  const workspace = await tempFolder("undo-commands-work", test);
  const at = (name: string): string => path.join(workspace, name);
  await mkdir(at("notes"));
  await writeFile(at("notes/only-copy.txt"), "a year of work\n");
  for (const name of ["kept.txt", "plain.sh", "tool.sh"]) await writeFile(at(name), `old ${name}\n`);
  await chmod(at("tool.sh"), 0o755);
  await symlink("kept.txt", at("link"));
  await writePolicy(home, "risk: {high: allow}\ncommands: {loss: allow}\n");
  const calls = [{ tool: "shell", args: { command } }];
  const scenario = await writeScenario(home, { coder: [{ steps: [{ calls }, { text: "tidied up" }] }] });
  const daemon = await startDaemonInProcess({ home, test });
  const { session, run } = await daemon.client.submit({
    task: "tidy",
    agent: "coder",
    scenario,
    workspace,
    origin: "api",
  });
  await responseOf(daemon, session);
  expect(await readFile(at("kept.txt"), "utf8")).toBe("changed\n");

  const undone = await troupe(["undo", run, "--yes"], { home });
  expect(undone).toMatchObject({ code: 0 });
  expect(await readFile(at("notes/only-copy.txt"), "utf8")).toBe("a year of work\n");
  for (const name of ["kept.txt", "plain.sh", "tool.sh"]) {
    expect(await readFile(at(name), "utf8")).toBe(`old ${name}\n`);
  }
  expect(await readlink(at("link"))).toBe("kept.txt");
  const bits = async (name: string): Promise<number> => (await lstat(at(name))).mode & 0o777;
  expect([await bits("plain.sh"), await bits("tool.sh")]).toEqual([0o644, 0o755]);
  for (const name of ["made.txt", "moved.sh"]) expect(await lstat(at(name)).catch(() => "gone")).toBe("gone");
});
