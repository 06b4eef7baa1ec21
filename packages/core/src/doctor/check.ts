/** One thing that was looked at, and what is to be done if it is not well. */
export interface Check {
  /** What was looked at: `engine`, `credentials`, … */
  name: string;
  /** Whose container it was looked at in. */
  agent?: string;
  verdict: "ok" | "warning" | "failed";
  message: string;
  hint?: string;
}

export function ok(name: string, message: string): Check {
  return { name, verdict: "ok", message };
}

export function warning(name: string, message: string, hint: string): Check {
  return { name, verdict: "warning", message, hint };
}

export function failed(name: string, message: string, hint: string): Check {
  return { name, verdict: "failed", message, hint };
}
