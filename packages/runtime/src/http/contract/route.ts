import type { ErrorCode } from "@troupe/core";
import type { z } from "zod";
import type { ParamKind } from "./param-kinds.ts";

/** A route of the API: its method, and its path below `/api/v1`, as in `GET /sessions/{id}`. */
export type RouteKey = `${"GET" | "POST" | "PUT" | "DELETE"} /${string}`;

/**
 * The description of a route. The router, the OpenAPI document and the types of the client come from it, so that they
 * cannot differ.
 */
export interface RouteContract {
  /** The name of the operation in the document and in generated clients. */
  operation: string;
  summary: string;
  /** Further sentences for the document. */
  description?: string;
  /** The kind of each parameter in the path. A value that cannot be of its kind gets the error of an unknown one. */
  params?: Readonly<Record<string, ParamKind>>;
  /** A whole number in the query arrives as a number. */
  query?: z.ZodObject;
  body?: z.ZodType;
  /** @default 1 MB */
  bodyBytesMax?: number;
  /** Null: a reply without a body. */
  reply: z.ZodType | null;
  /** @default 200 */
  status?: 200 | 201 | 204;
  /** Another success status that the handler can set. */
  otherStatus?: 201;
  /** @default "application/json" */
  media?: string;
  /** Codes that this route can answer with, besides those of its input, of the guard and of a failing daemon. */
  errors?: readonly ErrorCode[];
  /** Whether the route answers without the token. @default false */
  open?: boolean;
  /** Whether the route also answers at its path of earlier versions, `/api/…`. New routes do not. @default false */
  alias?: boolean;
}

/** Routes by their method and path. */
export type RouteContracts = Readonly<Record<RouteKey, RouteContract>>;

/**
 * Checks a group of routes and keeps their exact types.
 *
 * @example
 * const routes = defineRoutes({
 *   "GET /rules": { operation: "listRules", summary: "Rules", reply: z.object({ rules: z.array(z.string()) }) },
 * });
 */
export function defineRoutes<const T extends RouteContracts>(routes: T): T {
  return routes;
}

/** The names of the parameters in a path. */
export type ParamsOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamsOf<Rest>
  : never;

type OutputOf<S> = S extends z.ZodType ? z.output<S> : undefined;
type InputOf<S> = S extends z.ZodType ? z.input<S> : undefined;
type QueryOf<C> = C extends { query: infer Q } ? Q : undefined;
type BodyOf<C> = C extends { body: infer B } ? B : undefined;

/** The checked input of a handler. */
export interface HandlerInput<Key extends string, C> {
  params: Record<ParamsOf<Key>, string>;
  query: OutputOf<QueryOf<C>>;
  body: OutputOf<BodyOf<C>>;
}

/** The input of a client: parameters by name, and the query and body before their defaults are filled in. */
export interface RequestInput<Key extends string, C> {
  params: Record<ParamsOf<Key>, string>;
  query: InputOf<QueryOf<C>>;
  body: InputOf<BodyOf<C>>;
}

/** The body of a successful reply. */
export type ReplyOf<C> = C extends { reply: infer R } ? (R extends z.ZodType ? z.output<R> : null) : never;
