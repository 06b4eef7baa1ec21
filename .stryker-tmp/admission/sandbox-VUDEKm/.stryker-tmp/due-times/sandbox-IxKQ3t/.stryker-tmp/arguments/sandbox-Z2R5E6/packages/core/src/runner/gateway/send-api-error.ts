import type { ServerResponse } from "node:http";
import type { RefusedHost } from "./egress/traffic.ts";
import type { MeterSnapshot } from "./traffic-meter.ts";

const errorTypes: Record<number, string> = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  502: "api_error",
  529: "overloaded_error",
};

/** Sends a gateway error in the format of the API, so that the client reports it. */
export function sendApiError(
  response: ServerResponse,
  status: number,
  reason: string,
  remedy?: string,
): void {
  const message = remedy
    ? `${reason}. To allow it, set \`${remedy}\` for this agent in the fleet file.`
    : reason;
  const body = JSON.stringify({
    type: "error",
    error: { type: errorTypes[status] ?? "api_error", message: `herdctl gateway: ${message}` },
  });
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    connection: "close",
  });
  response.end(body);
}

/** A request that the gateway or the egress proxy refused, for the job's record. */
export interface RefusedRequest {
  /** `registry.example.com:443`, or `POST /v1/files`. */
  target: string;
  reason: string;
  remedy?: string;
  count: number;
}

/** Summarizes the refusals of gateway and egress proxy; equal ones are counted. */
export function summarizeRefusals(
  api: Pick<MeterSnapshot, "refusals"> | undefined,
  hosts: readonly RefusedHost[],
): RefusedRequest[] {
  const byKey = new Map<string, RefusedRequest>();
  for (const { method, target, reason, remedy } of api?.refusals ?? []) {
    const requested = `${method} ${target.split("?")[0]}`;
    const key = `${requested} ${reason}`;
    const existing = byKey.get(key);
    byKey.set(key, { target: requested, reason, remedy, count: (existing?.count ?? 0) + 1 });
  }
  return [
    ...byKey.values(),
    ...hosts.map(({ host, port, reason, remedy, count }) => ({
      target: `${host}:${port}`,
      reason,
      remedy,
      count,
    })),
  ];
}
