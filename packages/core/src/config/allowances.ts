/** What somebody who uses the fleet as tools may do beyond looking. */
export const allowances = ["trigger", "answer", "cancel"] as const;

export type Allowance = (typeof allowances)[number];
