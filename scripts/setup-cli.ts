import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { build } from "./lib/build.ts";
import { findOnPath, say } from "./lib/command.ts";
import { installLauncher, LauncherError, launcherFile, removeLauncher } from "./lib/launcher.ts";
import { callerFolder, root } from "./lib/project.ts";
import { addToPathCommand, isOnPath, userBinFolder } from "./lib/user-path.ts";

/**
 * `pnpm setup-cli`: installs a launcher, so that `troupe` runs this checkout from any folder. (pnpm's own commands use the
 * names `setup`, `link`, `bin` and `shim`.)
 */

const help = `Usage: npx -y pnpm@12 setup-cli [--dir DIR] [--force] [--remove]

Installs a launcher named troupe, so that the command troupe runs this checkout from any folder.

  --dir DIR   folder of the launcher (default: XDG_BIN_HOME, or ~/.local/bin)
  --force     overwrite another program's file named troupe
  --remove    remove the launcher

Example:
  $ npx -y pnpm@12 setup-cli
  $ cd ~/my-project && troupe run "what does this project do?"
`;

const { platform, env } = process;

async function main(args: string[]): Promise<number> {
  const flags = parseFlags(args);
  if (flags.help) {
    process.stdout.write(help);
    return 0;
  }
  const folder = flags.dir === undefined ? userBinFolder() : resolve(callerFolder(), flags.dir);
  const place = { folder, platform };
  const file = launcherFile(place);
  if (flags.remove) {
    say(removeLauncher(place) ? `removed ${file}` : `nothing to remove: there is no ${file}`);
    return 0;
  }
  const { change, previousCheckout } = installLauncher(place, { checkout: root, force: flags.force === true });
  const before = previousCheckout && previousCheckout !== root ? `, before ${previousCheckout}` : "";
  say(`${change} ${file}: runs the checkout ${root}${before}`);
  advisePath(folder, file);
  // The first `troupe` would build otherwise, and its user would wait.
  return (await build({ onlyIfStale: true })) ? 0 : 1;
}

function parseFlags(args: string[]) {
  // pnpm passes on a separating `--`.
  const given = args[0] === "--" ? args.slice(1) : args;
  try {
    return parseArgs({
      args: given,
      options: {
        dir: { type: "string" },
        force: { type: "boolean" },
        remove: { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    }).values;
  } catch (error) {
    const reason = error instanceof Error ? error.message.split(". ")[0] : String(error);
    throw new LauncherError(String(reason), "npx -y pnpm@12 setup-cli --help");
  }
}

/** Says how to put the folder on the PATH, or which other program named troupe comes first. */
function advisePath(folder: string, file: string): void {
  if (!isOnPath(folder)) {
    say(`${folder} is not on your PATH. Add it, then open a new terminal:`);
    say(`  ${addToPathCommand(folder, { shell: env.SHELL, platform })}`);
    return;
  }
  const [first] = findOnPath("troupe");
  if (platform !== "win32" && first && resolve(first) !== file) {
    say(`warning: ${first} comes first on your PATH and starts another troupe`);
  }
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  const isSystemError = error instanceof Error && "code" in error && "path" in error;
  if (!(error instanceof LauncherError) && !isSystemError) throw error;
  say(`error: ${error.message}`);
  say(
    `fix:   ${error instanceof LauncherError ? error.fix : "choose a folder that you can write: npx -y pnpm@12 setup-cli --dir DIR"}`,
  );
  process.exitCode = 1;
}
