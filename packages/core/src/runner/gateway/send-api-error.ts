import type { ServerResponse } from "node:http";

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
