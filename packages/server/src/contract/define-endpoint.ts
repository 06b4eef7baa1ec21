import type { FleetControl, Scope } from "@herdctl/protocol";
import { type HttpMethod, type RouteName, routes } from "@herdctl/protocol";
import type { z } from "zod";
import type { LoginLink } from "../auth/authenticator.ts";
import type { Caller } from "../auth/caller.ts";
import type { Connection } from "../streams/connection.ts";
import type { EventFeed } from "../streams/event-feed.ts";
import type { JobOutputFeeds } from "../streams/job-output-feeds.ts";

/** An API endpoint as data. The app, the client types, the OpenAPI document and the reference page are generated from it. */
export interface Endpoint<
  P extends OptionalSchema,
  Q extends OptionalSchema,
  B extends OptionalSchema,
  R extends OptionalSchema,
> {
  method: HttpMethod;
  path: string;
  summary: string;
  params?: P;
  query?: Q;
  body?: B;
  maxBodyBytes: number;
  /** The response body, or one item of a stream; undefined for an empty response. */
  response?: R;
  /** The media types of a streamed response. */
  streamMediaTypes?: readonly string[];
  handle(
    context: EndpointContext,
    request: ParsedRequest<P, Q, B>,
  ): Promise<OutputOf<R> | Response>;
}

export type OptionalSchema = z.ZodType | undefined;
export type AnyEndpoint = Endpoint<OptionalSchema, OptionalSchema, OptionalSchema, OptionalSchema>;

interface EndpointContext {
  /** The fleet as seen by the caller. Actions are recorded under the caller's identity. */
  control: FleetControl;
  eventFeed: EventFeed;
  outputFeeds: JobOutputFeeds;
  connection: Connection;
  caller: Caller;
  /** Returns undefined while the HTTP server is not listening. */
  createLoginLink(scope: Scope, by: string): LoginLink | undefined;
  readHeader(name: string): string | undefined;
}

interface ParsedRequest<
  P extends OptionalSchema,
  Q extends OptionalSchema,
  B extends OptionalSchema,
> {
  params: OutputOf<P>;
  query: OutputOf<Q>;
  body: OutputOf<B>;
}

type OutputOf<S extends OptionalSchema> = S extends z.ZodType ? z.output<S> : undefined;
type InputOf<S extends OptionalSchema> = S extends z.ZodType ? z.input<S> : undefined;

export type BodyOf<E> =
  E extends Endpoint<infer _P, infer _Q, infer B, infer _R> ? InputOf<B> : never;
export type QueryOf<E> =
  E extends Endpoint<infer _P, infer Q, infer _B, infer _R> ? InputOf<Q> : never;
export type ResponseOf<E> =
  E extends Endpoint<infer _P, infer _Q, infer _B, infer R> ? OutputOf<R> : never;

const mebibyte = 1024 * 1024;

export function defineEndpoint<
  P extends OptionalSchema = undefined,
  Q extends OptionalSchema = undefined,
  B extends OptionalSchema = undefined,
  R extends OptionalSchema = undefined,
>(
  name: RouteName,
  definition: Omit<Endpoint<P, Q, B, R>, "method" | "path" | "maxBodyBytes"> & {
    maxBodyBytes?: number;
  },
): Endpoint<P, Q, B, R> {
  const [method, path] = routes[name];
  return { maxBodyBytes: mebibyte, ...definition, method, path };
}
