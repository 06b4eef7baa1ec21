import { errorTable, ProblemsError, UserError } from "@herdctl/core/light";
import type { z } from "zod";
import type { AnyEndpoint } from "./contract/endpoint.ts";
import type { Failure } from "./contract/errors.ts";

export interface FailedAnswer {
  status: number;
  body: Failure;
}

/** What a person can fix is told as it is; a bug of ours shows nothing of its inside. */
export function toFailure(error: unknown): FailedAnswer {
  if (error instanceof InvalidRequest) return { status: error.status, body: bodyOfInvalid(error) };
  if (error instanceof ProblemsError) {
    const { code, problems, status } = error;
    return { status, body: { errors: problems.map((problem) => ({ code, ...problem })) } };
  }
  if (error instanceof UserError) {
    const { code, message, hint, status } = error;
    return { status, body: { errors: [{ code, message, hint }] } };
  }
  const hint = "Please report it; the log of the fleet holds the story.";
  return { status: 500, body: { errors: [{ code: "bug", message: "herdctl has a bug", hint }] } };
}

export function isBug(error: unknown): boolean {
  return !(error instanceof UserError);
}

/** A request that does not fit the contract, with all that is wrong in it. */
export class InvalidRequest extends UserError {
  override readonly name = "InvalidRequest";

  constructor(
    endpoint: AnyEndpoint,
    readonly issues: readonly Pick<z.core.$ZodIssue, "path" | "message">[],
  ) {
    super("request_invalid", `this is no request for ${endpoint.method} ${endpoint.path}`);
  }
}

export function tooLarge({ method, path, bodyLimit }: AnyEndpoint): UserError {
  const message = `a request to ${method} ${path} has at most ${bodyLimit} bytes`;
  return new UserError("request_too_large", message);
}

export function noSuchRoute(method: string, path: string): UserError {
  return new UserError("route_not_found", `there is no ${method} ${path}`);
}

/** What even the library that reads requests cannot make one of. */
export function notHttp(): Response {
  const { status, body } = toFailure(
    new UserError("request_invalid", "the address of the request cannot be read"),
  );
  return Response.json(body, { status });
}

function bodyOfInvalid({ code, issues }: InvalidRequest): Failure {
  const { hint } = errorTable[code];
  return {
    errors: issues.map(({ path, message }) => ({ code, path: path.join("."), message, hint })),
  };
}
