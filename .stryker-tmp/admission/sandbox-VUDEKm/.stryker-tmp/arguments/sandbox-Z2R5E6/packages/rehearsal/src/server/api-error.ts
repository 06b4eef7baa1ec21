export interface ApiError {
  type: "error";
  error: { type: string; message: string };
}

export function createApiError(type: string, message: string): ApiError {
  return { type: "error", error: { type, message } };
}

const errorTypeByStatus: Record<number, string> = {
  400: "invalid_request_error",
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  504: "timeout_error",
  529: "overloaded_error",
};

export function errorTypeForStatus(status: number): string {
  return errorTypeByStatus[status] ?? (status < 500 ? "invalid_request_error" : "api_error");
}
