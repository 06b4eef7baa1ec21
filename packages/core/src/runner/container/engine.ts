import type Docker from "dockerode";
import type { Environment } from "../../config/environment.ts";
import { UserError } from "../../errors/user-error.ts";
import { type EngineAddress, engineAddress } from "./engine-address.ts";

const patience = 10_000;

/** The engine of this machine, once it has answered; else what is wrong, as a `UserError`. */
export async function connectEngine(env: Environment): Promise<Docker> {
  const address = engineAddress(env);
  const probe = await openEngine(address, { timeout: patience });
  try {
    await probe.ping();
  } catch (error) {
    throw unreachable(address, error);
  }
  return await openEngine(address);
}

export type ImageInfo =
  | { kind: "present"; id: string; labels: Readonly<Record<string, string>> }
  | { kind: "missing" };

export async function imageInfo(engine: Docker, name: string): Promise<ImageInfo> {
  try {
    const { Id: id, Config: config } = await engine.getImage(name).inspect();
    return { kind: "present", id, labels: config.Labels ?? {} };
  } catch (error) {
    if (statusOf(error) === 404) return { kind: "missing" };
    throw error;
  }
}

/** What the engine answered instead of doing it; undefined when it did not answer at all. */
export function statusOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("statusCode" in error)) return undefined;
  return typeof error.statusCode === "number" ? error.statusCode : undefined;
}

/** Loaded only here: it takes longer than most commands of ours need altogether. */
export async function importDocker(): Promise<typeof Docker> {
  return (await import("dockerode")).default;
}

async function openEngine(
  { socketPath }: EngineAddress,
  options: { timeout?: number } = {},
): Promise<Docker> {
  const Engine = await importDocker();
  // Without an empty host the library would let `DOCKER_HOST` of this process decide.
  return new Engine({ socketPath, host: "", protocol: "http", ...options });
}

const reasons: Record<string, { why: string; hint: string }> = {
  ENOENT: {
    why: "there is no such socket",
    hint: "Install Docker and start it, or name its socket in `DOCKER_HOST`.",
  },
  ECONNREFUSED: {
    why: "nothing listens there",
    hint: "Start the engine, for example with `systemctl start docker`.",
  },
  EACCES: {
    why: "you may not use it",
    hint: "Let this user use Docker, for example by adding it to the group `docker`.",
  },
  ECONNRESET: {
    why: "it does not answer",
    hint: "Look whether the engine is well: `docker info` should answer.",
  },
};

function unreachable({ socketPath, source }: EngineAddress, error: unknown): UserError {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const { why, hint } = reasons[code] ?? {
    why: error instanceof Error ? error.message : String(error),
    hint: "Look whether the engine is well: `docker info` should answer.",
  };
  return new UserError(
    "docker_unavailable",
    `The Docker engine at ${socketPath} (${source}) cannot be reached: ${why}.`,
    { hint, cause: error },
  );
}
