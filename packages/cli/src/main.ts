#!/usr/bin/env node
// No static imports: an old Node must reach this check before it loads code that it cannot run.
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

if (major < 22 || (major === 22 && minor < 13)) {
  process.stderr.write(`error: troupe needs Node 22.13 or later; this is ${process.versions.node}\n`);
  process.stderr.write("fix:   install Node 24 from https://nodejs.org\n");
  process.exitCode = 3;
} else {
  await enableCompileCache();
  const { runProcess } = await import("./program/process.ts");
  await runProcess(async () => (await import("./composition.ts")).composition);
}

/**
 * Keeps the compiled code in a folder of the user, which makes each further start faster. Node's default is a folder that
 * all users can write to. Without a home, or where nothing can be written, each start compiles anew.
 */
async function enableCompileCache(): Promise<void> {
  const { enableCompileCache: enable, getCompileCacheDir } = await import("node:module");
  const { HOME, XDG_CACHE_HOME } = process.env;
  const folder = XDG_CACHE_HOME || (HOME && `${HOME}/.cache`);
  if (folder?.startsWith("/") && getCompileCacheDir() === undefined) enable(`${folder}/troupe/compiled`);
}

export {};
