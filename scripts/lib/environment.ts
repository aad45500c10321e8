import { basename, delimiter, dirname, join } from "node:path";
import { root } from "./project.ts";

/** The variables of the calling shell that a build or a test may see. Keys, NODE_OPTIONS and TROUPE_* are removed. */
const passed = [
  /^(PATH|HOME|LANG|TMPDIR|CI|TERM|COLORTERM|NO_COLOR|FORCE_COLOR)$/,
  /^(LC|XDG)_[A-Z_]+$/,
  // Proxy settings and private certificate authorities of npm, apt and git.
  /^(https?|no|all|ftp)_proxy$/i,
  /^(NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|SSL_CERT_DIR|CURL_CA_BUNDLE|GIT_SSL_CAINFO)$/,
  /^npm_config_(registry|userconfig|globalconfig|cafile|proxy|https_proxy|noproxy)$/i,
  /^npm_execpath$/,
  // More cases of each law (test/harness/long.ts). It is set on purpose, by test:long or by hand.
  /^TROUPE_TEST_LONG$/,
];

/**
 * The environment of every process that the scripts start: an allow-list, so that nothing else in the caller's shell
 * can change a result.
 */
export function cleanEnvironment(source: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  const allowed = Object.entries(source).filter(([name]) => passed.some((pattern) => pattern.test(name)));
  return {
    ...Object.fromEntries(allowed),
    PATH: [join(root, "node_modules", ".bin"), runningPnpm(source), source.PATH].filter(Boolean).join(delimiter),
    TURBO_TELEMETRY_DISABLED: "1",
    DO_NOT_TRACK: "1",
    // pnpm has checked the installation before it started us; nested calls need not do it again.
    pnpm_config_verify_deps_before_run: "false",
  };
}

/** The folder of the pnpm that runs us, which need not be on the PATH. (`npm_execpath` may also be npm's own script.) */
function runningPnpm(source: NodeJS.ProcessEnv): string | undefined {
  const runner = source.npm_execpath ?? "";
  return basename(runner) === "pnpm" ? dirname(runner) : undefined;
}

/** In CI a skipped test is a failure. */
export function inCi(env: NodeJS.ProcessEnv = process.env): boolean {
  return !["", "0", "false"].includes(env.CI ?? "");
}
