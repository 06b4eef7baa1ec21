import type { ErrorBody } from "@herdctl/protocol";
import { errorTable, ProblemsError, UserError } from "@herdctl/protocol";
import type { z } from "zod";
import type { AnyEndpoint } from "./contract/define-endpoint.ts";

export interface ErrorResponse {
  status: number;
  body: ErrorBody;
}

/** User errors are returned as they are. Internal errors reveal no details. */
export function toErrorResponse(error: unknown): ErrorResponse {
  if (error instanceof InvalidRequestError)
    return { status: error.status, body: toInvalidRequestBody(error) };
  if (error instanceof ProblemsError) {
    const { code, problems, status } = error;
    return { status, body: { errors: problems.map((problem) => ({ code, ...problem })) } };
  }
  if (error instanceof UserError) {
    const { code, message, apiHint: hint, status } = error;
    return { status, body: { errors: [{ code, message, hint }] } };
  }
  const hint = "Please report this bug. The fleet's log has the details.";
  return { status: 500, body: { errors: [{ code: "bug", message: "internal error", hint }] } };
}

export function isBug(error: unknown): boolean {
  return !(error instanceof UserError);
}

/** A request that does not match the contract, with all issues. */
export class InvalidRequestError extends UserError {
  override readonly name = "InvalidRequest";

  constructor(
    endpoint: AnyEndpoint,
    readonly issues: readonly Pick<z.core.$ZodIssue, "path" | "message">[],
  ) {
    super("request_invalid", `invalid request for ${endpoint.method} ${endpoint.path}`);
  }
}

export function requestTooLargeError({ method, path, maxBodyBytes }: AnyEndpoint): UserError {
  const message = `the body of ${method} ${path} exceeds ${maxBodyBytes} bytes`;
  return new UserError("request_too_large", message);
}

export function routeNotFoundError(method: string, path: string): UserError {
  return new UserError("route_not_found", `there is no ${method} ${path}`);
}

/** The response to a request that the HTTP library cannot parse. */
export function malformedRequestResponse(): Response {
  const { status, body } = toErrorResponse(
    new UserError("request_invalid", "the request URL is malformed"),
  );
  return Response.json(body, { status });
}

function toInvalidRequestBody({ code, issues }: InvalidRequestError): ErrorBody {
  const { hint } = errorTable[code];
  return {
    errors: issues.map(({ path, message }) => ({ code, path: path.join("."), message, hint })),
  };
}
