/**
 * Imported before a test file, it has the daemon of that file serve only the agents that people ask, and a worker in a
 * process and a home of its own serve those that agents ask, over a real NATS server.
 */
import { withWorker } from "./test-hosts.ts";

withWorker();
