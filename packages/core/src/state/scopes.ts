/** What a caller may do. Every scope may read. */
export const scopes = ["read", "trigger", "answer", "admin"] as const;
export type Scope = (typeof scopes)[number];
