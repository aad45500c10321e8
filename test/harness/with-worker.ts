/**
 * Import this before a test file to run it with a worker: the daemon serves the agents that people ask, and a worker
 * with its own process and home serves the agents that agents ask, over a real NATS server.
 */
import { withWorker } from "./test-hosts.ts";

withWorker();
