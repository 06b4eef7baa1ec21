import type { ImageReference } from "./engine-facts.ts";

/** How a container came to its end, as far as the engine can tell. */
export type ContainerEnd =
  | { kind: "exited"; code: number; oomKilled: boolean }
  /** Somebody else took it away. */
  | { kind: "removed" }
  /** The engine went away under it, and came back or did not. */
  | { kind: "engine_restarted" }
  | { kind: "engine_gone" };

export interface ContainerSeen {
  id: string;
  image?: ImageReference;
  /** Undefined while it lives. */
  end?: ContainerEnd;
}
