/** The keys of a package.json that the bundle reads. */
export interface PackageManifest {
  name: string;
  version: string;
  dependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  peerDependenciesMeta?: Record<string, unknown>;
  devDependencies?: Record<string, string>;
  scripts?: Record<string, string>;
  bundleDependencies?: string[];
}

/**
 * The manifest of a package that carries `others` in its `node_modules`. The dependencies of all packages become its own,
 * peers too. Throws if two packages want different versions.
 */
export function bundledManifest(main: PackageManifest, others: readonly PackageManifest[]): PackageManifest {
  const bundled = new Map(others.map(({ name, version }) => [name, version]));
  const dependencies: Record<string, string> = Object.fromEntries(bundled);
  for (const each of [main, ...others]) {
    for (const [name, wanted] of Object.entries({ ...each.peerDependencies, ...each.dependencies })) {
      if (bundled.has(name)) continue;
      const present = dependencies[name] ?? wanted;
      if (present !== wanted) throw new Error(`${each.name} wants ${name} ${wanted}, another package ${present}`);
      dependencies[name] = wanted;
    }
  }
  return {
    ...withoutDependencies(main),
    dependencies: Object.fromEntries(Object.entries(dependencies).sort(([a], [b]) => (a < b ? -1 : 1))),
    bundleDependencies: [...bundled.keys()].sort(),
  };
}

/**
 * The manifest of a package inside a bundle. npm takes each dependency of a bundled package for a part of the bundle and
 * installs an empty folder, so there must be none. Node finds the dependencies in the `node_modules` around the package.
 */
export function withoutDependencies(manifest: PackageManifest): PackageManifest {
  const { dependencies, peerDependencies, peerDependenciesMeta, devDependencies, scripts, ...rest } = manifest;
  return rest;
}
