import { tryLock } from "../../packages/troupe/src/home/lock.ts";

// Takes a lock, says whether it got it, and holds it until it is killed.
const lock = tryLock(process.argv[2] ?? "");
process.stdout.write(lock ? "held\n" : "refused\n");
if (lock) setInterval(() => {}, 60_000);
