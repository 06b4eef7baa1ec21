import type { Fix } from "./fix.ts";

export const checkGroups = ["machine", "claude", "fleet", "agents", "docker"] as const;
export type CheckGroup = (typeof checkGroups)[number];

/** One thing that was looked at, and what is to be done if it is not well. */
export interface Finding {
  /** What was looked at: `engine`, `credentials`, … */
  name: string;
  /** Whose it is, where it is one agent's. */
  agent?: string;
  /** `unknown`: it was not checked, and nothing is claimed. */
  verdict: "ok" | "warning" | "failed" | "unknown";
  message: string;
  hint?: string;
  /** The file, and the line in it, where it can be changed. */
  place?: string;
  /** What `--fix` does about it. */
  fix?: Fix;
}

/** A finding as the doctor reports it. */
export interface Check extends Finding {
  group: CheckGroup;
  /** It was not well, and has been mended. */
  fixed?: true;
}

export function ok(name: string, message: string): Finding {
  return { name, verdict: "ok", message };
}

export function warning(name: string, message: string, hint: string): Finding {
  return { name, verdict: "warning", message, hint };
}

export function failed(name: string, message: string, hint: string): Finding {
  return { name, verdict: "failed", message, hint };
}

export function unknown(name: string, message: string, hint?: string): Finding {
  return { name, verdict: "unknown", message, ...(hint !== undefined && { hint }) };
}
