/** The meaning of a colour: done, needs attention, failed, running, waits for a person, neutral. */
export type Tone = "ok" | "warn" | "bad" | "live" | "wait" | "idle";
