export { createActorHost } from "./host/actor-host.ts";
