/** The tarball of `pnpm pack-cli`, installed with `npm install --global` outside the checkout. */
import { mkdirSync, readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import { run } from "../../scripts/lib/command.ts";
import { root } from "../../scripts/lib/project.ts";
import { largeTempFolder, npmInstall, succeed } from "./npm.ts";

export interface InstalledBundle {
  /** The command that npm put on the PATH. */
  troupe: string;
  /** The folder of the program's files. */
  program: string;
  /** The folder with the libraries from the registry, and with our own packages. */
  libraries: string;
  /** The folder with the tarball of each package. */
  tarballs: string;
  remove(): Promise<void>;
}

export async function installBundle(): Promise<InstalledBundle> {
  const temporary = largeTempFolder("troupe-bundle-");
  const [home, prefix, tarballs] = [join(temporary, "home"), join(temporary, "prefix"), join(temporary, "tarballs")];
  mkdirSync(home);
  const [, ...words] = manifest.scripts["pack-cli"].split(" ");
  const pack = [process.execPath, ...words, "--out", temporary, "--packages", tarballs];
  await succeed(run(pack, { cwd: root, output: "capture" }));
  const [tarball = ""] = readdirSync(temporary).filter((name) => name.endsWith(".tgz"));
  await npmInstall({ folder: temporary, home, words: ["--global", "--prefix", prefix, join(temporary, tarball)] });
  const installed = join(prefix, "lib", "node_modules", "@troupe", "cli");
  return {
    troupe: join(prefix, "bin", "troupe"),
    program: join(installed, "dist", "program"),
    libraries: join(installed, "node_modules"),
    tarballs,
    remove: () => rm(temporary, { recursive: true, force: true }),
  };
}
