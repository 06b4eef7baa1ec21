import type { FleetControl } from "@herdctl/core";
import type { z } from "zod";
import type { Connection } from "../live/connection.ts";
import type { EventFeed } from "../live/event-feed.ts";
import { type RouteName, routes } from "./routes.ts";

/** One call as data: the app, the client's types, the OpenAPI document and the page come from it. */
export interface Endpoint<P extends Part, Q extends Part, B extends Part, R extends Part> {
  method: "GET" | "POST";
  path: string;
  summary: string;
  params: P;
  query: Q;
  body: B;
  /** What is answered: once, or again and again when it is a stream; undefined is an empty answer. */
  response: R;
  streams: boolean;
  bodyLimit: number;
  answer(context: Context, request: Request<P, Q, B>): Promise<Out<R> | Response>;
}

export type Part = z.ZodType | undefined;

type Out<S extends Part> = S extends z.ZodType ? z.output<S> : undefined;
type In<S extends Part> = S extends z.ZodType ? z.input<S> : undefined;

interface Request<P extends Part, Q extends Part, B extends Part> {
  params: Out<P>;
  query: Out<Q>;
  body: Out<B>;
}

export interface Context {
  control: FleetControl;
  feed: EventFeed;
  connection: Connection;
  header(name: string): string | undefined;
}

export type AnyEndpoint = Endpoint<Part, Part, Part, Part>;

export type BodyOf<E> = E extends { body: infer B extends Part } ? In<B> : never;
export type ResponseOf<E> = E extends { response: infer R extends Part } ? Out<R> : never;

type Given<P extends Part, Q extends Part, B extends Part, R extends Part> = Pick<
  Endpoint<P, Q, B, R>,
  "summary" | "answer"
> & { params?: P; query?: Q; body?: B; response?: R; streams?: boolean; bodyLimit?: number };

const mebibyte = 1024 * 1024;

export function endpoint<
  P extends Part = undefined,
  Q extends Part = undefined,
  B extends Part = undefined,
  R extends Part = undefined,
>(name: RouteName, given: Given<P, Q, B, R>): Endpoint<P, Q, B, R> {
  const [method, path] = routes[name];
  const unsaid = { params: undefined, query: undefined, body: undefined, response: undefined };
  return { ...unsaid, streams: false, bodyLimit: mebibyte, ...given, method, path } as Endpoint<
    P,
    Q,
    B,
    R
  >;
}
