/**
 * Folders whose content a command makes again. If git ignores such a folder, deleting it loses nothing, so no person is
 * asked about it. Each row has the command that makes it.
 */
export const regenerableFolders: Readonly<Record<string, string>> = {
  ".angular": "ng build",
  ".build": "swift build",
  ".cache": "the program that uses the cache",
  ".dart_tool": "dart pub get",
  ".eggs": "python setup.py",
  ".gradle": "gradle build",
  ".ipynb_checkpoints": "saving a notebook",
  ".mypy_cache": "mypy",
  ".next": "next build",
  ".nox": "nox",
  ".nuxt": "nuxt build",
  ".nyc_output": "nyc",
  ".parcel-cache": "parcel build",
  ".pnpm-store": "pnpm install",
  ".pytest_cache": "pytest",
  ".ruff_cache": "ruff",
  ".svelte-kit": "vite build",
  ".terraform": "terraform init",
  ".tox": "tox",
  ".turbo": "turbo run",
  ".venv": "python -m venv and pip install",
  ".vite": "vite build",
  __pycache__: "python",
  bower_components: "bower install",
  build: "the project's build",
  coverage: "the project's test command with coverage",
  DerivedData: "xcodebuild",
  dist: "the project's build",
  htmlcov: "coverage html",
  node_modules: "npm install",
  out: "the project's build",
  Pods: "pod install",
  target: "cargo build, or mvn package",
  "test-results": "the project's test command",
  venv: "python -m venv and pip install",
};

/** Files that a command makes again, by the end of their name. */
const regenerableFiles = /\.(pyc|pyo|class|o|obj|tsbuildinfo)$/;

/** Whether a path that git ignores can be made again by a command. */
export function isRegenerable(path: string): boolean {
  const names = path.split("/").filter(Boolean);
  return names.some((name) => Object.hasOwn(regenerableFolders, name)) || regenerableFiles.test(names.at(-1) ?? "");
}
