/** In a file without a library: a command names them before it needs any. */
export const nodeRoles = ["all", "control", "worker"] as const;
