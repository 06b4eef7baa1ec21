import type { ProviderErrorKind } from "../script/fault.ts";
import { createApiError, errorTypeForStatus } from "../server/api-error.ts";
import { jsonResponse, type PlannedResponse } from "../server/planned-response.ts";

export type ErrorDialect = "anthropic" | "aws" | "google";

interface ErrorFacts {
  status: number;
  /** The error's name in the dialect. */
  type: string;
  message: string;
}

/** Texts of the real services, without names of accounts. */
const errors: Readonly<Record<ErrorDialect, Readonly<Record<ProviderErrorKind, ErrorFacts>>>> = {
  anthropic: {
    throttled: { status: 429, type: "rate_limit_error", message: "Rate limit exceeded" },
    daily_quota: { status: 429, type: "rate_limit_error", message: "Too many tokens per day" },
    expired_token: { status: 401, type: "authentication_error", message: "The token has expired" },
    access_denied: {
      status: 403,
      type: "permission_error",
      message: "The key may not use the API",
    },
    model_denied: {
      status: 404,
      type: "not_found_error",
      message: "The model is not enabled for this resource",
    },
    overloaded: { status: 529, type: "overloaded_error", message: "Overloaded" },
  },
  aws: {
    throttled: {
      status: 429,
      type: "ThrottlingException",
      message: "Too many requests, please wait before trying again.",
    },
    daily_quota: {
      status: 429,
      type: "ThrottlingException",
      message: "Too many tokens per day, please wait before trying again.",
    },
    expired_token: {
      status: 403,
      type: "ExpiredTokenException",
      message: "The security token included in the request is expired",
    },
    access_denied: {
      status: 403,
      type: "AccessDeniedException",
      message:
        "User: arn:aws:sts::000000000000:assumed-role/rehearsal/herdctl is not authorized to perform: bedrock:InvokeModelWithResponseStream",
    },
    model_denied: {
      status: 403,
      type: "AccessDeniedException",
      message: "You don't have access to the model with the specified model ID.",
    },
    overloaded: {
      status: 503,
      type: "ServiceUnavailableException",
      message: "Too many connections, please wait before trying again.",
    },
  },
  google: {
    throttled: {
      status: 429,
      type: "RESOURCE_EXHAUSTED",
      message:
        "Quota exceeded for aiplatform.googleapis.com/online_prediction_requests_per_base_model.",
    },
    daily_quota: {
      status: 429,
      type: "RESOURCE_EXHAUSTED",
      message: "Quota exceeded for quota metric 'Tokens per day'.",
    },
    expired_token: {
      status: 401,
      type: "UNAUTHENTICATED",
      message:
        "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential.",
    },
    access_denied: {
      status: 403,
      type: "PERMISSION_DENIED",
      message: "Permission 'aiplatform.endpoints.predict' denied on resource.",
    },
    model_denied: {
      status: 404,
      type: "NOT_FOUND",
      message: "Publisher Model was not found or your project does not have access to it.",
    },
    overloaded: { status: 529, type: "overloaded_error", message: "Overloaded" },
  },
};

export function providerError(
  dialect: ErrorDialect,
  kind: ProviderErrorKind,
  message?: string,
): PlannedResponse {
  const facts = errors[dialect][kind];
  return shapeError(dialect, { ...facts, message: message ?? facts.message });
}

/** An error with any status. */
export function statusError(
  dialect: ErrorDialect,
  status: number,
  { type, message }: { type?: string; message?: string } = {},
): PlannedResponse {
  const name = type ?? typeForStatus(dialect, status);
  return shapeError(dialect, { status, type: name, message: message ?? `Rehearsed ${name}` });
}

/** The name of an overload in the middle of a stream. */
export function overloadFacts(dialect: ErrorDialect): ErrorFacts {
  return errors[dialect].overloaded;
}

function shapeError(dialect: ErrorDialect, { status, type, message }: ErrorFacts): PlannedResponse {
  if (dialect === "aws") {
    const response = jsonResponse({ message }, status);
    return { ...response, headers: { ...response.headers, "x-amzn-errortype": type } };
  }
  // Vertex AI passes errors of the model on as they are.
  if (dialect === "google" && type === type.toUpperCase())
    return jsonResponse({ error: { code: status, message, status: type } }, status);
  return jsonResponse(createApiError(type, message), status);
}

const awsTypes: Readonly<Record<number, string>> = {
  400: "ValidationException",
  403: "AccessDeniedException",
  404: "ResourceNotFoundException",
  408: "ModelTimeoutException",
  424: "ModelErrorException",
  429: "ThrottlingException",
  503: "ServiceUnavailableException",
};

const googleTypes: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  503: "UNAVAILABLE",
};

function typeForStatus(dialect: ErrorDialect, status: number): string {
  if (dialect === "aws") return awsTypes[status] ?? "InternalServerException";
  if (dialect === "google") return googleTypes[status] ?? errorTypeForStatus(status);
  return errorTypeForStatus(status);
}
