/** How long a permission lasts: this call, the attempts of this job, or all runs of this agent. */
export const allowScopes = ["once", "job", "always"] as const;
export type AllowScope = (typeof allowScopes)[number];
