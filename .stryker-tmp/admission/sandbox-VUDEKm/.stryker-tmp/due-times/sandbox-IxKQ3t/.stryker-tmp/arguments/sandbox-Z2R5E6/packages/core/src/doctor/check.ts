import type { Fix } from "./fix.ts";

export const checkGroups = ["machine", "claude", "fleet", "agents", "docker"] as const;
export type CheckGroup = (typeof checkGroups)[number];

/** The result of one check, with a hint if there is a problem. */
export interface Finding {
  /** Name of the check: `engine`, `credentials`, … */
  name: string;
  /** The agent, if the check is about a single agent. */
  agent?: string;
  /** `unknown` means not checked. */
  verdict: "ok" | "warning" | "failed" | "unknown";
  message: string;
  hint?: string;
  /** The file, with line and column if known, in which to fix it. */
  place?: string;
  /** The change that `--fix` makes. */
  fix?: Fix;
}

/** A finding with its group, as reported by the doctor. */
export interface Check extends Finding {
  group: CheckGroup;
  /** Set if the problem has been fixed. */
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

export function notChecked(name: string, message: string, hint?: string): Finding {
  return { name, verdict: "unknown", message, ...(hint !== undefined && { hint }) };
}
