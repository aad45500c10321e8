/**
 * Users install tarballs. Each package is installed without the others, type-checked with its own types, used in a few
 * lines, and runs the lines of its README. The tarball of the command line is installed for all folders, as users do.
 */
import { existsSync, readdirSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { RunResponse } from "@troupe/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CommandResult } from "../../scripts/lib/command.ts";
import { root } from "../../scripts/lib/project.ts";
import { startProgram as startCommand } from "../harness/cli.ts";
import { isLong } from "../harness/long.ts";
import { findNatsServer, type NatsServer, natsServerMissing, startNatsServer } from "../harness/nats-server.ts";
import { writeScenario } from "../harness/scenario-file.ts";
import { tempFolder } from "../harness/temp-folder.ts";
import { type InstalledBundle, installBundle } from "./installed-bundle.ts";
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
import {
  answers,
  loadedPackages,
  loadProgram,
  missingParts,
  readSequence,
  sequenceProgram,
  startProgram,
  traceProgram,
  uses,
} from "./uses.ts";

let bundle: InstalledBundle;
let packages: InstalledPackages;
let natsServer: NatsServer | null = null;

beforeAll(async () => {
  bundle = await installBundle();
  packages = await installPackages(bundle);
  if (findNatsServer() !== null) natsServer = await startNatsServer();
}, installTimeoutMs);

afterAll(async () => {
  await natsServer?.stop();
  await packages?.remove();
  await bundle?.remove();
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
  let outcomeOf: (file: string) => Promise<CommandResult>;
  let modules: string[];
  const programs = readmePrograms(name);
  const runnable = programs.filter(({ needsServer }) => !needsServer || findNatsServer() !== null);

  beforeAll(async () => {
    project = packages.alone(name);
    installed = project.packageFolder(name);
    const { name: specifier, exports } = readManifest(installed);
    modules = Object.keys(exports).map((entry) => join(specifier, entry));
    project.write("load.mjs", loadProgram(modules));
    project.write("use.ts", uses[name] ?? "");
    project.write("answers.yaml", answers);
    for (const { file, codeIn, prepare } of programs) {
      project.write(file, codeIn(project.folder));
      prepare(project);
    }
    outcomeOf = await startPrograms(project, ["load.mjs", "use.ts", ...runnable.map(({ file }) => file)], {
      NATS_SERVER: natsServer?.url,
      ...Object.assign({}, ...runnable.map(({ env }) => env)),
    });
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
    expect(modules).not.toEqual([]);
    expect(await outcomeOf("load.mjs")).toEqual({ code: 0, output: `${modules.length} loaded\n` });
  });

  it("is used alone in a few lines", async () => {
    expect(await outcomeOf("use.ts")).toEqual({ code: 0, output: "ok\n" });
  });

  it.for(programs)("runs $file of its README", async ({ file, needsServer }, { skip }) => {
    if (needsServer && !natsServer) return skip(natsServerMissing);
    const { code, output } = await outcomeOf(file);
    expect(code, output).toBe(0);
  });
});

/** Each program has a process of its own in the long run. In the normal run one process runs all programs of a package. */
async function startPrograms(project: Project, files: readonly string[], env: NodeJS.ProcessEnv) {
  if (isLong) return (file: string) => project.run([process.execPath, file], env);
  project.write("all.mjs", sequenceProgram(files));
  const whole = await project.run([process.execPath, "all.mjs"], env);
  const outcomes = readSequence(whole.output);
  return async (file: string): Promise<CommandResult> => {
    const own = outcomes.get(file);
    // An error after the last line of a program changes the exit code of the whole process.
    const isComplete = own !== undefined && (whole.code === 0 || file !== files.at(-1));
    return isComplete ? own : { ...whole, code: whole.code || 1 };
  };
}

/** Its sources for a type-check: a few lines of use, and the programs of its README. */
function filesOf(name: string): string[] {
  return ["use.ts", ...readmePrograms(name).map(({ file }) => file)];
}

// One check of all, for each of them would check the same libraries again. In its project a package finds only what it
// depends on. The project with the fewest libraries comes first: TypeScript checks a library where it finds it first.
// A bundler accepts whatever nodenext accepts, unless the manifest's paths are wrong. Two manifests have all its kinds, and the
// libraries' own types are not checked a second time.
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
      skipLibCheck: each.resolution === "bundler",
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
  let outcomeOf: (file: string) => Promise<CommandResult>;

  beforeAll(async () => {
    project = await packages.withParts("troupe", ["@anthropic-ai/sdk"]);
    project.write("run.ts", uses.troupe ?? "");
    project.write("answers.yaml", answers);
    for (const { file, program } of missingParts) project.write(file, program);
    outcomeOf = await startPrograms(project, ["run.ts", ...missingParts.map(({ file }) => file)], {});
  }, installTimeoutMs);

  it("takes at most 60 MB", () => {
    const libraries = join(project.folder, "node_modules");
    // The types of Node are this test's, not a dependency.
    expect(sizeMb(libraries) - sizeMb(join(libraries, "@types"))).toBeLessThanOrEqual(60);
  });

  it("runs a task", async () => {
    expect(await outcomeOf("run.ts")).toEqual({ code: 0, output: "ok\n" });
  });

  it.each(missingParts)(
    "names the missing package and the command that installs it: $part",
    async ({ file, prints }) => {
      const { output } = await outcomeOf(file);
      expect(output).toBe(`${prints}\n`);
    },
  );
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
    const { everything } = packages;
    const folder = everything.packageFolder("cli");
    const { version, bin = {} } = readManifest(folder);
    // The global installation below has the same command, linked by npm.
    const command = isLong ? ["npx", "troupe"] : [process.execPath, join(folder, bin.troupe ?? "")];
    expect(await everything.run([...command, "--version"])).toEqual({ code: 0, output: `${version}\n` });
  });
});

