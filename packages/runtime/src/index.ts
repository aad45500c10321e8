export { createNatsBus, type NatsBus, type NatsBusEvent, type NatsBusOptions } from "./bus/nats.ts";
export { createHttpClient, type HttpClient, type HttpClientOptions } from "./http/client.ts";
export type { FollowOptions, HttpEvent } from "./http/client-events.ts";
export { EntryPage, SessionList } from "./http/pages.ts";
export { type HttpServer, type ServeHttpOptions, serveHttp } from "./http/serve.ts";
