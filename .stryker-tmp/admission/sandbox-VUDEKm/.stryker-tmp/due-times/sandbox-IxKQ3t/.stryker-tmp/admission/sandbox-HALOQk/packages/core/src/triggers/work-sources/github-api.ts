import { setTimeout as delay } from "node:timers/promises";
import { UserError } from "@herdctl/protocol";

export interface GitHubResponse {
  status: number;
  data: unknown;
  /** The server's clock, which determines the age of claims. */
  serverTime: Date;
  headers: Headers;
}

export interface GitHubApiOptions {
  baseUrl: string;
  token: string;
  /** Maximum wait for the rate limit; a longer wait is an error. */
  maxRateLimitWaitMs?: number;
  signal?: AbortSignal;
}

const maxAttempts = 4;
const initialRetryDelayMs = 500;
const callTimeoutMs = 30_000;

/**
 * GitHub's REST API, with retries and rate limits. Responses and errors never contain the token.
 */
export class GitHubApi {
  constructor(private readonly options: GitHubApiOptions) {}

  /** Any other status is an error. */
  async call(
    method: string,
    path: string,
    expected: number[],
    body?: object,
  ): Promise<GitHubResponse> {
    for (let attempt = 1; ; attempt++) {
      const response = await this.sendOnce(method, path, body).catch((error: unknown) => {
        if (attempt >= maxAttempts)
          throw this.requestFailed(`${method} ${path}: ${reasonOf(error)}`);
      });
      if (response && expected.includes(response.status)) return response;
      const delayMs = response
        ? retryDelayAfter(response, attempt)
        : initialRetryDelayMs * 2 ** attempt;
      if (response && (delayMs === undefined || attempt >= maxAttempts)) {
        const errorText = errorMessageOf(response.data);
        throw this.requestFailed(
          `${method} ${path} failed with status ${response.status}${errorText}`,
        );
      }
      if ((delayMs ?? 0) > (this.options.maxRateLimitWaitMs ?? 60_000)) {
        const until = new Date(Date.now() + (delayMs ?? 0)).toISOString();
        throw this.requestFailed(`the rate limit is reached until ${until}`);
      }
      await delay(delayMs, undefined, { signal: this.options.signal });
    }
  }

  /** Has a timer of this class, because Node may garbage-collect combined signals too early. */
  private async sendOnce(method: string, path: string, body?: object): Promise<GitHubResponse> {
    const { signal } = this.options;
    const timeoutAbort = new AbortController();
    const timer = setTimeout(
      () => timeoutAbort.abort(new Error("the request timed out")),
      callTimeoutMs,
    );
    const abort = () => timeoutAbort.abort(signal?.reason);
    signal?.addEventListener("abort", abort, { once: true });
    if (signal?.aborted) abort();
    try {
      return await readResponse(await this.fetch(method, path, body, timeoutAbort.signal));
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    }
  }

  private fetch(method: string, path: string, body: object | undefined, signal: AbortSignal) {
    const { baseUrl, token } = this.options;
    return fetch(`${baseUrl.replace(/\/$/, "")}${path}`, {
      method,
      headers: {
        accept: "application/vnd.github+json",
        authorization: `Bearer ${token}`,
        "user-agent": "herdctl",
        "x-github-api-version": "2022-11-28",
        ...(body && { "content-type": "application/json" }),
      },
      body: body && JSON.stringify(body),
      signal,
    });
  }

  private requestFailed(message: string): UserError {
    return new UserError("work_source_failed", `GitHub: ${message}`);
  }
}

async function readResponse(response: Response): Promise<GitHubResponse> {
  const text = await response.text();
  const date = Date.parse(response.headers.get("date") ?? "");
  return {
    status: response.status,
    data: text === "" ? undefined : parseJson(text),
    serverTime: Number.isNaN(date) ? new Date() : new Date(date),
    headers: response.headers,
  };
}

/** How long to wait before a retry may succeed; undefined if it never will. */
function retryDelayAfter({ status, headers }: GitHubResponse, attempt: number): number | undefined {
  const retryAfterSeconds = Number(headers.get("retry-after"));
  if ((status === 403 || status === 429) && retryAfterSeconds > 0) return retryAfterSeconds * 1000;
  if ((status === 403 || status === 429) && headers.get("x-ratelimit-remaining") === "0") {
    const reset = Number(headers.get("x-ratelimit-reset")) * 1000;
    return Math.max(1_000, reset - Date.now() + 1_000);
  }
  const isTransient = status === 429 || status >= 500;
  return isTransient ? initialRetryDelayMs * 2 ** attempt : undefined;
}

function errorMessageOf(data: unknown): string {
  const isObject = typeof data === "object" && data !== null && "message" in data;
  return isObject ? `: ${String(data.message).slice(0, 200)}` : "";
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  return error.cause instanceof Error ? error.cause.message : error.message;
}
