/** The client of the HTTP API. It loads no other part of troupe, and works in Node and in browsers. */
export { type ErrorCode, TroupeError } from "@troupe/core/errors";
export { type Client, type ClientOptions, createClient } from "./client.ts";
export type { ClientEvent, EventsFrom } from "./follow.ts";
export { createLocalClient, type LocalClientOptions } from "./local-client.ts";
export type { RequestArguments, Route, RouteInput, RouteReply } from "./routes.ts";
export type { RunTree } from "./run-tree.ts";
