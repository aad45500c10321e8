import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import type { Mutant } from "../../test/mutants/mutant.ts";
import { pnpmCommand, run } from "./command.ts";
import { cleanEnvironment } from "./environment.ts";
import { stampFile } from "./freshness.ts";
import { artifactsFolder, root } from "./project.ts";
import { isWithin } from "./requirements-page.ts";
import { readReport, type TestReport, type TestResult } from "./vitest-report.ts";

export interface Verdict {
  outcome: "killed" | "survived" | "broken";
  why: string;
}

export interface CheckoutOptions {
  /** Variables that name the programs that tests need. */
  env: NodeJS.ProcessEnv;
  signal: AbortSignal;
}

/** A test run that takes longer is ended; its mutant counts as broken. */
const runMsMax = 10 * 60_000;

/** A folder with the sources, installed and built, in which one mutant at a time is checked. */
export class MutantCheckout implements AsyncDisposable {
  readonly folder: string;
  readonly #options: CheckoutOptions;
  /** The package whose build still holds the mutant before. */
  #stalePackage: string | undefined;

  private constructor(folder: string, options: CheckoutOptions) {
    this.folder = folder;
    this.#options = options;
  }

  /** This checkout, with its uncommitted changes. */
  static here(options: CheckoutOptions): MutantCheckout {
    // The build of a mutant must not pass for this checkout's.
    rmSync(stampFile(root), { force: true });
    return new MutantCheckout(root, options);
  }

  /** A git worktree of HEAD in a temporary folder. */
  static async copy(options: CheckoutOptions): Promise<MutantCheckout> {
    const checkout = new MutantCheckout(mkdtempSync(join(tmpdir(), "troupe-mutants-")), options);
    try {
      await checkout.#must(["git", "worktree", "add", "--detach", "--force", checkout.folder, "HEAD"], root);
      await checkout.#must([...pnpmCommand(), "install", "--offline", "--frozen-lockfile"], checkout.folder);
      const turbo = ["exec", "turbo", "run", "build", "--output-logs=errors-only", "--ui=stream"];
      await checkout.#must([...pnpmCommand(), ...turbo], checkout.folder);
    } catch (error) {
      await checkout[Symbol.asyncDispose]();
      throw error;
    }
    return checkout;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.folder === root) {
      await this.#build(undefined);
      return;
    }
    await run(["git", "worktree", "remove", "--force", this.folder], { output: "capture" });
    rmSync(this.folder, { recursive: true, force: true });
    await run(["git", "worktree", "prune"], { output: "capture" });
  }

  async test(mutant: Mutant): Promise<Verdict> {
    const file = join(this.folder, mutant.file);
    const original = readFileSync(file, "utf8");
    writeFileSync(
      file,
      original.replace(mutant.find, () => mutant.replace),
    );
    try {
      const failure = await this.#build(packageOf(mutant.file));
      return failure === null ? await this.#testBuilt(mutant) : { outcome: "broken", why: `no build: ${failure}` };
    } finally {
      writeFileSync(file, original);
    }
  }

  async #testBuilt(mutant: Mutant): Promise<Verdict> {
    const report = await this.runTests(mutant.tests);
    if (!report) return { outcome: "broken", why: "the test run ended without a report, or took too long" };
    const named = report.tests.filter((test) => mutant.tests.some((name) => isWithin(nameOf(test), name)));
    const red = named.find(({ status }) => status === "failed");
    if (red) return { outcome: "killed", why: nameOf(red) };
    const broken = report.brokenFiles[0];
    if (broken) return { outcome: "broken", why: `${broken.file}: ${broken.message}` };
    if (named.length === 0) return { outcome: "broken", why: "no named test ran" };
    return { outcome: "survived", why: `${named.length} tests passed` };
  }

  /** Runs tests by `path > title`. Null without a report. */
  async runTests(names: readonly string[]): Promise<TestReport | null> {
    const output = join(artifactsFolder, `mutants-${process.pid}.json`);
    mkdirSync(artifactsFolder, { recursive: true });
    rmSync(output, { force: true });
    const files = [...new Set(names.map((name) => name.split(" > ", 1)[0] ?? ""))];
    const reporter = ["--reporter=json", `--outputFile.json=${output}`, "--testNamePattern", namePattern(names)];
    const timeout = AbortSignal.timeout(runMsMax);
    const signal = AbortSignal.any([this.#options.signal, timeout]);
    await run(["vitest", "run", ...reporter, ...files], {
      cwd: this.folder,
      env: { ...this.#environment(), ...this.#options.env },
      output: "capture",
      signal,
    });
    const report = signal.aborted ? null : readReport(output, this.folder);
    rmSync(output, { force: true });
    return report;
  }

  /** Builds the package of an edit, and the one of the edit before; null, or the first line of the failure. */
  async #build(own: string | undefined): Promise<string | null> {
    const packages = new Set([this.#stalePackage, own].filter((folder) => folder !== undefined));
    this.#stalePackage = own;
    for (const folder of packages) {
      const cwd = join(this.folder, folder);
      const { scripts } = JSON.parse(readFileSync(join(cwd, "package.json"), "utf8")) as {
        scripts?: { build?: string };
      };
      if (scripts?.build === undefined) continue;
      const env = this.#environment(join(cwd, "node_modules", ".bin"));
      const { code, output } = await run(["sh", "-c", scripts.build], { cwd, env, output: "capture" });
      if (code !== 0) return output.split("\n")[0] || `code ${code}`;
    }
    return null;
  }

  #environment(...folders: string[]): NodeJS.ProcessEnv {
    const clean = cleanEnvironment();
    const path = [...folders, join(this.folder, "node_modules", ".bin"), clean.PATH];
    return { ...clean, PATH: path.join(delimiter) };
  }

  async #must(command: string[], cwd: string): Promise<void> {
    const { signal } = this.#options;
    const { code, output } = await run(command, { cwd, env: this.#environment(), output: "capture", signal });
    signal.throwIfAborted();
    if (code !== 0) throw new Error(`${command.join(" ")} ended with code ${code}\n${output}`);
  }
}

/** `packages/core` of a file in it. */
export function packageOf(file: string): string | undefined {
  return /^(?:packages|apps)\/[^/]+(?=\/)/.exec(file)?.[0];
}

export function nameOf({ file, titles }: TestResult): string {
  return [file, ...titles].join(" > ");
}

/** Vitest matches the titles of a test joined by spaces, and a title may hold " > " itself. */
function namePattern(names: readonly string[]): string {
  const patterns = names.map((name) => {
    const titles = name.slice(name.indexOf(" > ") + 3).split(" > ");
    return titles.map((title) => title.replace(/[$()*+.?[\\\]^{|}]/g, "\\$&")).join("(?: > | )");
  });
  return `^\\s*(?:${patterns.join("|")})(?: |$)`;
}
