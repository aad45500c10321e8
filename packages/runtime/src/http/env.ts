import type { HttpBindings } from "@hono/node-server";

/** Node's own request and response, beside hono's. */
export interface HttpEnv {
  Bindings: HttpBindings;
}
