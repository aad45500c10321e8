/** Answers requests: the other end of the floor. */
import { createNatsBus } from "@troupe/nats";

const bus = await createNatsBus({ servers: process.argv[2] ?? "" });
await bus.subscribe("echo", ({ bytes, respond }) => respond(bytes));
process.on("disconnect", () => process.exit());
process.send?.("ready");
