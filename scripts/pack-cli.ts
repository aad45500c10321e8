import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { build } from "./lib/build.ts";
import { bundledManifest, type PackageManifest, withoutDependencies } from "./lib/bundled-manifest.ts";
import { pnpmCommand, run, say } from "./lib/command.ts";
import { cleanEnvironment } from "./lib/environment.ts";
import { callerFolder, root } from "./lib/project.ts";

/**
 * `pnpm pack-cli`: builds one tarball that holds the command line and all packages of this repository that it needs. npm
 * installs it anywhere, with the other dependencies from the registry. Prints the path of the tarball on stdout.
 */

const help = `Usage: npx -y pnpm@12 pack-cli [--out DIR] [--packages DIR]

Builds a tarball of the command line. Other machines install it with npm, without this checkout.

  --out DIR        folder of the tarball (default: dist in the checkout)
  --packages DIR   also stores the tarball of each package here

Example:
  $ npm install --global "$(npx -y pnpm@12 --silent pack-cli)"
`;

const cliPackage = "@troupe/cli";

async function main(args: string[]): Promise<number> {
  // pnpm passes on a separating `--`.
  const given = args[0] === "--" ? args.slice(1) : args;
  const { values } = parseArgs({
    args: given,
    options: { out: { type: "string" }, packages: { type: "string" }, help: { type: "boolean", short: "h" } },
  });
  if (values.help) {
    process.stdout.write(help);
    return 0;
  }
  if (!(await build({ onlyIfStale: true }))) return 1;
  const out = values.out === undefined ? join(root, "dist") : resolve(callerFolder(), values.out);
  mkdirSync(out, { recursive: true });
  // In the folder of the result, so that the last step is a rename.
  const temporary = mkdtempSync(join(out, ".pack-"));
  try {
    const tarball = await packBundle(temporary);
    const result = join(out, tarball);
    renameSync(join(temporary, tarball), result);
    if (values.packages !== undefined) {
      cpSync(join(temporary, "tarballs"), resolve(callerFolder(), values.packages), { recursive: true });
    }
    say(`install it: npm install --global ${result}`);
    process.stdout.write(`${result}\n`);
    return 0;
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** Packs every package as for the registry, and puts the others into `node_modules` of the command line's. */
async function packBundle(temporary: string): Promise<string> {
  const tarballs = join(temporary, "tarballs");
  const pack = ["--recursive", "--filter", `${cliPackage}...`, "pack", "--pack-destination", tarballs];
  await succeed([...pnpmCommand(), ...pack], root);

  const unpacked = await Promise.all(readdirSync(tarballs).map((name) => unpack(join(tarballs, name), temporary)));
  const cli = unpacked.find(({ manifest }) => manifest.name === cliPackage);
  if (!cli) throw new Error(`pnpm packed no ${cliPackage}`);
  const others = unpacked.filter((each) => each !== cli);
  for (const { folder, manifest } of others) {
    const target = join(cli.folder, "node_modules", manifest.name);
    mkdirSync(join(target, ".."), { recursive: true });
    renameSync(folder, target);
    writeManifest(target, withoutDependencies(manifest));
  }
  const bundled = bundledManifest(
    cli.manifest,
    others.map(({ manifest }) => manifest),
  );
  writeManifest(cli.folder, bundled);
  const name = `troupe-cli-${cli.manifest.version}.tgz`;
  await succeed(["tar", "-czf", join(temporary, name), "-C", join(cli.folder, ".."), "package"], temporary);
  return name;
}

async function unpack(tarball: string, temporary: string): Promise<{ folder: string; manifest: PackageManifest }> {
  const folder = mkdtempSync(join(temporary, "unpacked-"));
  await succeed(["tar", "-xzf", tarball, "-C", folder], temporary);
  const content = join(folder, "package");
  return { folder: content, manifest: JSON.parse(readFileSync(join(content, "package.json"), "utf8")) };
}

function writeManifest(folder: string, manifest: PackageManifest): void {
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
}

async function succeed(command: string[], cwd: string): Promise<void> {
  // Otherwise macOS adds its own files to the archive.
  const env = { ...cleanEnvironment(), COPYFILE_DISABLE: "1" };
  const { code, output } = await run(command, { cwd, env, output: "capture" });
  if (code !== 0) throw new Error(`${command.join(" ")} failed:\n${output}`);
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  say(`error: ${error instanceof Error ? error.message : String(error)}`);
  say("fix:   npx -y pnpm@12 pack-cli --help");
  process.exitCode = 1;
}
