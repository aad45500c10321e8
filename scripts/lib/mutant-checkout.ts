import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import type { Mutant } from "../../test/mutants/mutant.ts";
import { bundlePackage } from "../bundle.ts";
import { pnpmCommand, run } from "./command.ts";
import { cleanEnvironment } from "./environment.ts";
import { stampFile } from "./freshness.ts";
import { fileOf, packageOf, patternOf } from "./mutants.ts";
import { root } from "./project.ts";
import { isWithin } from "./requirements-page.ts";
import type { TestResult } from "./vitest-report.ts";
import { type TestReply, type TestRequest, WarmTests } from "./warm-tests.ts";

export interface MutantResult {
  outcome: "killed" | "survived" | "broken";
  why: string;
}

export interface CheckoutOptions {
  /** Variables that name the programs that tests need. */
  env: NodeJS.ProcessEnv;
  signal: AbortSignal;
}

type TestOptions = Pick<TestRequest, "bail" | "long">;

/** A folder with the sources, installed and built, in which one mutant at a time is checked. */
export class MutantCheckout implements AsyncDisposable {
  readonly folder: string;
  readonly #options: CheckoutOptions;
  readonly #tests: WarmTests;
  /** The package whose build still holds an earlier mutant. */
  #stalePackage: string | undefined;
  /** Modules that are not the same as in the run before. */
  readonly #changed = new Set<string>();

