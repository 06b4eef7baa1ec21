import type { Defence } from "../defence.ts";

const runnerSocket = "packages/core/src/runner-process/runner-socket.ts";
const runnerSocketTest = "test/runner-process/runner-socket.test.ts";

export const neighbourDefences: readonly Defence[] = [
  {
    name: "the control socket is made for its owner only",
    guards: "the fleet, against other users",
    edit: {
      file: "packages/server/src/socket/bind.ts",
      from: "const usual = process.umask(0o177);",
      to: "const usual = process.umask(0o000);",
    },
    red: { file: "test/server/socket.test.ts", test: "the socket is for this user alone" },
  },
  {
    name: "a short path for a socket lies in a folder of ours alone",
    guards: "the fleet, against a folder that another user made first",
    edit: {
      file: "packages/server/src/socket/bind.ts",
      from: "if (!isOurs) {",
      to: 'if (!isOurs && folder === "") {',
    },
    red: { file: "test/abuse/neighbour.test.ts", test: "a folder for sockets" },
  },
  {
    name: "what is no socket is not taken away",
    guards: "the user's files",
    edit: {
      file: "packages/server/src/socket/bind.ts",
      from: "if (!lstatSync(path).isSocket() || (await somebodyAnswers(path))) {",
      to: "if (await somebodyAnswers(path)) {",
    },
    red: { file: "test/server/socket.test.ts", test: "what is no socket is not taken away" },
  },
  {
    name: "the gateway's socket is for its owner only",
    guards: "the key's use, against other users",
    edit: {
      file: "packages/core/src/gateway/listen.ts",
      from: "mode = 0o600): Promise<void>",
      to: "mode = 0o666): Promise<void>",
    },
    red: { file: "test/gateway/doors.test.ts", test: "a unix socket is for its owner only" },
  },
  {
    name: "the state is made for its owner only",
    guards: "prompts, sessions and records, against other users",
    edit: {
      file: "packages/core/src/state/folder.ts",
      from: "recursive: true, mode: 0o700",
      to: "recursive: true, mode: 0o755",
    },
    red: { file: "test/state/database.test.ts", test: "is readable by its owner only" },
  },
  {
    name: "the database is made for its owner only",
    guards: "records, against other users",
    edit: {
      file: "packages/core/src/state/sqlite/open.ts",
      from: 'closeSync(openSync(draft, "wx", 0o600));',
      to: 'closeSync(openSync(draft, "wx", 0o644));',
    },
    red: { file: "test/state/database.test.ts", test: "is readable by its owner only" },
  },
  {
    name: "secrets of servers go by a private file",
    guards: "secrets, against the process list",
    edit: {
      file: "packages/core/src/runner/runtime/arguments.ts",
      from: '...flag("--mcp-config", files.mcpConfig),',
      to: '...flag("--mcp-config", JSON.stringify({ mcpServers: Object.fromEntries(Object.entries(agent.mcp_servers).map(([name, { run: _, ...one }]) => [name, one])) })),',
    },
    red: {
      file: "test/runtime/conformance.test.ts",
      test: "'CLIRuntime 325' MCP servers by process and by HTTP, with their secrets",
    },
  },
  {
    name: "private files are for their owner only",
    guards: "secrets of servers, against other users",
    edit: {
      file: "packages/core/src/runner/runtime/private-files.ts",
      from: "writeFileSync(file, text, { mode: 0o600 });",
      to: "writeFileSync(file, text, { mode: 0o644 });",
    },
    red: {
      file: "test/runtime/private-files.test.ts",
      test: "is for its owner only, whatever the umask allows",
    },
  },
  {
    name: "a runner carries nothing of the fleet's environment",
    guards: "secrets, against tools that read the environment of their parents",
    edit: {
      file: "packages/core/src/runner-process/spare.ts",
      from: "env: ownEnvironment(),",
      to: "env: { ...process.env, ...ownEnvironment() },",
    },
    red: {
      file: "test/runner-process/spare.test.ts",
      test: "leads a session of its own and carries nothing of our environment",
    },
  },
  {
    name: "the token file is for its owner only",
    guards: "the port, against other users",
    edit: {
      file: "packages/server/src/access/token-file.ts",
      from: "if ((found.mode & 0o077) !== 0) chmodSync(file, 0o600);",
      to: "if (found.mode === 0) chmodSync(file, 0o600);",
    },
    red: { file: "test/server/port.test.ts", test: "a token that is blank or open to others" },
  },
  {
    name: "a job's id is a name and no path",
    guards: "files beyond the folder of jobs",
    edit: {
      file: "packages/core/src/state/names.ts",
      from: "if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(id)) return id;",
      to: "if (id) return id;",
    },
    red: { file: "test/state/jobs.test.ts", test: "an id that leads elsewhere" },
  },
  {
    name: "a client of a runner whose line has no end is let go",
    guards: "the runner's memory, against whoever connects",
    edit: {
      file: runnerSocket,
      from: "if (reader.isOverfull) client.destroy();",
      to: "",
    },
    red: { file: runnerSocketTest, test: "a client whose line has no end" },
  },
  {
    name: "a client of a runner that reads nothing is let go",
    guards: "the runner's memory, against whoever connects",
    edit: {
      file: runnerSocket,
      from: "if (client.writableLength > mostUnread) client.destroy();",
      to: "if (client.writableLength < 0) client.destroy();",
    },
    red: { file: runnerSocketTest, test: "a client that reads nothing is let go" },
  },
];
