// A home as the workspace: its secrets stay hidden from every command, whatever other rule names the same path.
import { link, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, vi } from "vitest";
import { containing, planned, runLine, sandboxTest as test } from "./sandbox.fixture.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

const secrets = [
  ...[".ssh/id_ed25519", ".gnupg/private-keys-v1.d/k", ".config/gh/hosts.yml", ".netrc", ".npmrc", ".bash_history"],
  ...[".claude/.credentials.json", ".mozilla/firefox/p/logins.json", ".local/share/keyrings/login.keyring"],
  ...["dotfiles/aws/credentials", ".troupe/token", ".cargo/credentials.toml"],
];

async function makeHome(folder: string): Promise<string> {
  const home = join(folder, "home");
  for (const path of [...secrets, "notes.txt", ".config/other/x"]) {
    await mkdir(dirname(join(home, path)), { recursive: true });
    await writeFile(join(home, path), path === "notes.txt" ? "notes" : "SECRET");
  }
  await symlink("dotfiles/aws", join(home, ".aws"));
  await writeFile(join(home, ".config/other/x"), "other");
  vi.stubEnv("HOME", home);
  return home;
}

/** The write scopes of a command. */
const grants: readonly (readonly [string, string[][]])[] = [
  ["may write everywhere", []],
  ["may write in one folder", [[".config"]]],
  ["may only read", [[]]],
];

for (const kind of containing) {
  describe(`${kind}: in a home`, () => {
    const isPlanned = planned.includes(kind);
    const readAll = "find . -type f -exec cat {} + 2> /dev/null; cat .aws/credentials .ssh/id_ed25519";

    test.for(grants.filter((_, i) => isPlanned || i === 0))(
      "a command that %s sees no secret",
      async ([, writes], { sandboxOf, folder }) => {
        const home = await makeHome(folder);
        const sandbox = await sandboxOf(
          kind,
          { readable: [join(home, ".ssh"), join(home, ".gnupg/private-keys-v1.d")] },
          {
            hidden: [join(home, ".troupe")],
          },
        );
        const end = await runLine(sandbox, home, readAll, { writes });
        expect(end.output).not.toContain("SECRET");
        expect(end.stdout).toContain("notes");
        expect(end.stdout).toContain("other");
      },
    );

    test("a command cannot write to a secret", async ({ sandboxOf, folder }) => {
      const home = await makeHome(folder);
      const sandbox = await sandboxOf(kind, {}, { hidden: [join(home, ".troupe")] });
      const line = secrets
        .map((path) => `echo evil > ${path}; rm -f ${path}; echo evil > ${dirname(path)}/made`)
        .join("\n");
      await runLine(sandbox, home, `${line}\necho ok`);
      for (const path of secrets) expect(await readFile(join(home, path), "utf8"), path).toBe("SECRET");
    });

    test("a secret that comes between two commands is hidden from the next one", async ({ sandboxOf, folder }) => {
      const home = join(folder, "home");
      await mkdir(join(home, "keys"), { recursive: true });
      await writeFile(join(home, "notes.txt"), "notes");
      vi.stubEnv("HOME", home);
      const sandbox = await sandboxOf(kind);
      const line = "cat notes.txt; find . -type f -exec cat {} + 2> /dev/null; cat .aws/credentials";
      expect((await runLine(sandbox, home, line)).stdout).toBe("notesnotes");
      await mkdir(join(home, ".ssh"));
      await writeFile(join(home, ".ssh/id_ed25519"), "SECRET");
      expect((await runLine(sandbox, home, line)).stdout).toBe("notesnotes");
      await writeFile(join(home, "keys/credentials"), "SECRET");
      await symlink("keys", join(home, ".aws"));
      const ends = await Promise.all([runLine(sandbox, home, line), runLine(sandbox, home, line)]);
      expect(ends.map(({ stdout }) => stdout)).toEqual(["notesnotes", "notesnotes"]);
    });

    test("a folder that becomes a home between two commands shows no secret to the next ones", async ({
      sandboxOf,
      folder,
    }) => {
      const home = await makeHome(folder);
      vi.stubEnv("HOME", join(folder, "elsewhere"));
      const sandbox = await sandboxOf(kind);
      expect((await runLine(sandbox, home, readAll)).stdout).toContain("SECRET");
      vi.stubEnv("HOME", home);
      const line = `${readAll} .netrc`;
      const ends = await Promise.all([runLine(sandbox, home, line), runLine(sandbox, home, line)]);
      for (const { stdout } of ends) {
        expect(stdout).toContain("notes");
        // The folder of troupe is hidden by its host only.
        expect(stdout.replace("SECRET", "")).not.toContain("SECRET");
      }
    });

    if (!isPlanned) return;

    test("a command cannot uncover a secret for the next one", async ({ sandboxOf, folder }) => {
      const home = await makeHome(folder);
      const sandbox = await sandboxOf(kind, {}, { hidden: [join(home, ".troupe")] });
      const moves = `for at in .config .local .ssh .gnupg .troupe dotfiles .cargo .claude; do mv $at moved-$at; mkdir -p $at; done
        rm -f .aws .netrc .npmrc; ln .netrc linked; ln .npmrc linked2`;
      await runLine(sandbox, home, moves);
      const end = await runLine(sandbox, home, readAll);
      expect(end.output).not.toContain("SECRET");
      for (const path of secrets) expect(await readFile(join(home, path), "utf8"), path).toBe("SECRET");
    });

    test("a project that a link of a home leads to shows nothing of that secret", async ({ sandboxOf, folder }) => {
      const home = await makeHome(folder);
      const project = join(home, "dotfiles");
      await writeFile(join(project, "readme"), "readme");
      await link(join(home, ".netrc"), join(home, ".config/other/linked"));
      const end = await runLine(await sandboxOf(kind), project, "cat readme aws/credentials");
      expect(end.stdout).toBe("readme");
    });
  });
}
