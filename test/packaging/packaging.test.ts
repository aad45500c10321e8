import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CommandResult, pnpmCommand, run } from "../../scripts/lib/command.ts";
import { cleanEnvironment } from "../../scripts/lib/environment.ts";
import { packageFolders } from "../../scripts/lib/freshness.ts";
import { cacheFolder, root } from "../../scripts/lib/project.ts";
import { uses } from "./uses.ts";

// Users install tarballs, not the checkout. This packs all packages and installs them with npm into an empty project
// with an empty home. Then each package gets a project with nothing but what its manifest, and its siblings' manifests,
// name. There it is type-checked with library types, and used.

interface Packed {
  name: string;
  tarball: string;
  manifest: Manifest;
}

interface Manifest {
  name: string;
  version: string;
  dependencies?: Record<string, string>;
  exports: Record<string, string | Record<string, string>>;
  bin?: Record<string, string>;
}

const names = packageFolders(root).map((folder) => basename(folder));
const scope = "@troupe/";
const installTimeoutMs = 180_000;
const temporary = mkdtempSync(join(tmpdir(), "troupe-packaging-"));
const packed = new Map<string, Packed>();
/** The project with all packages, as npm installed it. */
const everything = "everything";

beforeAll(async () => {
  await packAll();
  await installAll();
}, installTimeoutMs);

afterAll(() => rmSync(temporary, { recursive: true, force: true }));

describe.each(names)("@troupe/%s", (name) => {
  beforeAll(() => createProject(name));

  it("contains its manifest, readme, licence and build, and no tests", () => {
    const files = readdirSync(installed(name), { recursive: true, withFileTypes: true, encoding: "utf8" })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(installed(name).length + 1))
      // npm puts a dependency here when its version differs from another's.
      .filter((file) => !file.startsWith("node_modules/"));
    expect(["LICENSE", "README.md", "package.json"].filter((file) => !files.includes(file))).toEqual([]);
    expect(files.filter((file) => forTests.test(file))).toEqual([]);
    expect(files.filter((file) => !allowed.test(file))).toEqual([]);
  });

  it("has every file that its manifest lists", () => {
    const { exports, bin = {} } = readManifest(installed(name));
    const promised = [...Object.values(exports), ...Object.values(bin)].flatMap((entry) =>
      typeof entry === "string" ? entry : Object.values(entry),
    );
    expect(promised.filter((path) => !existsSync(join(installed(name), path)))).toEqual([]);
  });

  it("type-checks alone, strictly, with the types of its libraries", async () => {
    expect(await runIn(name, [join(root, "node_modules", ".bin", "tsc"), "-p", "tsconfig.json"])).toEqual(quietSuccess);
  });

  it("is used alone in a few lines", async () => {
    expect(await runIn(name, [process.execPath, "use.ts"])).toEqual({ code: 0, output: "ok\n" });
  });
});

describe("the command line, installed", () => {
  it("prints its version", async () => {
    const version = packed.get("cli")?.manifest.version;
    const result = await runIn(everything, ["npx", "troupe", "--version"]);
    expect(result).toEqual({ code: 0, output: `${version}\n` });
  });
});

const allowed = /^(LICENSE|README\.md|package\.json|(dist|agents|scenarios)\/.+)$/;
const forTests = /\.(test|test-helper|fixture)\.|\.tsbuildinfo$|\/testing\//;

const quietSuccess: CommandResult = { code: 0, output: "" };

/** Packs each package: in its tarball `workspace:*` is replaced by a version. */
async function packAll(): Promise<void> {
  const folders = packageFolders(root);
  const destination = join(temporary, "tarballs");
  const filters = folders.flatMap((folder) => ["--filter", readManifest(folder).name]);
  const result = await run([...pnpmCommand(), "--recursive", ...filters, "pack", "--pack-destination", destination], {
    output: "capture",
  });
  expect(result.code, result.output).toBe(0);
  for (const folder of folders) {
    const manifest = readManifest(folder);
    const tarball = join(destination, `${manifest.name.replace("@", "").replace("/", "-")}-${manifest.version}.tgz`);
    expect(existsSync(tarball), `${tarball} was packed`).toBe(true);
    packed.set(basename(folder), { name: basename(folder), tarball, manifest });
  }
}

