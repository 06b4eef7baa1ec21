/*
 * For how long a node of a shared store counts as alive though nothing is heard of it, in
 * milliseconds from its last beat: by its own clock from when that was sent, by the database's from
 * when it came, so that the node never believes itself alive for longer than others do.
 */

/** A node stops what it runs then; its runners look every half second. */
export const leaseFor = 8_000;

/** Others take over not before: what stopped at the end of its lease has had the time to. */
export const lostAfter = 10_000;

/**
 * A node that has lost the store goes on without it while it knows of nobody who could take over.
 * Whoever joins meanwhile is not known to it, so both keep to this: the one stops before, the other
 * takes over after.
 */
export const onItsOwnFor = 15 * 60_000;
