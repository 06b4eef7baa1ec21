/** A tool call that needs a decision by a person. */
export interface PermissionRequest {
  toolUseId: string;
  tool: string;
  input: Record<string, unknown>;
  /** Claude Code's description of the call. */
  description?: string;
}

export type PermissionAnswer =
  | { behavior: "allow"; updatedInput: Record<string, unknown> }
  | { behavior: "deny"; message: string };

export const approvalTimeoutMs = 30 * 60_000;