describe("the bundled command line", () => {
  it("says its version", async ({ onTestFinished }) => {
    const home = await tempFolder("bundle", { onTestFinished });
    const version = manifests.get("cli")?.version;
    const { code, stdout } = await startCommand([bundle.troupe, "--version"], { home }).ended;
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${version}\n` });
  });

  it("runs a scripted agent, with a tool of the user's own that imports from troupe", async ({ onTestFinished }) => {
    const home = await tempFolder("bundle", { onTestFinished });
    const tools = join(home, "user", ".troupe", "tools");
    await mkdir(tools, { recursive: true });
    await writeFile(join(tools, "dice.mjs"), diceTool);
    const agents = join(home, ".troupe", "agents");
    await mkdir(agents, { recursive: true });
    await writeFile(join(agents, "gambler.md"), gambler);
    const steps = [
      { calls: [{ tool: "dice", args: { thrown: [3, 4] } }] },
      { calls: [{ tool: "write", args: { path: "made.txt", content: "{{result.0.output}}" } }] },
      { text: "done" },
    ];
    const scenario = await writeScenario(home, { gambler: [{ steps }] });
    const args = ["run", "--json", "--agent", "gambler", "--scenario", scenario, "--workspace", ".", "write it"];
    const { code, stdout, stderr } = await startCommand([bundle.troupe, ...args], { home }).ended;
    expect(code, stdout + stderr).toBe(0);
    expect(RunResponse.parse(JSON.parse(stdout))).toMatchObject({ status: "completed", filesCreated: ["made.txt"] });
    expect(await readFile(join(home, "made.txt"), "utf8")).toBe("7");
  });

  it("starts the daemon with its page, until Ctrl-C", async ({ onTestFinished }) => {
    const home = await tempFolder("bundle", { onTestFinished });
    const daemon = startCommand([bundle.troupe, "up", "--port", "0", "--no-open", "--json"], { home });
    await daemon.waitForOutput(/"ready"/);
    const { url } = JSON.parse(daemon.stdout());
    expect(await (await fetch(url)).text()).toContain("<title>");
    daemon.process.kill("SIGINT");
    expect((await daemon.ended).code).toBe(0);
  });

  it("has the license of each library that its program contains", async () => {
    const text = await readFile(join(bundle.program, "LICENSES.txt"), "utf8");
    for (const name of ["commander", "hono", "pino", "xstate", "yaml", "zod"]) {
      expect(text).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(\\S+\\)\n\n.*(licen[cs]e|copyright)`, "im"));
    }
  });

  it("ends with an error when one of its files is missing", async ({ onTestFinished }) => {
    const files = readdirSync(bundle.program).filter((name) => name.startsWith("doctor-"));
    await Promise.all(files.map((name) => rm(join(bundle.program, name))));
    const home = await tempFolder("bundle", { onTestFinished });
    const { code, stderr } = await startCommand([bundle.troupe, "doctor"], { home }).ended;
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^error: this installation of troupe is not complete: .*doctor-.*\nfix: {3}install troupe again\n$/,
    );
  });
});

const allowed = /^(LICENSE|README\.md|package\.json|(dist|agents|teams|scenarios|patterns)\/.+)$/;
const forTests = /\.(test|test-helper|fixture)\.|\.tsbuildinfo$|\/testing\//;

const diceTool = `
import { defineTool } from "@troupe/tools";
import { z } from "zod";

export default defineTool({
  name: "dice",
  description: "Adds up the dice that were thrown.",
  input: z.strictObject({ thrown: z.array(z.int()) }),
  risk: "low",
  effect: "read",
  run: async ({ thrown }) => ({ output: String(thrown.reduce((sum, each) => sum + each, 0)) }),
});
`;

const gambler = "---\nname: gambler\ndescription: Throws dice\ntools: dice, write\n---\nThrow the dice.\n";
