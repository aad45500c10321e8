export {
  type AgentInput,
  createEmbeddedWorld,
  type EmbeddedWorld,
  type EmbeddedWorldOptions,
} from "./embedded-world.ts";
