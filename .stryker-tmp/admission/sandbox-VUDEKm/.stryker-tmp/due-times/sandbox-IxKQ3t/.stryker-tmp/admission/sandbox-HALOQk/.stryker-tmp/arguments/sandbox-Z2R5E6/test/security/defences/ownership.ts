import type { Defence } from "../defence.ts";

const test = "test/security/file-ownership.test.ts";

export const ownershipDefences: readonly Defence[] = [
  {
    name: "files of another user are refused",
    protects: "the fleet's user, against a planted fleet file, `.env` or agent file",
    mark: "foreign-owner",
    without: "$1 < 0",
    failingTest: { file: test, test: "refuses herdctl.yaml" },
  },
  {
    name: "files that other users may change are refused",
    protects: "the fleet's user, against other users of the machine",
    mark: "world-writable",
    without: "",
    failingTest: { file: test, test: "refuses herdctl.yaml with mode" },
  },
  {
    name: "a link is resolved before its owner is checked",
    protects: "the fleet's user, against a link to a file of another user",
    mark: "owner-behind-link",
    without: "return $2;",
    failingTest: { file: test, test: "checks the target of a link and the link itself" },
  },
  {
    name: "commands do not use a fleet that another user planted",
    protects: "every command, completion included, against a planted state folder and socket",
    mark: "fleet-file-owner",
    without: "",
    failingTest: {
      file: test,
      test: "refuses in every command to talk to a planted fleet, and completes nothing",
    },
  },
  {
    name: "a socket of another user is not used",
    protects: "commands and tokens, against another user who listens in our place",
    mark: "socket-owner",
    without: "",
    failingTest: { file: test, test: "does not use a token file or a socket of another user" },
  },
  {
    name: "the search for herdctl.yaml ends at the home directory",
    protects: "the user, against a fleet file in a folder above",
    mark: "search-ends-at-home",
    without: "$right !== undefined",
    failingTest: { file: test, test: "ends at the home directory" },
  },
];
