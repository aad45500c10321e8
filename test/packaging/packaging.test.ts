/**
 * Users install tarballs. Each package is installed without the others, type-checked with its own types, used in a few
 * lines, and runs the lines of its README.
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root } from "../../scripts/lib/project.ts";
import { isLong } from "../harness/long.ts";
import { findNatsServer, type NatsServer, natsServerMissing, startNatsServer } from "../harness/nats-server.ts";
import {
  type InstalledPackages,
  installPackages,
  installTimeoutMs,
  manifests,
  type Project,
  readManifest,
  sizeMb,
} from "./installed-packages.ts";
import { readmePrograms } from "./readme-programs.ts";
import { answers, loadedPackages, loadProgram, missingParts, startProgram, traceProgram, uses } from "./uses.ts";

let packages: InstalledPackages;
let natsServer: NatsServer | null = null;

beforeAll(async () => {
  packages = await installPackages();
  if (findNatsServer() !== null) natsServer = await startNatsServer();
}, installTimeoutMs);

afterAll(async () => {
  await natsServer?.stop();
  await packages?.remove();
}, installTimeoutMs);

const success = { code: 0, output: "" };
const tsc = join(root, "node_modules", ".bin", "tsc");

/** Options of a careful user: strict, with checks of library types, ours included. */
const consumerOptions = {
  target: "es2024",
  lib: ["es2024", "esnext.disposable"],
  strict: true,
  skipLibCheck: false,
  noEmit: true,
  verbatimModuleSyntax: true,
  types: ["node"],
};
const moduleOptions = {
  nodenext: { module: "nodenext", moduleResolution: "nodenext" },
  bundler: { module: "esnext", moduleResolution: "bundler" },
};

describe.each([...manifests.keys()])("@troupe/%s", (name) => {
  let project: Project;
  let installed: string;
  const programs = readmePrograms(name);

  beforeAll(() => {
    project = packages.alone(name);
    installed = project.packageFolder(name);
    project.write("use.ts", uses[name] ?? "");
    project.write("answers.yaml", answers);
    for (const { file, codeIn } of programs) project.write(file, codeIn(project.folder));
  });

  it("contains its manifest, readme, licence and build, and no tests", () => {
    const files = readdirSync(installed, { recursive: true, withFileTypes: true, encoding: "utf8" })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(installed.length + 1))
      // npm puts a dependency here when its version differs from another's.
      .filter((file) => !file.startsWith("node_modules/"));
    expect(["LICENSE", "README.md", "package.json"].filter((file) => !files.includes(file))).toEqual([]);
    expect(files.filter((file) => forTests.test(file))).toEqual([]);
    expect(files.filter((file) => !allowed.test(file))).toEqual([]);
  });

  it("has every file that its manifest promises", () => {
    const { exports, bin = {} } = readManifest(installed);
    const promised = [...Object.values(exports), ...Object.values(bin)].flatMap((entry) =>
      typeof entry === "string" ? entry : Object.values(entry),
    );
    expect(promised.filter((path) => !existsSync(join(installed, path)))).toEqual([]);
  });

  // The normal run checks all packages at once, below.
  if (isLong) {
    it.each(Object.entries(moduleOptions))("type-checks strictly under %s", async (resolution, options) => {
      const config = `tsconfig.${resolution}.json`;
      project.write(
        config,
        JSON.stringify({ compilerOptions: { ...consumerOptions, ...options }, files: filesOf(name) }),
      );
      expect(await project.run([tsc, "-p", config, "--checkers", "1"])).toEqual(success);
    });
  }

  it("loads every module that its manifest exports", async () => {
    const { name: specifier, exports } = readManifest(installed);
    const modules = Object.keys(exports).map((entry) => join(specifier, entry));
    expect(modules).not.toEqual([]);
    project.write("load.mjs", loadProgram(modules));
    expect(await project.run([process.execPath, "load.mjs"])).toEqual({
      code: 0,
      output: `${modules.length} loaded\n`,
    });
  });

  it("is used alone in a few lines", async () => {
    expect(await project.run([process.execPath, "use.ts"])).toEqual({ code: 0, output: "ok\n" });
  });

  it.for(programs)("runs $file of its README", async ({ file, prepare, env, needsServer }, { skip }) => {
    if (needsServer && !natsServer) return skip(natsServerMissing);
    prepare(project);
    const { code, output } = await project.run([process.execPath, file], { NATS_SERVER: natsServer?.url, ...env });
    expect(code, output).toBe(0);
  });
});

