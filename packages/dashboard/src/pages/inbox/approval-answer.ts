export type ApprovalAnswer =
  | { decision: "allow"; scope: "once" | "job" | "always" }
  | { decision: "deny"; reason?: string }
  | { reply: string };
