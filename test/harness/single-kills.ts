// Setup file of every test file. Process 0 stands for the group of the caller, which is the whole test command, and -1 for
// every process of the user. A test that has not found its process must fail, and not end the others.
const guarded: unique symbol = Symbol.for("troupe.single-kills");

/** Files that share a worker load this file again. */
const worker = globalThis as { [guarded]?: true };

if (!worker[guarded]) {
  worker[guarded] = true;
  const kill = process.kill.bind(process);
  process.kill = (pid, signal) => {
    if (!(Math.abs(pid) > 1)) throw new RangeError(`a test would have sent ${signal} to the processes ${pid}`);
    return kill(pid, signal);
  };
}
