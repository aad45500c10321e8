/** Each command of docs/guides/sessions-as-files.md works, and each example in the help of these commands. */
import { readFile } from "node:fs/promises";
import { it } from "vitest";
import type { CliResult } from "../harness/cli.ts";
import { startDaemonInProcess } from "../harness/daemon.ts";
import { commandsIn, readGuide, wordsOf } from "../harness/guide.ts";
import { tempFolder } from "../harness/temp-folder.ts";
import { until } from "../harness/until.ts";
import { recordSession } from "./recorded-session.ts";

const timeout = 240_000;

it("the guide to sessions as files works as it is written", { timeout }, async (test) => {
  const { expect } = test;
  const { cli, cliOf, session, root, folder, home, env } = await recordSession(test);
  const daemon = await startDaemonInProcess({ home, env, test });
  const commands = commandsIn(await readGuide("sessions-as-files"));
  expect(commands).toHaveLength(10);
  let forked = "";
  const homes: Record<string, string> = {};
  for (const name of ["import", "replay", "restore"]) homes[name] = await tempFolder("files-guide", test);
  homes.replay = homes.import ?? "";
  for (const line of commands) {
    const words = wordsOf(line).slice(1);
    const ids: Record<string, string> = {
      "01a1f718": session,
      "01a1f718-2a97": session,
      "01a1f718-9ef2": forked,
      "c3ebfbe1/2": `${root}/2`,
    };
    const real = words.map((word) => ids[word] ?? word);
    const elsewhere = homes[words.find((word) => word in homes) ?? ""];
    const ran: CliResult = elsewhere ? await cliOf(elsewhere, ...real) : await cli(...real);
    expect(ran.code, `${line}: ${ran.stderr}`).toBe(words.includes("diff") ? 1 : 0);
    if (!words.includes("fork")) continue;
    forked = /^forked session (\S+)/.exec(ran.stdout)?.[1] ?? "";
    await until(async () => (await daemon.client.session(forked)).session.status === "completed");
  }
  expect(forked).not.toBe("");
  expect(await readFile(`${folder}/session.html`, "utf8")).toContain("There are three doors.");
});

it("each example in the help of these commands runs", { timeout }, async (test) => {
  const { expect } = test;
  const { cli, session, root } = await recordSession(test);
  const other = await recordSession(test, { task: "count the windows of the house" });
  const groups = ["export", "import", "fork", "diff", "rm"].map((name) => ["sessions", name]);
  const ids: Record<string, string> = { "0199c2a4": session, "0199c2b7": session, "0199c2a4/2": `${root}/2` };
  await cli("sessions", "export", session, "--out", "session.jsonl");
  for (const words of [...groups, ["record", "verify"], ["record", "rebuild"], ["backup"], ["restore"]]) {
    const help = (await cli(...words, "--help")).stdout;
    const [, example = ""] = /Example:\n {2}\$ (troupe .*)/.exec(help) ?? [];
    expect(example, words.join(" ")).toContain(`troupe ${words.join(" ")}`);
    const given = wordsOf(example)
      .slice(1)
      .map((word) => ids[word] ?? word);
    if (words[0] === "restore") await cli("backup", other.at("troupe.backup"));
    const home = words[0] === "restore" ? await tempFolder("files-examples", test) : null;
    const ran = home === null ? await cli(...given) : await other.cliOf(home, ...given);
    expect(ran.code, `${example}: ${ran.stderr}`).toBe(0);
  }
});
