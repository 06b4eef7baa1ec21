import { existsSync, realpathSync } from "node:fs";
import { followLinks, guard, secretIn } from "../../config/boundary.ts";
import { UserError } from "../../errors/user-error.ts";
import type { ContainerUser, DockerConfig } from "../runtime/docker-config.ts";
import type { Mount } from "./mounts.ts";
import { checkAccess } from "./user.ts";

/**
 * The configured folders as they are right now: a link may lead elsewhere than it did when the
 * configuration was read, and the engine would make what is missing, as root's.
 */
export function volumeMounts(
  volumes: DockerConfig["volumes"],
  user: ContainerUser,
  stateDir: string,
): Mount[] {
  return volumes.map(({ source, target, mode }) => {
    if (!existsSync(source)) {
      throw new UserError("workspace_unusable", `The volume ${source} does not exist.`, {
        hint: "Create it, or correct `docker.volumes`.",
      });
    }
    const real = checkMountable(source, stateDir);
    const write = mode === "rw";
    checkAccess(user, {
      path: real,
      what: "the volume",
      write,
      remedy: write ? "or mount it read-only (`:ro`)" : "or make it readable for others",
    });
    return { source: real, target, readOnly: !write };
  });
}

/** The real path of what may be given to a container. */
export function checkMountable(path: string, stateDir: string): string {
  const real = realpathSync(path);
  const secret = secretIn(real, guard([], followLinks(stateDir)));
  if (secret === undefined) return real;
  throw new UserError("workspace_unusable", `The container would be given ${secret}.`, {
    hint: "Give it a folder of its own, such as a clone: `working_directory: { repo: … }`.",
  });
}
