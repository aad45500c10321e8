import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { Mutant } from "../../test/mutants/mutant.ts";
import { run } from "./command.ts";
import { importsOf } from "./imports.ts";
import { fileOf, packageOf } from "./mutants.ts";

/**
 * Hashes everything that a mutant's result depends on: the mutant, the files of its tests with the modules that they import, and
 * the packages behind those. A test outside of the packages may start whole processes or read documents, so it depends on all of
 * them.
 */
export class MutantInputs {
  readonly #folder: string;
  readonly #files: readonly string[];
  /** Content hashes by path. */
  readonly #hashes = new Map<string, string>();
  readonly #tests = new Map<string, string>();
  readonly #packages: ReadonlyMap<string, WorkspacePackage>;

  private constructor(folder: string, files: readonly string[]) {
    this.#folder = folder;
    this.#files = files;
    this.#packages = readPackages(folder, files);
  }

  static async of(folder: string): Promise<MutantInputs> {
    const command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"];
    const { output } = await run(command, { cwd: folder, output: "capture" });
    return new MutantInputs(
      folder,
      output.split("\n").filter((file) => isFile(join(folder, file))),
    );
  }

  hashOf(mutant: Mutant): string {
    const tests = [...new Set(mutant.tests.map(fileOf))].toSorted();
    return hash(JSON.stringify(mutant), this.#hashFile(mutant.file), ...tests.map((file) => this.#hashTest(file)));
  }

  #hashTest(file: string): string {
    const known = this.#tests.get(file);
    if (known !== undefined) return known;
    const modules = this.#modulesOf(file);
    const folders = packageOf(file) ? this.#packagesOf(modules) : [...this.#packages.keys()];
    const inputs = this.#files.filter((path) => {
      if (modules.has(path) || sharedInputs.test(path)) return true;
      const own = packageOf(path);
      if (own) return folders.includes(own) && (own !== packageOf(file) ? !isTest(path) : !/\.tsx?$/.test(path));
      return !packageOf(file) && isAsset(path);
    });
    const result = hash(...inputs.flatMap((path) => [path, this.#hashFile(path)]));
    this.#tests.set(file, result);
    return result;
  }

  /** A file and all modules of the checkout that it imports by relative paths. */
  #modulesOf(file: string): Map<string, string[]> {
    const modules = new Map<string, string[]>();
    const waiting = [file];
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      if (modules.has(path)) continue;
      const specifiers = this.#importsOf(path);
      modules.set(path, specifiers);
      for (const specifier of specifiers.filter((one) => one.startsWith("."))) {
        const target = relative(this.#folder, join(this.#folder, dirname(path), specifier));
        if (isFile(join(this.#folder, target))) waiting.push(target);
      }
    }
    return modules;
  }

  #importsOf(path: string): string[] {
    if (!/\.[cm]?[jt]sx?$/.test(path)) return [];
    const text = readFileSync(join(this.#folder, path), "utf8");
    return importsOf(path, text).map(({ specifier }) => specifier);
  }

  /** The package of a test, and the packages that its modules load, with the ones that those depend on. */
  #packagesOf(modules: Map<string, string[]>): string[] {
    const names = new Set([...modules.values()].flat().map(packageName));
    const own = [...modules.keys()].map(packageOf);
    const folders = new Set<string>();
    const visit = ([folder, { dependencies }]: [string, WorkspacePackage]): void => {
      if (folders.has(folder)) return;
      folders.add(folder);
      for (const next of this.#packages) if (dependencies.includes(next[1].name)) visit(next);
    };
    for (const one of this.#packages) if (names.has(one[1].name) || own.includes(one[0])) visit(one);
    return [...folders];
  }

  #hashFile(path: string): string {
    const known = this.#hashes.get(path);
    if (known !== undefined) return known;
    const result = hash(readFileSync(join(this.#folder, path), "utf8"));
    this.#hashes.set(path, result);
    return result;
  }
}

interface WorkspacePackage {
  name: string;
  dependencies: string[];
}

/** Files that every test depends on. */
const sharedInputs =
  /^(?:pnpm-lock\.yaml|vitest\.config\.ts|scripts\/bundle\.ts|test\/harness\/(?:count-assertions|wait-for-timeout)\.ts)$/;

/** Documents, examples and helpers that tests outside of the packages read. Their own modules count in any case. */
function isAsset(path: string): boolean {
  return !isTest(path) && !/^(?:test\/mutants\/|docs\/requirements|docs\/adr\/|scripts\/)/.test(path);
}

function isTest(path: string): boolean {
  return /\.test(?:-helper)?\.tsx?$/.test(path);
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** `@troupe/core` of `@troupe/core/memory`. */
function packageName(specifier: string): string {
  return specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
}

function readPackages(folder: string, files: readonly string[]): Map<string, WorkspacePackage> {
  const manifests = files.filter((file) => /^(?:packages|apps)\/[^/]+\/package\.json$/.test(file));
  return new Map(
    manifests.map((file) => {
      const { name, dependencies = {}, devDependencies = {} } = JSON.parse(readFileSync(join(folder, file), "utf8"));
      return [dirname(file), { name, dependencies: Object.keys({ ...dependencies, ...devDependencies }) }];
    }),
  );
}

function hash(...texts: string[]): string {
  const result = createHash("sha256");
  for (const text of texts) result.update(text).update("\0");
  return result.digest("hex");
}
