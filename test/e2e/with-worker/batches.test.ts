/** The same with a daemon that serves whom people ask, and a worker that serves whom agents ask, over NATS. */
import "../../harness/with-worker.ts";
import "../batches.test.ts";
