import { runBench } from "./run-bench.ts";

process.exitCode = await runBench(process.argv.slice(2), {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
});
