import path from "node:path";

/** Nothing of the tester's own settings: a key in the shell must not change a result. */
export function cleanEnv(home: string): Record<string, string> {
  return {
    PATH: process.env.PATH ?? "",
    HOME: path.join(home, "user"),
    LANG: "C.UTF-8",
    TROUPE_HOME: home,
    CI: "true",
    NO_COLOR: "1",
    // All processes share V8's compile cache; vitest.config.ts sets it.
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? "",
  };
}
