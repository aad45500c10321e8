/**
 * A host that starts commands side by side without end: `killed-host.test-helper.ts PROGRAMS WORKSPACE TOKEN`. Each
 * command has the token in its command line. Prints a line when the first ones are about to start.
 */
import { createSandbox } from "./create-sandbox.ts";

const [programs = "", workspace = "", token = ""] = process.argv.slice(2);
const sandbox = await createSandbox({ path: programs });
process.stdout.write(`${sandbox.kind}\n`);
/** Half of the commands are short, so that many start. The others outlive the host unless they are killed. */
const lines = [`: ${token}`, `: ${token}; sleep 60`];
const loop = async (line: string): Promise<never> => {
  for (;;) {
    await sandbox.run({
      argv: ["/bin/sh", "-c", line],
      workspace,
      writes: [[]],
      timeoutMs: 60_000,
      signal: new AbortController().signal,
      captureBytesMax: 1_000,
    });
  }
};
await Promise.all(Array.from({ length: 8 }, (_, i) => loop(lines[i % lines.length] ?? "")));
