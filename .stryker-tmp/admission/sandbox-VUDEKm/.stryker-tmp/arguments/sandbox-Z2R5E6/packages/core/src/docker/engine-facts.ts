import { UserError } from "@herdctl/protocol";
import type Docker from "dockerode";
import { z } from "zod";
import { readImageInfo } from "./engine.ts";
import { findMount, type HostMount, readHostMounts } from "./host-mounts.ts";

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
