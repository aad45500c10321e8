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
    // What V8 made of troupe is the same for every process; set by vitest.config.ts.
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? "",
  };
}
