/** In a file without imports, because commands load it at start. */
export const nodeRoles = ["all", "control", "worker"] as const;
