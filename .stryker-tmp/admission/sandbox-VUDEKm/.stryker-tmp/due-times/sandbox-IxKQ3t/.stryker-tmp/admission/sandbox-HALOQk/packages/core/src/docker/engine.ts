import type { Environment } from "@herdctl/config";
import { errorCode, UserError } from "@herdctl/protocol";
import type Docker from "dockerode";
import { type EngineAddress, engineAddress } from "./engine-address.ts";

const pingTimeoutMs = 10_000;

/** Connects to the engine of this machine. Throws a `UserError` if it does not answer. */
export async function connectEngine(env: Environment): Promise<Docker> {
  const address = engineAddress(env);
  const probe = await openEngine(address, { timeout: pingTimeoutMs });
  try {
    await probe.ping();
  } catch (error) {
    throw unreachableError(address, error);
  }
  return await openEngine(address);
}

export type ImageInfo =
  | { kind: "present"; id: string; labels: Readonly<Record<string, string>> }
  | { kind: "missing" };

export async function readImageInfo(engine: Docker, name: string): Promise<ImageInfo> {
  try {
    const { Id: id, Config: config } = await engine.getImage(name).inspect();
    return { kind: "present", id, labels: config.Labels ?? {} };
  } catch (error) {
    if (httpStatusOf(error) === 404) return { kind: "missing" };
    throw error;
  }
}

/** The HTTP status of an engine error; undefined if the engine did not respond. */
export function httpStatusOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("statusCode" in error)) return undefined;
  return typeof error.statusCode === "number" ? error.statusCode : undefined;
}

/** Imported on demand, because the import takes longer than most commands. */
export async function loadDockerode(): Promise<typeof Docker> {
  return (await import("dockerode")).default;
}

async function openEngine(
  { socketPath }: EngineAddress,
  options: { timeout?: number } = {},
): Promise<Docker> {
  const Engine = await loadDockerode();
  // With an empty host, the library ignores `DOCKER_HOST` of this process.
  return new Engine({ socketPath, host: "", protocol: "http", ...options });
}

const connectionErrors: Record<string, { why: string; hint: string }> = {
  ENOENT: {
    why: "there is no such socket",
    hint: "Install Docker and start it, or set `DOCKER_HOST` to its socket.",
  },
  ECONNREFUSED: {
    why: "no engine is listening on it",
    hint: "Start the engine, for example with `systemctl start docker`.",
  },
  EACCES: {
    why: "this user has no permission to use it",
    hint: "Allow this user to use Docker, for example by adding it to the group `docker`.",
  },
  ECONNRESET: {
    why: "it does not answer",
    hint: "Check the engine: `docker info` should answer.",
  },
};

function unreachableError({ socketPath, source }: EngineAddress, error: unknown): UserError {
  const { why, hint } = connectionErrors[errorCode(error) ?? ""] ?? {
    why: error instanceof Error ? error.message : String(error),
    hint: "Check the engine: `docker info` should answer.",
  };
  return new UserError(
    "docker_unavailable",
    `The Docker engine at ${socketPath} (${source}) cannot be reached: ${why}.`,
    { hint, cause: error },
  );
}
