/** A tool call that needs somebody's word. */
export interface PermissionRequest {
  toolUseId: string;
  tool: string;
  input: Record<string, unknown>;
  /** What Claude Code itself says about it. */
  description?: string;
}

export type PermissionAnswer =
  | { behavior: "allow"; updatedInput: Record<string, unknown> }
  | { behavior: "deny"; message: string };
