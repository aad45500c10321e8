import { execFileSync } from "node:child_process";
import { afterEach, describe, expect, test } from "vitest";
import { createFakeCli, removeTemporaryFolders } from "../testing/fake-cli.ts";
import { startOtherOwner } from "../testing/other-owner.ts";
import { aSession } from "../testing/rows.ts";
import { completionScript, shells } from "./completion.ts";

afterEach(removeTemporaryFolders);

async function offered(words: string[], cli = createFakeCli()): Promise<string[]> {
  expect(await cli.run("__complete", "--", ...words)).toBe(0);
  return cli.out().split("\n").filter(Boolean);
}

describe("a completion", () => {
  test.each<[string[], string[]]>([
    [["age"], ["agents"]],
    [["sessions", "sh"], ["show"]],
    [["agents", "va"], ["validate"]],
    [["logs", "--fo"], ["--follow"]],
    [["sessions", "show", "--tr"], ["--tree"]],
    [["completion", ""], []],
    [["run", "--workspace", ""], [":files"]],
    [["nothing", "like", "this"], []],
  ])("of %j offers %j", async (words, wanted) => {
    expect(await offered(words)).toEqual(wanted);
  });

  test("offers every command, and hides its own", async () => {
    const commands = await offered([""]);
    expect(commands).toEqual(expect.arrayContaining(["agents", "approvals", "run", "sessions", "up"]));
    expect(commands).not.toContain("__complete");
  });

  test("offers agents and sessions, with a description behind a tab", async () => {
    const cli = createFakeCli();
    const { troupe } = await startOtherOwner(cli);
    const row = aSession({ task: "say\thello\u001b[2J" });
    troupe.seed(row);
    expect(await offered(["sessions", "show", row.session.slice(0, 4)], cli)).toEqual([`${row.session}\tsay hello`]);
    const agents = await offered(["run", "--agent", ""]);
    expect(agents.length).toBeGreaterThan(0);
    expect(agents.filter((line) => !/^[\w/-]+\t\S/.test(line))).toEqual([]);
  });

  test("offers nothing and fails nowhere when the home cannot be read", async () => {
    const cli = createFakeCli({ home: "/dev/null/home" });
    expect(await offered(["sessions", "show", ""], cli)).toEqual([]);
    expect(cli.err()).toBe("");
  });
});

describe("the script", () => {
  test.each(shells)("of %s asks the program for the words", async (shell) => {
    const cli = createFakeCli();
    expect(await cli.run("completion", shell)).toBe(0);
    expect(cli.out()).toBe(`${completionScript(shell)}\n`);
    expect(cli.out()).toContain("troupe __complete -- ");
  });

  test("of bash fills the list of words", () => {
    const program = 'troupe() { printf "%b\\n" "show\\tone" "sessions"; [ "$3" = "sessions" ] && echo "third"; }';
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is a variable of bash
    const typed = 'COMP_WORDS=(troupe sessions s); COMP_CWORD=2; _troupe; printf "%s," "${COMPREPLY[@]}"';
    const text = execFileSync("bash", ["-c", `${program}\n${completionScript("bash")}\n${typed}`], {
      encoding: "utf8",
    });
    expect(text).toBe("show,sessions,third,");
  });

  test("of an unknown shell names the known ones", async () => {
    const cli = createFakeCli();
    expect(await cli.run("completion", "tcsh")).toBe(2);
    expect(cli.err()).toContain("Allowed choices are bash, zsh, fish");
  });
});
