/** `read` may look and not touch. */
export type Scope = "all" | "read";

export interface Visitor {
  scope: Scope;
  /** By the socket, which only the user himself can open. */
  isLocal: boolean;
}

export const localUser: Visitor = { scope: "all", isLocal: true };
