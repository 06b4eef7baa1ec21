import {
  type BodyOf,
  type Endpoints,
  type ErrorBody,
  type QueryOf,
  type ResponseOf,
  type RouteName,
  routes,
} from "@herdctl/server/contract";
import { FleetError } from "./fleet-error.ts";

export type ResponseOfRoute<N extends RouteName> = ResponseOf<Endpoints[N]>;

/** Path and query parameters of a call. With the route name they form its cache key. */
export interface RequestKey<N extends RouteName> {
  params?: Record<string, string>;
  query?: Partial<QueryOf<Endpoints[N]>>;
}

export interface CallOptions<N extends RouteName> extends RequestKey<N> {
  body?: BodyOf<Endpoints[N]>;
  signal?: AbortSignal;
}

export async function callFleet<N extends RouteName>(
  name: N,
  { body, signal, ...requestKey }: CallOptions<N> = {},
): Promise<ResponseOfRoute<N>> {
  const [method] = routes[name];
  const json = body === undefined ? undefined : JSON.stringify(body);
  const headers: Record<string, string> =
    json === undefined ? {} : { "content-type": "application/json" };
  const response = await fetch(urlOf(name, requestKey), {
    method,
    headers,
    body: json,
    signal,
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw FleetError.unreachable();
  });
  const text = await response.text();
  if (!response.ok) throw FleetError.fromResponse(response.status, parseErrors(text));
  // The server validates every response against the contract.
  return (text === "" ? undefined : JSON.parse(text)) as ResponseOfRoute<N>;
}

export function urlOf<N extends RouteName>(name: N, { params = {}, query }: RequestKey<N> = {}) {
  const [, path] = routes[name];
  const filledPath = path.replaceAll(/:(\w+)/g, (_, key) => encodeURIComponent(params[key] ?? ""));
  const definedEntries = Object.entries(query ?? {}).filter(([, value]) => value !== undefined);
  const queryParams = new URLSearchParams(
    definedEntries.map(([key, value]): [string, string] => [key, String(value)]),
  );
  return queryParams.size === 0 ? filledPath : `${filledPath}?${queryParams}`;
}

function parseErrors(text: string): ErrorBody["errors"] {
  try {
    const { errors }: ErrorBody = JSON.parse(text);
    return errors;
  } catch {
    return [];
  }
}
