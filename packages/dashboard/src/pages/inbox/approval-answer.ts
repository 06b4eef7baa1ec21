export type ApprovalAnswer = { decision: "allow" | "deny"; reason?: string } | { reply: string };