async function installAll(): Promise<void> {
  mkdirSync(projectOf(everything), { recursive: true });
  writeFileSync(join(projectOf(everything), "package.json"), consumerManifest);
  const tarballs = [...packed.values()].map(({ tarball }) => tarball);
  const npm = ["npm", "install", "--no-audit", "--no-fund", "--prefer-offline", "--cache", join(cacheFolder(), "npm")];
  const result = await runIn(everything, [...npm, ...tarballs, `@types/node@${nodeTypes}`]);
  expect(result.code, result.output).toBe(0);
}

/**
 * A project of one package. Our packages are copied, so that they find only what is in this project. Their libraries are
 * links, so that these find their own dependencies where npm put them.
 */
function createProject(name: string): void {
  mkdirSync(projectOf(name), { recursive: true });
  const write = (file: string, content: string): void => writeFileSync(join(projectOf(name), file), content);
  write("package.json", consumerManifest);
  write("tsconfig.json", JSON.stringify({ compilerOptions: consumerOptions, files: ["use.ts"] }));
  write("use.ts", uses[name] ?? "");
  const place = (dependency: string, put: (from: string, to: string) => void): void => {
    const [from, to] = [everything, name].map((project) => join(projectOf(project), "node_modules", dependency));
    if (!from || !to || existsSync(to) || !existsSync(from)) return;
    mkdirSync(dirname(to), { recursive: true });
    put(from, to);
  };
  const siblings = [...siblingsOf(name)].flatMap((sibling) => packed.get(sibling)?.manifest ?? []);
  for (const { name: sibling } of siblings) place(sibling, (from, to) => cpSync(from, to, { recursive: true }));
  const libraries = siblings.flatMap(({ dependencies = {} }) => Object.keys(dependencies));
  for (const library of [...libraries, "@types/node"]) place(library, symlinkSync);
}

const consumerManifest = JSON.stringify({ name: "consumer", version: "1.0.0", private: true, type: "module" });

/** Options of a careful user: strict, with checks of library types, ours included. */
const consumerOptions = {
  target: "es2024",
  lib: ["es2024", "esnext.disposable"],
  module: "nodenext",
  strict: true,
  skipLibCheck: false,
  noEmit: true,
  verbatimModuleSyntax: true,
  types: ["node"],
};

const nodeTypes = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).devDependencies["@types/node"];

function siblingsOf(name: string, found: Set<string> = new Set()): Set<string> {
  found.add(name);
  for (const dependency of Object.keys(packed.get(name)?.manifest.dependencies ?? {})) {
    const sibling = dependency.startsWith(scope) ? dependency.slice(scope.length) : dependency;
    if (packed.has(sibling) && !found.has(sibling)) siblingsOf(sibling, found);
  }
  return found;
}

/** In the project of a package, with an empty home; only npm's settings of the machine (its registry) are kept. */
function runIn(name: string, command: string[]): Promise<CommandResult> {
  const home = join(temporary, "homes", name);
  mkdirSync(home, { recursive: true });
  const env = cleanEnvironment();
  for (const variable of Object.keys(env)) if (variable.startsWith("XDG_")) delete env[variable];
  const settings = env.npm_config_userconfig ?? join(homedir(), ".npmrc");
  return run(command, {
    cwd: projectOf(name),
    output: "capture",
    env: {
      ...env,
      HOME: home,
      npm_config_userconfig: settings,
      npm_config_loglevel: "error",
      npm_config_update_notifier: "false",
    },
  });
}

function projectOf(name: string): string {
  return join(temporary, "projects", name);
}

function installed(name: string): string {
  return join(projectOf(name), "node_modules", packed.get(name)?.manifest.name ?? name);
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}