/** Its sources for a type-check: a few lines of use, and the programs of its README. */
function filesOf(name: string): string[] {
  return ["use.ts", ...readmePrograms(name).map(({ file }) => file)];
}

// One check of all, for each of them would check the same libraries again. In its project a package finds only what it
// depends on. The project with the fewest libraries comes first: TypeScript checks a library where it finds it first.
// A bundler accepts whatever nodenext accepts, unless the manifest's paths are wrong. Two manifests have all its kinds.
describe("all packages", () => {
  it.each([
    { resolution: "nodenext", names: [...manifests.keys()] },
    { resolution: "bundler", names: ["core", "troupe"] },
  ] as const)("type-check strictly, each with the types of its libraries, under $resolution", async (each) => {
    const names = each.names.toSorted((one, other) => packages.libraryCount(one) - packages.libraryCount(other));
    const { together } = packages;
    const compilerOptions = {
      ...consumerOptions,
      ...moduleOptions[each.resolution],
      typeRoots: [`${names[0]}/node_modules/@types`],
    };
    const files = names.flatMap((name) => filesOf(name).map((file) => `${name}/${file}`));
    const config = `tsconfig.${each.resolution}.json`;
    together.write(config, JSON.stringify({ compilerOptions, files }));
    expect(await together.run([tsc, "-p", config, "--checkers", "1"])).toEqual(success);
  });
});

describe("troupe with one provider", () => {
  let project: Project;

  beforeAll(async () => {
    project = await packages.withParts("troupe", ["@anthropic-ai/sdk"]);
  }, installTimeoutMs);

  it("takes at most 60 MB", () => {
    expect(sizeMb(join(project.folder, "node_modules"))).toBeLessThanOrEqual(60);
  });

  it("runs a task", async () => {
    project.write("run.ts", uses.troupe ?? "");
    project.write("answers.yaml", answers);
    expect(await project.run([process.execPath, "run.ts"])).toEqual({ code: 0, output: "ok\n" });
  });

  it.each(missingParts)("names the missing package and the command that installs it: $part", async (each) => {
    project.write("missing.ts", each.program);
    const { output } = await project.run([process.execPath, "missing.ts"]);
    expect(output).toBe(`${each.prints}\n`);
  });
});

describe("loading", () => {
  it.each(loadedPackages)("$what loads only what it needs", async ({ command, loaded }) => {
    const { everything } = packages;
    everything.write("trace.mjs", traceProgram);
    everything.write("start.ts", startProgram);
    everything.write("answers.yaml", answers);
    const cli = join(everything.packageFolder("cli"), "dist", "main.js");
    const words = command.map((word) => (word === "CLI" ? cli : word));
    const { code, output } = await everything.run([process.execPath, "--import", "./trace.mjs", ...words]);
    expect(code, output).toBe(0);
    expect(JSON.parse(output.trim().split("\n").at(-1) ?? "")).toEqual(loaded);
  });
});

describe("the command line, installed", () => {
  it("prints its version", async () => {
    const version = manifests.get("cli")?.version;
    expect(await packages.everything.run(["npx", "troupe", "--version"])).toEqual({ code: 0, output: `${version}\n` });
  });
});

const allowed = /^(LICENSE|README\.md|package\.json|(dist|agents|teams|scenarios|patterns)\/.+)$/;
const forTests = /\.(test|test-helper|fixture)\.|\.tsbuildinfo$|\/testing\//;
