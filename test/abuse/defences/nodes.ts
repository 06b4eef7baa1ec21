import type { Defence } from "../defence.ts";

const schema = "packages/core/src/state/postgres/schema.ts";
const peers = "packages/core/src/fleet/nodes/peers.ts";
const leaseTest = "test/nodes/deciders.test.ts";
const peersTest = "test/nodes/peers.test.ts";
const storeTest = "test/nodes/store.test.ts";

export const nodeDefences: readonly Defence[] = [
  {
    name: "a write asks whether its node is still counted as live",
    guards: "the record, against a node that others have taken over from",
    edit: { file: schema, from: "AND status = 'live'\n      ) THEN", to: ") THEN" },
    red: { file: storeTest, test: "once, and its writes are refused" },
  },
  {
    name: "a write asks whether its process is the node's last one",
    guards: "the record, against a process that was thought to be dead",
    edit: {
      file: schema,
      from: "AND epoch = writer_epoch AND",
      to: "AND epoch >= writer_epoch AND",
    },
    red: { file: storeTest, test: "what an earlier process of the node writes is refused" },
  },
  {
    name: "a runner ends with the lease of its node",
    guards: "workspaces and money, against a node that is cut off and goes on",
    edit: {
      file: "packages/core/src/state/lease-file.ts",
      from: "lease.term === term && now < lease.until",
      to: "lease.term === term && now < lease.until + now",
    },
    red: { file: leaseTest, test: "not at its end" },
  },
  {
    name: "what was begun before a node was lost is over, whatever the lease says now",
    guards: "workspaces and money, against runners of a node that came back",
    edit: {
      file: "packages/core/src/state/lease-file.ts",
      from: "lease.term === term &&",
      to: "lease.term !== `$" + "{term} ` &&",
    },
    red: { file: leaseTest, test: "not under another" },
  },
  {
    name: "questions of peers are signed",
    guards: "what a node knows, against whoever reaches its port",
    edit: {
      file: peers,
      from:
        "if (!isSeal(seal, signed(secret, `ask $" +
        "{node} $" +
        "{time} $" +
        "{nonce} $" +
        "{asker}`))) return undefined;",
      to: "if (!isSeal(seal, seal)) return undefined;",
    },
    red: { file: peersTest, test: "a question that nobody of the fleet has signed is refused" },
  },
  {
    name: "a question of a peer is answered once",
    guards: "what a node knows, against recorded questions",
    edit: {
      file: peers,
      from: "if (!this.seen.isNew(nonce)) return undefined;",
      to: "this.seen.isNew(nonce);",
    },
    red: { file: peersTest, test: "a recorded question is refused when it is sent again" },
  },
  {
    name: "a question of a peer has a time",
    guards: "what a node knows, against recorded questions",
    edit: {
      file: peers,
      from: "if (Math.abs(Date.now() - Number(time)) > maxClockSkewMs) return undefined;",
      to: "",
    },
    red: { file: peersTest, test: "a question whose time is 61000 ms off is refused" },
  },
  {
    name: "connections of strangers to a node end soon",
    guards: "the fleet's memory, against hosts that reach the port for peers",
    edit: {
      file: peers,
      from: "headersTimeout: 2_000,\n  requestTimeout: 2_000,",
      to: "headersTimeout: 0,\n  requestTimeout: 0,",
    },
    red: { file: peersTest, test: "slow, large and many connections of strangers are closed" },
  },
  {
    name: "answers of peers are signed",
    guards: "running jobs, against whoever says that the store is away",
    edit: {
      file: peers,
      from:
        "if (!isSeal(seal, signed(secret, `answer $" + "{nonce} $" + "{body}`))) return undefined;",
      to: "if (!isSeal(seal, seal)) return undefined;",
    },
    red: { file: peersTest, test: "an answer that nobody of the fleet has signed" },
  },
];
