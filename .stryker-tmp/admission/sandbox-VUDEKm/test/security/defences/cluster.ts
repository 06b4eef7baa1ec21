import type { Defence } from "../defence.ts";

const leaseTest = "test/cluster/lease-policy.test.ts";
const peersTest = "test/cluster/peer-server.test.ts";
const storeTest = "test/cluster/shared-store.test.ts";

export const clusterDefences: readonly Defence[] = [
  {
    name: "a write checks whether its node still counts as live",
    protects: "the record, against a node that others have taken over from",
    mark: "write-needs-live-node",
    without: { replace: " AND status = 'live'", by: "" },
    failingTest: {
      file: storeTest,
      test: "declares a node lost once by the database clock and refuses its writes",
    },
  },
  {
    name: "a write checks whether its process is the node's latest",
    protects: "the record, against a process that was declared dead",
    mark: "write-needs-current-epoch",
    without: { replace: "epoch = writer_epoch", by: "epoch >= writer_epoch" },
    failingTest: {
      file: storeTest,
      test: "raises the epoch on every join and refuses writes of the earlier process",
    },
  },
  {
    name: "a runner ends with the lease of its node",
    protects: "workspaces and money, against a node that is cut off and continues",
    mark: "lease-expiry",
    without: "return $expression + $4;",
    failingTest: { file: leaseTest, test: "refuses a lease at its expiry" },
  },
  {
    name: "runs from before a node was lost end, whatever the current lease",
    protects: "workspaces and money, against runners of a node that came back",
    mark: "lease-term",
    without: "$left !== `${$right} `",
    failingTest: { file: leaseTest, test: "refuses a lease of another term" },
  },
  {
    name: "requests of peers are signed",
    protects: "status of a node, against everyone who reaches its port",
    mark: "peer-request-signed",
    without: "!$1($2, $2)",
    failingTest: {
      file: peersTest,
      test: "refuses a request without a valid signature",
    },
  },
  {
    name: "a request of a peer is answered once",
    protects: "status of a node, against recorded requests",
    mark: "peer-request-once",
    without: "$expression.operand;",
    failingTest: { file: peersTest, test: "refuses a replayed request" },
  },
  {
    name: "a request of a peer has a time",
    protects: "status of a node, against recorded requests",
    mark: "peer-request-time",
    without: "",
    failingTest: { file: peersTest, test: "refuses a request whose time is 61000 ms off" },
  },
  {
    name: "connections of strangers to a node end soon",
    protects: "the fleet's memory, against hosts that reach the port for peers",
    mark: "peer-connection-timeout",
    without: "{ $properties[0], $2: 0, $3: 0, $properties[3], }",
    failingTest: {
      file: peersTest,
      test: "closes slow, large and excess connections of strangers and still answers a node",
    },
  },
  {
    name: "answers of peers are signed",
    protects: "running jobs, against forged reports that the store is away",
    mark: "peer-response-signed",
    without: "!$1($2, $2)",
    failingTest: { file: peersTest, test: "ignores an answer without a valid signature" },
  },
];
