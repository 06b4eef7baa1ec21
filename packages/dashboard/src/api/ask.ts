import {
  type BodyOf,
  type Endpoints,
  type Failure,
  type QueryOf,
  type ResponseOf,
  type RouteName,
  routes,
} from "@herdctl/server/contract";
import { FleetError } from "./fleet-error.ts";

export type Answer<N extends RouteName> = ResponseOf<Endpoints[N]>;

/** What a call is about: together with its name, what its answer is remembered by. */
export interface About<N extends RouteName> {
  params?: Record<string, string>;
  query?: Partial<QueryOf<Endpoints[N]>>;
}

export interface Asked<N extends RouteName> extends About<N> {
  body?: BodyOf<Endpoints[N]>;
  signal?: AbortSignal;
}

export async function ask<N extends RouteName>(
  name: N,
  { body, signal, ...about }: Asked<N> = {},
): Promise<Answer<N>> {
  const [method] = routes[name];
  const json = body === undefined ? undefined : JSON.stringify(body);
  const headers: Record<string, string> =
    json === undefined ? {} : { "content-type": "application/json" };
  const response = await fetch(addressOf(name, about), {
    method,
    headers,
    body: json,
    signal,
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw FleetError.unreachable();
  });
  const text = await response.text();
  if (!response.ok) throw FleetError.told(response.status, failureOf(text));
  // The edge: the fleet's own schemas have shaped the answer.
  return (text === "" ? undefined : JSON.parse(text)) as Answer<N>;
}

export function addressOf<N extends RouteName>(name: N, { params = {}, query }: About<N> = {}) {
  const [, path] = routes[name];
  const filled = path.replaceAll(/:(\w+)/g, (_, key) => encodeURIComponent(params[key] ?? ""));
  const given = Object.entries(query ?? {}).filter(([, value]) => value !== undefined);
  const search = new URLSearchParams(
    given.map(([key, value]): [string, string] => [key, String(value)]),
  );
  return search.size === 0 ? filled : `${filled}?${search}`;
}

function failureOf(text: string): Failure["errors"] {
  try {
    const { errors }: Failure = JSON.parse(text);
    return errors;
  } catch {
    return [];
  }
}