  private constructor(folder: string, options: CheckoutOptions) {
    this.folder = folder;
    this.#options = options;
    this.#tests = new WarmTests(folder, {
      ...options,
      env: { ...this.#environment(), ...options.env, TROUPE_TEST_MUTANT: "1" },
    });
  }

  /** This checkout, with its uncommitted changes. */
  static here(options: CheckoutOptions): MutantCheckout {
    // The build of a mutant must not pass for this checkout's.
    rmSync(stampFile(root), { force: true });
    return new MutantCheckout(root, options);
  }

  /** A git worktree of HEAD in a temporary folder. `prepare` makes it ready for tests. */
  static async copy(options: CheckoutOptions): Promise<MutantCheckout> {
    const checkout = new MutantCheckout(mkdtempSync(join(tmpdir(), "troupe-mutants-")), options);
    await checkout.#must(["git", "worktree", "add", "--detach", "--force", checkout.folder, "HEAD"], root);
    return checkout;
  }

  /** Installs and builds a copy. */
  async prepare(): Promise<void> {
    if (this.folder === root) return;
    await this.#must([...pnpmCommand(), "install", "--offline", "--frozen-lockfile"], this.folder);
    const turbo = ["exec", "turbo", "run", "build", "--output-logs=errors-only", "--ui=stream"];
    await this.#must([...pnpmCommand(), ...turbo], this.folder);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#tests[Symbol.asyncDispose]();
    if (this.folder === root) {
      await this.#build(undefined);
      return;
    }
    await run(["git", "worktree", "remove", "--force", this.folder], { output: "capture" });
    rmSync(this.folder, { recursive: true, force: true });
    await run(["git", "worktree", "prune"], { output: "capture" });
  }

  /** Runs the tests of the mutant's files in the order of `tests`, up to the first red one. */
  async test(mutant: Mutant): Promise<MutantResult> {
    const file = join(this.folder, mutant.file);
    const original = readFileSync(file, "utf8");
    writeFileSync(
      file,
      original.replace(mutant.find, () => mutant.replace),
    );
    this.#changed.add(file);
    try {
      const failure = await this.#build(mutant);
      if (failure !== null) return { outcome: "broken", why: `no build: ${failure}` };
      const [types, result] = await Promise.all([this.#typeError(mutant.file), this.#testBuilt(mutant)]);
      return types === null ? result : { outcome: "broken", why: `does not compile: ${types}` };
    } finally {
      writeFileSync(file, original);
      this.#changed.add(file);
    }
  }

  async #testBuilt(mutant: Mutant): Promise<MutantResult> {
    let passed = 0;
    for (const file of new Set(mutant.tests.map(fileOf))) {
      const names = mutant.tests.filter((test) => fileOf(test) === file);
      const reply = await this.#runTests(file, names, { bail: true, long: mutant.long === true });
      if (!reply) return { outcome: "broken", why: `${file} took too long, or its process ended` };
      const named = reply.tests.filter((test) => names.some((name) => isWithin(nameOf(test), name)));
      const red = named.find(({ status }) => status === "failed");
      if (red) return { outcome: "killed", why: nameOf(red) };
      if (reply.problem) return { outcome: "broken", why: `${file}: ${reply.problem}` };
      passed += named.filter(({ status }) => status === "passed").length;
    }
    return passed > 0
      ? { outcome: "survived", why: `${passed} tests passed` }
      : { outcome: "broken", why: "no named test ran" };
  }

  /** Runs tests of one file on the sources as they are. Null if the run did not come to its end. */
  async testWithoutMutant(file: string, names: readonly string[], options: TestOptions): Promise<TestReply | null> {
    await this.#build(undefined);
    return this.#runTests(file, names, options);
  }

  /** Tests have names `path > title`. */
  async #runTests(file: string, names: readonly string[], options: TestOptions): Promise<TestReply | null> {
    const changed = [...this.#changed];
    this.#changed.clear();
    return this.#tests.run({ file, pattern: patternOf(names), changed, ...options });
  }

  /** Joins the sources of an edited package anew, and those of the one edited before. Null, or the first line of the failure. */
  async #build(mutant: Mutant | undefined): Promise<string | null> {
    const own = mutant && isReachedByBuild(mutant, this.folder) ? packageOf(mutant.file) : undefined;
    const packages = new Set([this.#stalePackage, own].filter((folder) => folder !== undefined));
    this.#stalePackage = own;
    // The program of the command line is joined from the sources of all packages.
    if (packages.size > 0) packages.add("packages/cli");
    for (const folder of packages) {
      const failure = await this.#join(join(this.folder, folder));
      if (failure !== null) return failure;
    }
    return null;
  }

  async #join(folder: string): Promise<string | null> {
    const modules = (): string[] => globSync("dist/**/*.js", { cwd: folder }).map((path) => join(folder, path));
    const before = modules();
    const failure = await this.#runBuildSteps(folder);
    for (const path of [...before, ...modules()]) this.#changed.add(path);
    return failure;
  }

  /** The steps of a package's build without the first: that one checks the types, which do not matter to JavaScript. */
  async #runBuildSteps(folder: string): Promise<string | null> {
    const [, ...steps] = (manifestOf(folder).scripts?.build ?? "").split(" && ");
    if (steps.length === 0) return null;
    if (steps.length > 1 || !steps[0]?.endsWith("/bundle.ts")) {
      // Without the signal: a stopped run restores the build, too.
      const command = ["sh", "-c", steps.join(" && ")];
      const { code, output } = await run(command, { cwd: folder, env: this.#environment(), output: "capture" });
      return code === 0 ? null : firstLine(output) || `code ${code}`;
    }
    try {
      await bundlePackage(folder);
      return null;
    } catch (error) {
      return firstLine(error instanceof Error ? error.message : String(error));
    }
  }

  /** The first mistake that the compiler finds in the package of an edited file. */
  async #typeError(file: string): Promise<string | null> {
    const own = packageOf(file);
    if (!own || !/\.tsx?$/.test(file)) return null;
    const known = join(this.folder, "node_modules", ".cache", "troupe", "mutants", own, "tsbuildinfo");
    const command = ["tsc", "-p", "tsconfig.json", "--noEmit", "--incremental", "--tsBuildInfoFile", known];
    const { signal } = this.#options;
    const cwd = join(this.folder, own);
    const { code, output } = await run(command, { cwd, env: this.#environment(), output: "capture", signal });
    return code === 0 ? null : firstLine(output) || `code ${code}`;
  }

  #environment(): NodeJS.ProcessEnv {
    const clean = cleanEnvironment();
    return { ...clean, PATH: [join(this.folder, "node_modules", ".bin"), clean.PATH].join(delimiter) };
  }

  async #must(command: string[], cwd: string): Promise<void> {
    const { signal } = this.#options;
    const { code, output } = await run(command, { cwd, env: this.#environment(), output: "capture", signal });
    signal.throwIfAborted();
    if (code !== 0) throw new Error(`${output.trim() || `code ${code}`}\n(${command.join(" ")})`);
  }
}

/** Whether a test loads the edited source from the build of its package. Tests inside of the package load the source. */
function isReachedByBuild({ file, tests }: Mutant, folder: string): boolean {
  const own = packageOf(file);
  if (!own || !/^[^/]+\/[^/]+\/(?:src|public|index\.html)/.test(file)) return false;
  const { bin, programs } = manifestOf(join(folder, own));
  return bin !== undefined || programs !== undefined || tests.some((test) => packageOf(test) !== own);
}

interface Manifest {
  scripts?: Record<string, string>;
  bin?: unknown;
  programs?: unknown;
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}

export function nameOf({ file, titles }: TestResult): string {
  return [file, ...titles].join(" > ");
}
