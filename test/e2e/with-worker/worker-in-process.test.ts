/** The same with a daemon that serves the agents that people ask, and a worker that serves the others, over NATS. */
import "../../harness/with-worker-in-process.ts";
import "../batches.test.ts";
import "../budgets.test.ts";
import "../steering.test.ts";
// The contents before the changes are in the store of the NATS server.
import "../undo-api.test.ts";
