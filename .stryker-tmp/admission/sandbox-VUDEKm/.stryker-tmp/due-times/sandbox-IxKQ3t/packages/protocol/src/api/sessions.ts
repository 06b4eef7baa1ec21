import type { Session } from "../records/session.ts";

/** A session with derived fields. */
export interface SessionView extends Session {
  expired: boolean;
  /** Why the session cannot be resumed in a terminal; null if it can. */
  obstacle: { short: string; message: string; hint: string } | null;
}
