import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import type { Environment } from "@herdctl/config";
import { errorCode, hasErrorCode, UserError } from "@herdctl/protocol";
import type Docker from "dockerode";
import { z } from "zod";
import { currentUserName } from "../store/model/identity.ts";
import { findMount, type HostMount, readHostMounts } from "./host-mounts.ts";

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

/** Undefined if the engine does not answer. */
export async function dockerVersion(env: Environment): Promise<string | undefined> {
  try {
    const { Version: version } = await (await connectEngine(env)).version();
    return version;
  } catch {
    return undefined;
  }
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
  ECONNRESET: {
    why: "it does not answer",
    hint: "Check the engine: `docker info` should answer.",
  },
};

/** Exported for tests: root is never refused. */
export function unreachableError({ socketPath, source }: EngineAddress, error: unknown): UserError {
  if (hasErrorCode(error, "EACCES", "EPERM")) {
    const user = currentUserName();
    return new UserError(
      "docker_denied",
      `The user ${user} has no permission to use the Docker engine at ${socketPath} (${source}).`,
      {
        hint: `Run \`sudo usermod -aG docker ${user}\`, log in again, and restart the fleet.`,
        cause: error,
      },
    );
  }
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

interface EngineAddress {
  socketPath: string;
  /** Where the address comes from, for messages. */
  source: string;
}

const defaultHost = "unix:///var/run/docker.sock";

/** The engine that the `docker` command would use: from a variable, a context, or the default. */
export function engineAddress(env: Environment): EngineAddress {
  if (env.DOCKER_HOST) return localAddress(env.DOCKER_HOST, "`DOCKER_HOST`");
  const folder = env.DOCKER_CONFIG || join(env.HOME || homedir(), ".docker");
  const context = env.DOCKER_CONTEXT || currentContext(folder);
  if (context === undefined || context === "default") {
    return localAddress(defaultHost, "the default");
  }
  return localAddress(contextHost(folder, context), `the Docker context \`${context}\``);
}

function localAddress(host: string, source: string): EngineAddress {
  const socketPath = host.startsWith("unix://") ? host.slice("unix://".length) : undefined;
  if (socketPath !== undefined && isAbsolute(socketPath)) return { socketPath, source };
  throw new UserError(
    "docker_remote",
    `The address of the Docker engine (from ${source}) is not a socket of this machine: ${host}`,
  );
}

const configSchema = z.object({ currentContext: z.string().optional() });

/** Undefined if the file is missing or unreadable, which means that no context was chosen. */
function currentContext(folder: string): string | undefined {
  try {
    const text = readFileSync(join(folder, "config.json"), "utf8");
    return configSchema.parse(JSON.parse(text)).currentContext || undefined;
  } catch {
    return undefined;
  }
}

const contextSchema = z.object({ Endpoints: z.object({ docker: z.object({ Host: z.string() }) }) });

function contextHost(folder: string, context: string): string {
  const name = createHash("sha256").update(context).digest("hex");
  const file = join(folder, "contexts/meta", name, "meta.json");
  try {
    return contextSchema.parse(JSON.parse(readFileSync(file, "utf8"))).Endpoints.docker.Host;
  } catch (cause) {
    throw new UserError(
      "docker_unavailable",
      `The Docker context \`${context}\` has no engine address.`,
      { hint: "Choose another with `docker context use`, or set `DOCKER_HOST`.", cause },
    );
  }
}

/** The configured image name, and the image id it referred to when the run started. */
export interface ImageReference {
  name: string;
  id: string;
}

/** Facts about the engine that affect the container specification; read once per run. */
export interface EngineFacts {
  image: ImageReference;
  /** CPUs of the engine's machine, possibly a virtual one; undefined if the engine cannot limit them. */
  cpus: number | undefined;
  version: string;
  /** Whether it can make mounts below a read-only bind mount read-only as well. */
  recursiveReadOnly: boolean;
  /** Whether it can limit the size of a container's root file system. */
  diskQuota: boolean;
}

const infoSchema = z.object({
  NCPU: z.number().int().positive(),
  CpuCfsQuota: z.boolean().optional(),
  ServerVersion: z.string().default("unknown"),
  Driver: z.string().default(""),
  DockerRootDir: z.string().default(""),
});

export async function readEngineFacts(engine: Docker, imageName: string): Promise<EngineFacts> {
  const [info, { ApiVersion: api }, image] = await Promise.all([
    engine.info().then((answer) => infoSchema.parse(answer)),
    engine.version(),
    readImageInfo(engine, imageName),
  ]);
  if (image.kind === "missing") throw imageMissingError(imageName);
  return {
    image: { name: imageName, id: image.id },
    cpus: info.CpuCfsQuota === true ? info.NCPU : undefined,
    version: info.ServerVersion,
    recursiveReadOnly: isVersionAtLeast(api, minRecursiveReadOnlyApi),
    diskQuota: hasDiskQuota(info.Driver, info.DockerRootDir, readHostMounts()),
  };
}

/** Docker 25. */
const minRecursiveReadOnlyApi = [1, 44];

function isVersionAtLeast(version: string, least: readonly number[]): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [leastMajor = 0, leastMinor = 0] = least;
  return major > leastMajor || (major === leastMajor && minor >= leastMinor);
}

/** The engine rejects a quota that it cannot enforce. `overlay2` supports one on XFS with project quotas. */
export function hasDiskQuota(
  driver: string,
  rootDir: string,
  mounts: readonly HostMount[],
): boolean {
  if (driver === "btrfs" || driver === "zfs") return true;
  const mount = findMount(rootDir, mounts);
  return driver === "overlay2" && mount?.type === "xfs" && mount.options.includes("prjquota");
}

export function imageMissingError(image: string): UserError {
  return new UserError("image_missing", `There is no image \`${image}\` on this machine.`);
}
