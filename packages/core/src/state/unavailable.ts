import { UserError } from "../errors/user-error.ts";

/** What the file system refuses (no room, no right, no folder), said as a person's matter. */
export function orUnavailable<T>(what: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (cause instanceof UserError || !(cause instanceof Error && "syscall" in cause)) throw cause;
    throw new UserError("state_unavailable", `${what} cannot be used: ${cause.message}`, { cause });
  }
}
