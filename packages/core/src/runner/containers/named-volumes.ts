import { UserError } from "@herdctl/protocol";
import type { ContainerManager } from "../../docker/container-manager.ts";
import type { ContainerUser } from "../../docker/docker-config.ts";
import type { Mount } from "../../docker/mounts.ts";

/** The owner of the volumes, and the image of the container that changes it. */
interface VolumeSetup {
  image: string;
  user: ContainerUser;
  mounts: readonly Mount[];
}

/**
 * Creates missing named volumes and gives them to the container's user: the engine would create them
 * for root. Existing volumes keep their owner.
 */
export async function prepareVolumes(
  manager: ContainerManager,
  { image, user, mounts }: VolumeSetup,
): Promise<void> {
  for (const { source, isVolume } of mounts) {
    if (!isVolume) continue;
    const volume = await manager.findVolume(source);
    if (volume?.hostPath !== undefined) throw hostVolumeError(source, volume.hostPath);
    if (!volume) await createVolume(manager, source, { image, user });
  }
}

async function createVolume(
  manager: ContainerManager,
  name: string,
  { image, user }: Pick<VolumeSetup, "image" | "user">,
): Promise<void> {
  await manager.createVolume(name);
  const target = "/volume";
  try {
    await manager.runToEnd({
      Image: image,
      User: "0:0",
      Entrypoint: ["chown"],
      Cmd: [`${user.uid}:${user.gid}`, target],
      HostConfig: {
        NetworkMode: "none",
        ReadonlyRootfs: true,
        CapDrop: ["ALL"],
        CapAdd: ["CHOWN"],
        SecurityOpt: ["no-new-privileges:true"],
        Mounts: [{ Type: "volume", Source: name, Target: target }],
      },
    });
  } catch (error) {
    // Otherwise the next run would find a volume that it cannot write.
    await manager.removeVolume(name);
    throw error;
  }
}

/** The engine would mount a folder of the host that was not checked. */
function hostVolumeError(name: string, path: string): UserError {
  return new UserError(
    "workspace_unusable",
    `The volume ${name} is the folder ${path} of the host.`,
    {
      hint: "Name the folder itself in `docker.volumes`, or use another volume.",
    },
  );
}
