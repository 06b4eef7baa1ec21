/*
 * The pace of a node, in milliseconds. How long it counts as alive is said in state/node-terms.ts.
 */

export const beatEvery = 2_000;

/** A node that has not been answered for so long asks its peers whether they are. */
export const silentAfter = 3_500;

export const askPeersEvery = 1_000;

/** A peer that takes longer has not answered. */
export const peerPatience = 800;
