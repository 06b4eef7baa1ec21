import { setTimeout as delay } from "node:timers/promises";
import { UserError } from "../errors/user-error.ts";

export interface ApiAnswer {
  status: number;
  data: unknown;
  /** The server's clock: claims are aged by it, and not by ours. */
  now: Date;
  headers: Headers;
}

export interface ApiOptions {
  baseUrl: string;
  token: string;
  /** How long a limit is waited for; beyond it the call fails. */
  patience?: number;
  signal?: AbortSignal;
}

const tries = 4;
const firstPause = 500;
const callLimit = 30_000;

/** GitHub's REST API, with the manners that it asks for. No answer or error holds the token. */
export class GitHubApi {
  constructor(private readonly options: ApiOptions) {}

  /** Statuses other than these are errors. */
  async call(method: string, path: string, expected: number[], body?: object): Promise<ApiAnswer> {
    for (let attempt = 1; ; attempt++) {
      const response = await this.send(method, path, body).catch((error: unknown) => {
        if (attempt >= tries) throw this.failure(`${method} ${path}: ${reasonOf(error)}`);
      });
      if (response && expected.includes(response.status)) return response;
      const pause = response ? pauseAfter(response, attempt) : firstPause * 2 ** attempt;
      if (response && (pause === undefined || attempt >= tries)) {
        const said = messageOf(response.data);
        throw this.failure(`${method} ${path} was answered with ${response.status}${said}`);
      }
      if ((pause ?? 0) > (this.options.patience ?? 60_000)) {
        const until = new Date(Date.now() + (pause ?? 0)).toISOString();
        throw this.failure(`the API's limit is reached; it lasts until ${until}`);
      }
      await delay(pause, undefined, { signal: this.options.signal });
    }
  }

  /** The limit is one of our own: Node may lose signals that it combines to its garbage collector. */
  private async send(method: string, path: string, body?: object): Promise<ApiAnswer> {
    const { signal } = this.options;
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(new Error("no answer in time")), callLimit);
    const stop = () => limit.abort(signal?.reason);
    signal?.addEventListener("abort", stop, { once: true });
    if (signal?.aborted) stop();
    try {
      return await answerOf(await this.fetch(method, path, body, limit.signal));
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", stop);
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

  private failure(message: string): UserError {
    return new UserError("work_source_failed", `GitHub: ${message}`);
  }
}

async function answerOf(response: Response): Promise<ApiAnswer> {
  const text = await response.text();
  const date = Date.parse(response.headers.get("date") ?? "");
  return {
    status: response.status,
    data: text === "" ? undefined : parseJson(text),
    now: Number.isNaN(date) ? new Date() : new Date(date),
    headers: response.headers,
  };
}

/** How long to wait before the same call may go well; undefined when it never will. */
function pauseAfter({ status, headers }: ApiAnswer, attempt: number): number | undefined {
  const asked = Number(headers.get("retry-after"));
  if ((status === 403 || status === 429) && asked > 0) return asked * 1000;
  if ((status === 403 || status === 429) && headers.get("x-ratelimit-remaining") === "0") {
    const reset = Number(headers.get("x-ratelimit-reset")) * 1000;
    return Math.max(1_000, reset - Date.now() + 1_000);
  }
  const passes = status === 429 || status >= 500;
  return passes ? firstPause * 2 ** attempt : undefined;
}

function messageOf(data: unknown): string {
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
