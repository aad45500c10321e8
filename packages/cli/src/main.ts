#!/usr/bin/env node
// No static imports: an old Node must reach this check before it loads code that it cannot run.
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

if (major < 22 || (major === 22 && minor < 13)) {
  process.stderr.write(`error: troupe needs Node 22.13 or later; this is ${process.versions.node}\n`);
  process.stderr.write("fix:   install Node 24 from https://nodejs.org\n");
  process.exitCode = 3;
} else {
  const { runProcess } = await import("./program/process.ts");
  await runProcess(async () => (await import("./composition.ts")).composition);
}

export {};
