import type Docker from "dockerode";
import { z } from "zod";
import { UserError } from "../../errors/user-error.ts";
import { imageInfo } from "./engine.ts";
import { type HostMount, hostMounts, mountOf } from "./host-mounts.ts";

/** The image as it was configured, and the one that this name stood for when the run began. */
export interface ImageReference {
  name: string;
  id: string;
}

/** Facts about the engine that decide how a container is described, read once per run. */
export interface EngineFacts {
  image: ImageReference;
  /** Processors of the engine's machine, which can be a virtual one; undefined if it cannot limit them. */
  cpus: number | undefined;
  version: string;
  /** It can make the mounts below a read-only bind mount read-only, too. */
  recursiveReadOnly: boolean;
  /** It can limit how much a container writes to its root file system. */
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
    imageInfo(engine, imageName),
  ]);
  if (image.kind === "missing") throw imageMissing(imageName);
  return {
    image: { name: imageName, id: image.id },
    cpus: info.CpuCfsQuota === true ? info.NCPU : undefined,
    version: info.ServerVersion,
    recursiveReadOnly: isAtLeast(api, firstRecursiveApi),
    diskQuota: hasDiskQuota(info.Driver, info.DockerRootDir, hostMounts()),
  };
}

/** Docker 25. */
const firstRecursiveApi = [1, 44];

function isAtLeast(version: string, least: readonly number[]): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [leastMajor = 0, leastMinor = 0] = least;
  return major > leastMajor || (major === leastMajor && minor >= leastMinor);
}

/** A quota that the engine cannot enforce is an error to it. `overlay2` takes one on XFS with project quotas. */
export function hasDiskQuota(
  driver: string,
  rootDir: string,
  mounts: readonly HostMount[],
): boolean {
  if (driver === "btrfs" || driver === "zfs") return true;
  const mount = mountOf(rootDir, mounts);
  return driver === "overlay2" && mount?.type === "xfs" && mount.options.includes("prjquota");
}

export function imageMissing(image: string): UserError {
  return new UserError("image_missing", `There is no image \`${image}\` on this machine.`);
}
