import type { Defence } from "../defence.ts";

const runnerSocketTest = "test/runner/runner-socket.test.ts";

export const otherUserDefences: readonly Defence[] = [
  {
    name: "the control socket is private to its owner",
    protects: "the fleet, against other users",
    mark: "control-socket-umask",
    without: "0o000",
    failingTest: {
      file: "test/server/socket-server.test.ts",
      test: "creates the socket for this user only and removes it on stop",
    },
  },
  {
    name: "a short path of a socket is in a private folder",
    protects: "the fleet, against a folder that another user created first",
    mark: "private-socket-folder",
    without: 'if ($expression && $3 === "") $thenStatement',
    failingTest: {
      file: "test/security/other-user.test.ts",
      test: "does not use a socket folder that is",
    },
  },
  {
    name: "a file that is not a socket is not removed",
    protects: "the user's files",
    mark: "only-stale-sockets-removed",
    without: "$right.expression",
    failingTest: {
      file: "test/server/socket-server.test.ts",
      test: "does not remove a file that is not a socket",
    },
  },
  {
    name: "the gateway's socket is private to its owner",
    protects: "use of the key, against other users",
    mark: "gateway-socket-mode",
    without: "0o666",
    failingTest: {
      file: "test/gateway/request-forwarding.test.ts",
      test: "restricts a unix socket to its owner and removes it on stop",
    },
  },
  {
    name: "the state is private to its owner",
    protects: "prompts, sessions and records, against other users",
    mark: "state-folder-mode",
    without: "0o755",
    failingTest: {
      file: "test/store/sqlite-database.test.ts",
      test: "creates a state readable by its owner only, whatever the umask",
    },
  },
  {
    name: "the database is private to its owner",
    protects: "records, against other users",
    mark: "database-file-mode",
    without: "0o644",
    failingTest: {
      file: "test/store/sqlite-database.test.ts",
      test: "creates a state readable by its owner only, whatever the umask",
    },
  },
  {
    name: "secrets of servers are passed in a private file",
    protects: "secrets, against the process list",
    mark: "private-mcp-config",
    without: '$0 && process.getBuiltinModule("node:fs").readFileSync($0, "utf8")',
    failingTest: {
      file: "test/runtimes/runtime-conformance.test.ts",
      test: "'CLIRuntime 325' connects MCP servers by process and by HTTP",
    },
  },
  {
    name: "private files are private to their owner",
    protects: "secrets of servers, against other users",
    mark: "private-file-mode",
    without: "0o644",
    failingTest: {
      file: "test/runtimes/private-config-files.test.ts",
      test: "creates files with secrets for their owner only, whatever the umask allows",
    },
  },
  {
    name: "a runner gets nothing of the fleet's environment",
    protects: "secrets, against tools that read the environment of their parents",
    mark: "runner-environment",
    without: "{ ...process.env, ...$0 }",
    failingTest: {
      file: "test/runner-pool/runner-pool.test.ts",
      test: "starts runners in a separate process session with a minimal environment",
    },
  },
  {
    name: "the token file is private to its owner",
    protects: "the port, against other users",
    mark: "token-file-mode",
    without: "$left.expression.left === 0",
    failingTest: {
      file: "test/server/http-server.test.ts",
      test: "refuses a token file that is blank or open to others",
    },
  },
  {
    name: "a job's id is a name, not a path",
    protects: "files outside the folder of jobs",
    mark: "job-id-name",
    without: "if ($2) $thenStatement",
    failingTest: {
      file: "test/store/jobs.test.ts",
      test: "refuses an unsafe id, a used id and unknown fields",
    },
  },
  {
    name: "a runner disconnects a client with an endless line",
    protects: "the runner's memory, against every client",
    mark: "runner-line-limit",
    without: "",
    failingTest: {
      file: runnerSocketTest,
      test: "disconnects a client with an endless line before handling its request",
    },
  },
  {
    name: "a runner disconnects a client that reads nothing",
    protects: "the runner's memory, against every client",
    mark: "runner-unread-limit",
    without: "$left < 0",
    failingTest: {
      file: runnerSocketTest,
      test: "disconnects a client that reads nothing before the backlog costs memory",
    },
  },
];
