/** What a colour says: done, look at it, failed, at work, waits for a person, nothing to tell. */
export type Tone = "ok" | "warn" | "bad" | "live" | "wait" | "idle";
