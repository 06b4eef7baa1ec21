/** Permissions of a caller. Every scope includes `read`. */
export const scopes = ["read", "trigger", "answer", "admin"] as const;
export type Scope = (typeof scopes)[number];

/** Actions that an MCP client can be allowed beyond reading. */
export const allowances = ["trigger", "answer", "cancel"] as const;

export type Allowance = (typeof allowances)[number];
