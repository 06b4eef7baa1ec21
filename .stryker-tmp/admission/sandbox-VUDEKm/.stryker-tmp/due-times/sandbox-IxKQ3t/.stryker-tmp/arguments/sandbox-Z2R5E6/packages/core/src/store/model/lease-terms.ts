/*
 * Times after which a silent node of a shared store counts as lost, in milliseconds since its last
 * heartbeat. The node counts from when it sent the heartbeat, by its clock; the database counts
 * from when it received it. So a node never considers itself live for longer than others do.
 */

/** A node stops its runs after this time; its runners check every half second. */
export const leaseDurationMs = 8_000;

/** Other nodes take over only after this time, so that the stopped runs have ended. */
export const lostAfterMs = 10_000;

/**
 * A node without the store continues while it knows no peer that could take over. It does not know
 * nodes that join meanwhile, so this limit binds both sides: the node stops before it, others take
 * over after it.
 */
export const maxSelfRenewalMs = 15 * 60_000;
