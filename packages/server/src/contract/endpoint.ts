import type { FleetControl, Scope } from "@herdctl/core";
import type { z } from "zod";
import type { LoginLink } from "../access/access.ts";
import type { Visitor } from "../access/visitor.ts";
import type { Connection } from "../live/connection.ts";
import type { EventFeed } from "../live/event-feed.ts";
import type { JobFeeds } from "../live/job-feeds.ts";
import { type RouteName, routes } from "./routes.ts";

/** One call as data: the app, the client's types, the OpenAPI document and the page come from it. */
export interface Endpoint<P extends Part, Q extends Part, B extends Part, R extends Part> {
  method: "GET" | "POST";
  path: string;
  summary: string;
  params?: P;
  query?: Q;
  body?: B;
  bodyLimit: number;
  /** What is answered: once, or one after the other in a stream; undefined is an empty answer. */
  response?: R;
  /** The forms that a stream may have. */
  streams?: readonly string[];
  answer(context: Context, parts: Parts<P, Q, B>): Promise<Out<R> | Response>;
}

export type Part = z.ZodType | undefined;
export type AnyEndpoint = Endpoint<Part, Part, Part, Part>;

interface Context {
  /** The fleet as the visitor may use it; what is done is recorded under its identity. */
  control: FleetControl;
  feed: EventFeed;
  jobFeeds: JobFeeds;
  connection: Connection;
  visitor: Visitor;
  /** Undefined while no browser could come in. */
  loginLink(scope: Scope, by: string): LoginLink | undefined;
  header(name: string): string | undefined;
}

interface Parts<P extends Part, Q extends Part, B extends Part> {
  params: Out<P>;
  query: Out<Q>;
  body: Out<B>;
}

type Out<S extends Part> = S extends z.ZodType ? z.output<S> : undefined;
type In<S extends Part> = S extends z.ZodType ? z.input<S> : undefined;

export type BodyOf<E> = E extends Endpoint<infer _P, infer _Q, infer B, infer _R> ? In<B> : never;
export type QueryOf<E> = E extends Endpoint<infer _P, infer Q, infer _B, infer _R> ? In<Q> : never;
export type ResponseOf<E> =
  E extends Endpoint<infer _P, infer _Q, infer _B, infer R> ? Out<R> : never;

const mebibyte = 1024 * 1024;

export function endpoint<
  P extends Part = undefined,
  Q extends Part = undefined,
  B extends Part = undefined,
  R extends Part = undefined,
>(
  name: RouteName,
  given: Omit<Endpoint<P, Q, B, R>, "method" | "path" | "bodyLimit"> & { bodyLimit?: number },
): Endpoint<P, Q, B, R> {
  const [method, path] = routes[name];
  return { bodyLimit: mebibyte, ...given, method, path };
}
