import { UserError } from "../../errors/user-error.ts";
import type { EngineFacts } from "./engine-facts.ts";
import { type HostMount, writableMountsBelow } from "./host-mounts.ts";
import type { Mount } from "./mounts.ts";

/**
 * A read-only bind mount says nothing about the file systems that are mounted below its source:
 * engines before Docker 25 leave those writable, and later ones where the kernel is too old. So the
 * engine has to promise it, or the run is refused.
 */
export function readOnlyThroughout(
  mounts: readonly Mount[],
  engine: Pick<EngineFacts, "version" | "recursiveReadOnly">,
  onHost: readonly HostMount[],
): Mount[] {
  return mounts.map((mount) => {
    const [below] = mount.readOnly ? writableMountsBelow(mount.source, onHost) : [];
    if (below === undefined) return mount;
    if (engine.recursiveReadOnly) return { ...mount, recursive: true };
    throw new UserError(
      "workspace_unusable",
      `${below} is mounted below ${mount.source}, and Docker ${engine.version} would leave it writable in a container that gets ${mount.source} read-only.`,
      {
        hint: `Unmount ${below} or mount it read-only, give the agent another folder, or update Docker to version 25 or later.`,
      },
    );
  });
}
