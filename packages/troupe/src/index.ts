export {
  type AgentInput,
  createEmbeddedHost,
  type EmbeddedHost,
  type EmbeddedHostOptions,
} from "./embedded-world.ts";
