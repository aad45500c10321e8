/** Something that tests need and that is not in the npm registry: where it is, or why it could not be had. */
export type Need = { path: string } | { skipped: string };

/** Prints the result of a fetch script: the path on stdout, or the reason on stderr with exit code 1. */
export function report(name: string, need: Need): void {
  if ("path" in need) {
    process.stdout.write(`${need.path}\n`);
  } else {
    process.stderr.write(`${name}: ${need.skipped}\n`);
    process.exitCode = 1;
  }
}
