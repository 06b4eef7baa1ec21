import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Environment } from "@herdctl/config";
import { UserError } from "@herdctl/protocol";
import { fleetIdOf, labels } from "./container-labels.ts";
import { imageLabels } from "./docker-config.ts";
import { connectEngine } from "./engine.ts";

/** What herdctl has left in the Docker engine. */
export interface DockerParts {
  /** Containers of this fleet. */
  containers: { id: string; name: string }[];
  /** Agent images, which all fleets of the machine share. */
  images: { id: string; name: string }[];
}

/** Empty if there is no engine that answers: then nothing can be found or removed. */
export async function findDockerParts(stateDir: string, env: Environment): Promise<DockerParts> {
  try {
    const engine = await connectEngine(env);
    const images = await engine.listImages({ filters: { label: [imageLabels.contract] } });
    // Asking for the id of a fleet creates it.
    const fleet = existsSync(join(stateDir, "fleet-id")) ? fleetIdOf(stateDir) : undefined;
    const filters = { label: [`${labels.fleet}=${fleet}`] };
    const containers =
      fleet === undefined ? [] : await engine.listContainers({ all: true, filters });
    return {
      containers: containers.map(({ Id: id, Names: [name = id] }) => ({
        id,
        name: name.replace(/^\//, ""),
      })),
      images: images.map(({ Id: id, RepoTags: tags }) => ({ id, name: tags?.[0] ?? id })),
    };
  } catch (error) {
    if (error instanceof UserError) return { containers: [], images: [] };
    throw error;
  }
}

export async function removeDockerParts(
  { containers, images }: DockerParts,
  env: Environment,
): Promise<void> {
  const engine = await connectEngine(env);
  for (const { id } of containers) await engine.getContainer(id).remove({ force: true, v: true });
  for (const { id } of images) await engine.getImage(id).remove({ force: true });
}
