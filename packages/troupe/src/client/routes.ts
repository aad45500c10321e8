import type { ApiRoutes, ParamsOf, ReplyOf, RequestInput } from "@troupe/runtime/internal";

/** A route of the API by its method and path below `/api/v1`, such as `GET /sessions/{id}`. */
export type Route = Exclude<keyof ApiRoutes & string, "GET /events" | "POST /login">;

type OptionalKey<Name extends string, Value> = Value extends undefined
  ? unknown
  : object extends Value
    ? { [Key in Name]?: Value }
    : { [Key in Name]: Value };
type Params<R extends Route> = [ParamsOf<R>] extends [never] ? unknown : { params: Record<ParamsOf<R>, string> };
type InputOf<R extends Route> = RequestInput<R, ApiRoutes[R]>;

/** The input of a route: its parameters, query and body, as far as it has them. */
export type RouteInput<R extends Route> = Params<R> &
  OptionalKey<"query", InputOf<R>["query"]> &
  OptionalKey<"body", InputOf<R>["body"]> & {
    /** The longest wait for the reply. @default that of the client */
    timeoutMs?: number;
    signal?: AbortSignal;
  };

/** The body of a route's reply. */
export type RouteReply<R extends Route> = ReplyOf<ApiRoutes[R]>;

/** The arguments of `request`: the input can be left out if nothing in it is required. */
export type RequestArguments<R extends Route> =
  object extends RouteInput<R> ? [input?: RouteInput<R>] : [input: RouteInput<R>];
