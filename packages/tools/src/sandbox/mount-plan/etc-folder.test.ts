import { chmod, mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { containing, planned, runLine, sandboxTest as test } from "../sandbox.fixture.ts";
import { etcTable } from "./etc-table.ts";
import { planMachineFolders } from "./machine-folders.ts";

/** Settings of a machine: some that programs need, and some with tokens that every user may read. */
const settings: Readonly<Record<string, string>> = {
  passwd: "root:x:0:0::/root:/bin/sh",
  "ssl/certs/ca.crt": "CERTIFICATE",
  "ssl/private/key.pem": "SECRET",
  "ssl/certs/own.key": "SECRET",
  "java-99/net.properties": "java",
  npmrc: "SECRET",
  gitconfig: "SECRET",
  "pip.conf": "SECRET",
  environment: "SECRET",
  "profile.d/proxy.sh": "SECRET",
  "maven/m2.conf": "maven",
  "maven/settings.xml": "SECRET",
  "resolv.conf": "nameserver",
  "machine-id": "SECRET",
  "apt/auth.conf": "SECRET",
  "new-tool.conf": "SECRET",
  "hosts.real": "127.0.0.1 localhost",
};

async function writeSettings(folder: string): Promise<string> {
  const etc = join(folder, "etc");
  for (const [name, text] of Object.entries(settings)) {
    await mkdir(dirname(join(etc, name)), { recursive: true });
    await writeFile(join(etc, name), text, { mode: 0o644 });
  }
  await chmod(join(etc, "ssl/certs/own.key"), 0o640);
  await symlink("hosts.real", join(etc, "hosts"));
  return etc;
}

for (const kind of planned) {
  test(`${kind}: commands see only the listed settings of the machine`, async ({ sandboxOf, folder, workspace }) => {
    const etc = await writeSettings(folder);
    const sandbox = await sandboxOf(kind, {}, { etc });
    const seen = await runLine(sandbox, workspace, `cd ${etc}; find . -type f | sort | xargs tail -n +1 -q; echo; ls`);
    expect(seen.output).not.toContain("SECRET");
    expect(seen.stdout).toContain("CERTIFICATE");
    expect(seen.stdout).toMatch(/\nhosts\nhosts.real\njava-99\nmaven\npasswd\nssl\n$/);
    expect((await runLine(sandbox, workspace, `cat ${etc}/hosts ${etc}/maven/m2.conf`)).stdout).toContain("localhost");

    const more = await sandboxOf(kind, { network: true, readable: [join(etc, "new-tool.conf")] }, { etc });
    const added = await runLine(more, workspace, `cat ${etc}/new-tool.conf ${etc}/resolv.conf ${etc}/npmrc`);
    expect(added.stdout).toBe("SECRETnameserver");
  });

  test(`${kind}: of this machine's settings, commands see none that are not listed`, async ({ run }) => {
    const names = (await run(kind, "ls /etc")).stdout.trim().split("\n");
    const listed = etcTable.flatMap(({ paths }) => paths.map((path) => path.split("/")[0]?.replace("*", ".*")));
    const pattern = new RegExp(`^(${listed.join("|")})$`);
    expect(names.filter((name) => !pattern.test(name))).toEqual([]);
    expect(names).toEqual(expect.arrayContaining(["passwd", "group", "hosts"]));
  });

  test(`${kind}: a setting that becomes private is not visible to the next command`, async ({
    sandboxOf,
    folder,
    workspace,
  }) => {
    const etc = await writeSettings(folder);
    const sandbox = await sandboxOf(kind, {}, { etc });
    const line = `cat ${etc}/ssl/certs/ca.crt; cat ${etc}/passwd; true`;
    expect((await runLine(sandbox, workspace, line)).stdout).toContain("CERTIFICATE");
    await chmod(join(etc, "ssl/certs/ca.crt"), 0o600);
    expect((await runLine(sandbox, workspace, line)).stdout).toBe(settings.passwd);
    await chmod(join(etc, "passwd"), 0o600);
    await chmod(join(etc, "ssl/certs"), 0o700);
    expect((await runLine(sandbox, workspace, line)).stdout).toBe("");
    await chmod(join(etc, "ssl/certs"), 0o755);
    await chmod(join(etc, "ssl/certs/ca.crt"), 0o644);
    await writeFile(join(etc, "ssl/certs/new.key"), "SECRET", { mode: 0o600 });
    expect((await runLine(sandbox, workspace, `cat ${etc}/ssl/certs/*`)).stdout).toBe("CERTIFICATE");
  });

  test(`${kind}: a program that is installed or removed is so for the next command`, async ({
    sandboxOf,
    folder,
    programs,
    workspace,
  }) => {
    const bin = join(folder, "late", "bin");
    await sandboxOf(kind);
    const sandbox = await sandboxOf(kind, {}, { path: `${join(programs, kind)}:${bin}` });
    expect((await runLine(sandbox, workspace, "late-tool")).code).toBe(127);
    await mkdir(bin, { recursive: true });
    await mkdir(join(folder, "late", "lib"));
    await writeFile(join(bin, "late-tool"), `#!/bin/sh\nls ${folder}/late\n`, { mode: 0o755 });
    expect((await runLine(sandbox, workspace, "late-tool")).stdout).toBe("bin\nlib\n");
    await rm(join(folder, "late"), { recursive: true });
    expect((await runLine(sandbox, workspace, "late-tool || echo gone")).stdout).toBe("gone\n");
  });
}

for (const kind of containing) {
  test(`${kind}: a setting that becomes private is not visible to commands that start together`, async ({
    sandboxOf,
    folder,
    workspace,
  }) => {
    const etc = await writeSettings(folder);
    const sandbox = await sandboxOf(kind, {}, { etc });
    const line = `cat ${etc}/passwd; true`;
    expect((await runLine(sandbox, workspace, line)).stdout).toBe(settings.passwd);
    await chmod(join(etc, "passwd"), 0o600);
    // Each is planned before another one finds that the plan is outdated.
    const ends = await Promise.all(Array.from({ length: 4 }, () => runLine(sandbox, workspace, line)));
    expect(ends.map(({ stdout }) => stdout)).toEqual(["", "", "", ""]);
  });
}

test("a plan is current until an answer of the machine changes", async ({ folder }) => {
  const etc = await writeSettings(folder);
  const plan = () =>
    planMachineFolders({ path: "/usr/bin", hidden: [], readable: [], network: false, etc, home: folder });
  const first = plan();
  expect(first.isCurrent()).toBe(true);
  // A mount shows the present contents, so no new plan is needed.
  await writeFile(join(etc, "passwd"), "changed");
  expect(first.isCurrent()).toBe(true);
  await mkdir(join(folder, ".ssh"));
  expect(first.isCurrent()).toBe(false);
  expect(plan().isCurrent()).toBe(true);
});

test("each listed setting has a reason, and a star is in a name directly in the folder", () => {
  for (const { paths, reason } of etcTable) {
    expect(reason.length).toBeGreaterThan(5);
    for (const path of paths) expect(path).toMatch(/^[\w.-]+(\*|(\/[\w.-]+)*)$/);
  }
});
