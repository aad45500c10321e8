/** The same with a worker: the contents before the changes are in the store of the NATS server. */
import "../../harness/with-worker.ts";
import "../undo-api.test.ts";
