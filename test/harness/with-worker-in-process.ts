/**
 * Like with-worker.ts, but the worker is in the test's process: for test files that are not about processes. It has a home
 * and a connection of its own all the same.
 */
import { withWorker } from "./test-hosts.ts";

withWorker({ inProcess: true });
