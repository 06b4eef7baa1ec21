import type { Defence } from "../defence.ts";

const spec = "packages/core/src/runner/container/spec.ts";
const guard = "packages/core/src/runner/container/workspace-guard.ts";
const specTest = "test/docker/spec.test.ts";
const attacksTest = "test/docker/git-attacks.test.ts";
const privateGitTest = "test/docker/private-git.test.ts";
const workspaceTest = "test/docker/workspace.test.ts";
const reviewed = { file: specTest, test: "the description of a default container is the one" };

export const containerDefences: readonly Defence[] = [
  {
    name: "all capabilities are dropped",
    guards: "the host's kernel",
    edit: { file: spec, from: 'CapDrop: ["ALL"],', to: "CapDrop: []," },
    red: { file: "test/docker/inspect.test.ts", test: "every item of the CIS Docker Benchmark" },
  },
  {
    name: "no new privileges",
    guards: "the host's kernel, against programs with set-uid",
    edit: { file: spec, from: '"no-new-privileges:true", seccompOption', to: "seccompOption" },
    red: reviewed,
  },
  {
    name: "a seccomp profile of our own",
    guards: "the host's kernel, against io_uring, keyrings and rare socket families",
    edit: {
      file: spec,
      from: '"no-new-privileges:true", seccompOption',
      to: '"no-new-privileges:true"',
    },
    red: { file: "test/docker/seccomp.test.ts", test: "dangerous system calls fail" },
  },
  {
    name: "a container is made of the image's id",
    guards: "the container, against a name that is moved to another image before the start",
    edit: { file: spec, from: "Image: engine.image.id,", to: "Image: engine.image.name," },
    red: { file: specTest, test: "the container is made of the image's id" },
  },
  {
    name: "a limit of processors by default",
    guards: "the processors of the machine",
    edit: { file: spec, from: "config.cpus ?? defaultCpus(engine)", to: "config.cpus" },
    red: { file: specTest, test: "processors are limited to 2" },
  },
  {
    name: "a limit on the size of a file",
    guards: "the disk of the machine",
    edit: { file: spec, from: '{ Name: "fsize", Soft: disk, Hard: disk },', to: "" },
    red: reviewed,
  },
  {
    name: "the service gains no privileges",
    guards: "the machine, against agents on the host that use set-uid programs",
    edit: {
      file: "packages/cli/src/service/systemd-unit.ts",
      from: '  "NoNewPrivileges=yes",\n',
      to: "",
    },
    red: { file: "test/service/files.test.ts", test: "the unit is the one that was reviewed" },
  },
  {
    name: "a limit on the length of a message",
    guards: "the memory of the runner, against a flood in the name of `claude`",
    edit: {
      file: "packages/core/src/runner/runtime/observe.ts",
      from: "stdout.write(gate.push(chunk))",
      to: "stdout.write(chunk)",
    },
    red: { file: "test/docker/host-resources.test.ts", test: "a flood of messages fills neither" },
  },
  {
    name: "a limit on what waits for the log",
    guards: "the memory of the runner, on a slow disk",
    edit: {
      file: "packages/core/src/runner/runtime/output-gate.ts",
      from: "if (this.backlog + size > bound) {",
      to: "if (bound === -1) {",
    },
    red: { file: "test/runtime/output-gate.test.ts", test: "drop messages for a reader" },
  },
  {
    name: "a limit on the size of a job's log",
    guards: "the disk of the state",
    edit: {
      file: "packages/core/src/state/output-writer.ts",
      from: "if (this.#size + size <= limit) {",
      to: "if (limit !== -1) {",
    },
    red: { file: "test/state/output.test.ts", test: "a log that has reached its size" },
  },
  {
    name: "a limit on small files that an agent can write beside its transcript",
    guards: "the memory of fleet and runner",
    edit: {
      file: "packages/core/src/runner/runtime/session-file/planted.ts",
      from: "handle === undefined || (await handle.stat()).size > maxBytes",
      to: "handle === undefined",
    },
    red: {
      file: "test/session-file/planted.test.ts",
      test: "a small file that has become a large",
    },
  },
  {
    name: "a run is stopped before it has filled the disk",
    guards: "the disk of the workspace and of the state",
    edit: {
      file: "packages/core/src/runner/running-attempt.ts",
      from: "await this.disk.start();",
      to: "",
    },
    red: {
      file: "test/docker/host-resources.test.ts",
      test: "a run is stopped before it has filled",
    },
  },
  {
    name: "a read-only mount is read-only throughout",
    guards: "file systems mounted below a folder that a container gets read-only",
    edit: {
      file: "packages/core/src/runner/container/open-container.ts",
      from: "readOnlyThroughout(plan.mounts, engine, hostMounts())",
      to: "plan.mounts",
    },
    red: {
      file: "test/docker/read-only-mounts.test.ts",
      test: "is not started over a writable file system below it",
    },
  },
  {
    name: "no swap comes on top of the memory",
    guards: "the memory of the machine",
    edit: { file: spec, from: "MemorySwap: memory,", to: "" },
    red: reviewed,
  },
  {
    name: "a limit of processes",
    guards: "the machine, against a fork bomb",
    edit: { file: spec, from: "PidsLimit: pidsLimit,", to: "" },
    red: reviewed,
  },
  {
    name: "the root is read-only",
    guards: "the image's own programs",
    edit: { file: spec, from: "ReadonlyRootfs: config.readOnlyRoot,", to: "" },
    red: reviewed,
  },
  {
    name: "the network that was configured, and no other",
    guards: "all that can be reached from the machine",
    edit: { file: spec, from: "NetworkMode: config.network,", to: 'NetworkMode: "bridge",' },
    red: { file: "test/docker/canary.test.ts", test: "a canary key is found nowhere" },
  },
  {
    name: "what describes this machine stays out of the container",
    guards: "paths, sockets and names of the host",
    edit: {
      file: "packages/core/src/runner/container/environment.ts",
      from: "const travelling = Object.entries(env).filter(([name]) => mayTravel(name));",
      to: "const travelling = Object.entries(env).filter(([name]) => name || mayTravel(name));",
    },
    red: { file: "test/docker/job.test.ts", test: "the key is with the gateway" },
  },
  {
    name: "root in the workspace is not root in the container",
    guards: "the host's files, in a workspace of root",
    edit: {
      file: "packages/core/src/runner/container/user.ts",
      from: "return uid === 0 ? ordinary : {",
      to: "return uid < 0 ? ordinary : {",
    },
    red: { file: workspaceTest, test: "a workspace that the user cannot write is refused" },
  },
  {
    name: "a container never gets the host's `.git`",
    guards: "the host, against planted hooks and configuration",
    edit: {
      file: "packages/core/src/runner/git/workspace-git.ts",
      from: "return [...own, ...objectMounts(found.repository, noAlternates)];",
      to: 'return [{ source: join(workspace, ".git"), target, readOnly: false }, ...(own ? [] : objectMounts(found.repository, noAlternates))];',
    },
    red: { file: attacksTest, test: "a repository in which nothing is set up" },
  },
  {
    name: "files that the operator's git names are mounted read-only",
    guards: "the host, against hooks, filters and included configuration in the work tree",
    edit: {
      file: guard,
      from: 'protect(guard, facts, path, kind === "file" ? { content: "" } : {});',
      to: "if (kind === undefined) protect(guard, facts, path);",
    },
    red: { file: attacksTest, test: "an absolute hooksPath, drivers, aliases and includes" },
  },
  {
    name: "what hooks of husky call is mounted read-only",
    guards: "the host, against scripts that a hook calls",
    edit: {
      file: "packages/core/src/runner/git/named-files.ts",
      from: "if (parent !== search.workspace) addPath",
      to: 'if (parent === "") addPath',
    },
    red: { file: attacksTest, test: "husky" },
  },
  {
    name: "repositories inside of a workspace are mounted read-only",
    guards: "the host, whose git looks into submodules by itself",
    edit: {
      file: "packages/core/src/runner/git/workspace-git.ts",
      from: "...nested.slice(0, maxNested).map((path): NamedFile => {",
      to: "...nested.slice(maxNested).map((path): NamedFile => {",
    },
    red: {
      file: privateGitTest,
      test: "repositories inside of the workspace that are there before are read-only",
    },
  },
  {
    name: "a `.git` file counts only if its repository names the workspace, too",
    guards: "other repositories of the user, against an unpacked archive",
    edit: {
      file: "packages/core/src/runner/git/host-repository.ts",
      from: "if (!(await pointsBack(gitDir, workspace))) {",
      to: 'if (gitDir === "" && !(await pointsBack(gitDir, workspace))) {',
    },
    red: { file: privateGitTest, test: "a `.git` file that names another folder's repository" },
  },
  {
    name: "credentials of remotes stay out of the private configuration",
    guards: "tokens in the addresses of remotes",
    edit: {
      file: "packages/core/src/runner/git/private-config.ts",
      from: "value: withoutCredentials(key, value)",
      to: "value: value || withoutCredentials(key, value)",
    },
    red: { file: privateGitTest, test: "objects are borrowed from where" },
  },
  {
    name: "links in a private git directory are not followed",
    guards: "other files and repositories of the host",
    edit: {
      file: "packages/core/src/runner/git/untrusted-file.ts",
      from: "if (stats.isFile() && isAsNamed) return { handle, bytes: stats.size };",
      to: "if (stats.isFile() || isAsNamed) return { handle, bytes: stats.size };",
    },
    red: {
      file: "test/runner/untrusted-git.test.ts",
      test: "a link on the way to a file is not followed",
    },
  },
  {
    name: "references of a run have names that git allows",
    guards: "the repository, against names that leave their folder",
    edit: {
      file: "packages/core/src/runner/git/untrusted-refs.ts",
      from: "const refused = Object.keys(refs).filter((name) => !isSafeRefName(name));",
      to: 'const refused = Object.keys(refs).filter((name) => name === "" && !isSafeRefName(name));',
    },
    red: {
      file: "test/runner/untrusted-git.test.ts",
      test: "references are read as plain files",
    },
  },
  {
    name: "what is hidden from a container does not come out as a file it keeps",
    guards: "keys and tokens of the fleet, against the artifact tool and the metadata file",
    edit: {
      file: "packages/core/src/runner/workspace-file.ts",
      from: 'return [...secret, ...binding, join(cwd, ".git")];',
      to: 'return [...binding, join(cwd, ".git")].slice(secret.length);',
    },
    red: { file: "test/docker/closed-files.test.ts", test: "what is hidden from a container" },
  },
  {
    name: "folders on the way are mounts of their own",
    guards: "the host, against a folder that is moved aside",
    edit: {
      file: guard,
      from: "pin(guard, facts, dirname(path));\n  add(guard, { source: path",
      to: "add(guard, { source: path",
    },
    red: { file: attacksTest, test: "an absolute hooksPath, drivers, aliases and includes" },
  },
  {
    name: "settings of Claude Code are mounted read-only",
    guards: "the user, who opens the workspace by hand",
    edit: { file: guard, from: 'protect(guard, facts, join(facts.path, ".claude"), {});', to: "" },
    red: { file: workspaceTest, test: "cannot be planted in a repository" },
  },
  {
    name: "servers of the workspace are mounted read-only",
    guards: "the user, who opens the workspace by hand",
    edit: {
      file: guard,
      from: 'protect(guard, facts, join(facts.path, ".mcp.json"), { content: noServers });',
      to: "",
    },
    red: { file: workspaceTest, test: "cannot be planted in a repository" },
  },
  {
    name: "a link in place of what is guarded is refused",
    guards: "the host, against a mount that is led elsewhere",
    edit: {
      file: guard,
      from: `(kind === "absent" && !ifAbsent)) return;
  if (kind === "link" || kind === "other") throw redirected(path);`,
      to: `(kind === "absent" && !ifAbsent)) return;
  if (kind === "other") throw redirected(path);`,
    },
    red: { file: workspaceTest, test: "a link in its place is refused" },
  },
  {
    name: "folders are judged again at the start",
    guards: "secrets, against a link that was changed since",
    edit: {
      file: "packages/core/src/runner/container/volumes.ts",
      from: "if (secret === undefined) return real;",
      to: "if (secret !== null) return real;",
    },
    red: { file: workspaceTest, test: "a link that leads to /etc by the time of the start" },
  },
  {
    name: "volumes are read-only unless they say otherwise",
    guards: "folders that are given to be read",
    edit: {
      file: "packages/core/src/runner/container/volumes.ts",
      from: "return { source: real, target, readOnly: !write };",
      to: "return { source: real, target, readOnly: false };",
    },
    red: { file: workspaceTest, test: "are mounted read-only unless they say rw" },
  },
  {
    name: "links beside a transcript are not followed",
    guards: "files of the host and of other agents, against links in the agent's own sessions",
    edit: {
      file: "packages/core/src/runner/runtime/session-file/planted.ts",
      from: "constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK",
      to: "constants.O_RDONLY | constants.O_NONBLOCK",
    },
    red: {
      file: "test/session-file/planted.test.ts",
      test: "a link in the place of a transcript is not followed",
    },
  },
  {
    name: "folders beside a transcript are no links",
    guards: "sessions of other agents",
    edit: {
      file: "packages/core/src/runner/runtime/session-file/planted.ts",
      from: "(entry) => entry.isDirectory(),",
      to: "(entry) => entry.isDirectory() || entry.isSymbolicLink(),",
    },
    red: {
      file: "test/session-file/planted.test.ts",
      test: "a link in the place of one/subagents leads to nobody else's",
    },
  },
  {
    name: "a bridged server is asked by a list of methods",
    guards:
      "servers on the host, against programs in the container that speak in the name of claude",
    edit: {
      file: "packages/core/src/runner/runtime/mcp/bridge.ts",
      from: ": access !== undefined && this.options.permits(access);",
      to: ": access !== undefined || this.options.permits !== undefined;",
    },
    red: {
      file: "test/runtime/mcp-methods.test.ts",
      test: "a refused method is an error that names it",
    },
  },
  {
    name: "resources of a bridged server need a rule that names them",
    guards: "data on the host, against programs in the container that speak in the name of claude",
    edit: {
      file: "packages/core/src/runner/runtime/mcp/tool-rules.ts",
      from: 'return permission_mode === "bypassPermissions" || named(allowed_tools);',
      to: 'return permission_mode !== "plan" || named(allowed_tools);',
    },
    red: {
      file: "test/runtime/mcp-methods.test.ts",
      test: "a resource of a bridged server is read only if the rules say so",
    },
  },
  {
    name: "a bridged server asks claude for nothing",
    guards: "the model and the user, against a server that asks for samples and answers",
    edit: {
      file: "packages/core/src/runner/runtime/mcp/method-rules.ts",
      from: 'return ("id" in word ? requestsToClaude : notificationsToClaude).has(word.method);',
      to: 'return "id" in word || notificationsToClaude.has(word.method);',
    },
    red: { file: "test/runtime/mcp-methods.test.ts", test: "of what a server asks or says" },
  },
  {
    name: "rules of tools are kept outside of the container",
    guards: "servers on the host, against whoever speaks in the name of claude",
    edit: {
      file: "packages/core/src/runner/runtime/mcp/tool-rules.ts",
      from: "if (isNamed(this.agent.denied_tools, server, tool)) return false;",
      to: "if (server) return true;",
    },
    red: {
      file: "test/runtime/mcp-docker.test.ts",
      test: "cli who forges a word of claude's in the container",
    },
  },
  {
    name: "what a tool leaves running ends the container",
    guards: "the next turn, against a process of an earlier one",
    edit: {
      file: "packages/core/src/runner/container/watch-residents.ts",
      from: "return found.includes(true);",
      to: "return found.length === 0;",
    },
    red: { file: "test/docker/live.test.ts", test: "a tool that leaves something running" },
  },
  {
    name: "a container that would be given something else now is not gone on in",
    guards: "the host, against a repository that was made after the container",
    edit: {
      file: "packages/core/src/runner/container/run-container.ts",
      from: "if (printOf(this.site, plan) !== this.print) return true;",
      to: 'if (this.print === "") return true;',
    },
    red: {
      file: "test/docker/live.test.ts",
      test: "what the container would be given has changed",
    },
  },
];
