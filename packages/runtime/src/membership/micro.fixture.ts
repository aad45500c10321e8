import { z } from "zod";

// The answers of ADR-32 of nats-io/nats-architecture-and-design, field by field.

const Name = z.string().regex(/^[A-Za-z0-9_-]+$/);
const SemanticVersion = z.string().regex(/^\d+\.\d+\.\d+(-[\w.-]+)?(\+[\w.-]+)?$/);
const Count = z.int().nonnegative();

const identity = {
  name: Name,
  id: Name,
  version: SemanticVersion,
  metadata: z.record(z.string(), z.string()),
};

export const PingResponse = z.strictObject({ type: z.literal("io.nats.micro.v1.ping_response"), ...identity });

const address = { name: Name, subject: z.string().min(1), queue_group: z.string() };

export const InfoResponse = z.strictObject({
  type: z.literal("io.nats.micro.v1.info_response"),
  ...identity,
  description: z.string(),
  endpoints: z.array(z.strictObject({ ...address, metadata: z.record(z.string(), z.string()) })),
});

export const EndpointStats = z.strictObject({
  ...address,
  num_requests: Count,
  num_errors: Count,
  last_error: z.string(),
  /** Nanoseconds. */
  processing_time: Count,
  average_processing_time: Count,
  data: z.unknown(),
});

export const StatsResponse = z.strictObject({
  type: z.literal("io.nats.micro.v1.stats_response"),
  ...identity,
  started: z.iso.datetime(),
  endpoints: z.array(EndpointStats),
});
