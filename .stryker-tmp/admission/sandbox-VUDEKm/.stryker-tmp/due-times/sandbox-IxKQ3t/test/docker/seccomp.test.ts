import { expect, test } from "vitest";
import { seccompOption } from "../../packages/core/src/runner/containers/seccomp-profile.ts";
import { sharedEngine } from "../support/docker-engine.ts";
import { runJobInContainer, startDockerHarness } from "../support/docker-harness.ts";
import { readJobMessages } from "../support/run-job.ts";
import { toolCallPrompt, toolResultTexts } from "../support/runtimes-under-test.ts";

const engine = await sharedEngine();

const EPERM = 1;
const ENOSYS = 38;
const userNamespace = 0x1000_0000;
const afVsock = 40;
const afAlg = 38;

/** By name: number on x64 and on arm64, arguments, and the expected error. */
const deniedCalls: Record<string, [x64: number, arm64: number, args: number[], error: number]> = {
  io_uring_setup: [425, 425, [1, 0], EPERM],
  io_uring_enter: [426, 426, [0, 0, 0, 0], EPERM],
  io_uring_register: [427, 427, [0, 0, 0, 0], EPERM],
  keyctl: [250, 219, [0, 0], EPERM],
  add_key: [248, 217, [0, 0, 0, 0, 0], EPERM],
  request_key: [249, 218, [0, 0, 0, 0], EPERM],
  userfaultfd: [323, 282, [0], EPERM],
  unshare: [272, 97, [userNamespace], EPERM],
  setns: [308, 268, [0, 0], EPERM],
  "clone with a user namespace": [56, 220, [userNamespace, 0, 0, 0, 0], EPERM],
  clone3: [435, 435, [0, 0], ENOSYS],
  mount: [165, 40, [0, 0, 0, 0, 0], EPERM],
  open_tree: [428, 428, [0, 0, 0], EPERM],
  bpf: [321, 280, [0, 0, 0], EPERM],
  perf_event_open: [298, 241, [0, 0, 0, 0, 0], EPERM],
  "socket of AF_VSOCK": [41, 198, [afVsock, 1, 0], EPERM],
  "socket of AF_ALG": [41, 198, [afAlg, 5, 0], EPERM],
};

test("fails dangerous system calls in a container", async () => {
  const harness = await startDockerHarness(engine, { mode: "obedient" });
  const calls = Object.values(deniedCalls).map(([x64, arm64, args]) =>
    [process.arch === "arm64" ? arm64 : x64, ...args].join(", "),
  );
  // An allowed call may start a child, which must not print as well.
  const one = (call: string) =>
    `$! = 0; $r = syscall(${call}); exit if $$ != $me; print $!+0, " ";`;
  const command = `perl -e '$me = $$; ${calls.map(one).join("")}'`;
  const { job } = await runJobInContainer(harness, {
    prompt: toolCallPrompt(["Bash", { command }]),
  });
  const [said = ""] = toolResultTexts(await readJobMessages(job));
  const errors = said.replaceAll('"', "").trim().split(" ").map(Number);
  expect(Object.keys(deniedCalls).map((name, index) => [name, errors[index]])).toEqual(
    Object.entries(deniedCalls).map(([name, [, , , error]]) => [name, error]),
  );
});

/** Each prints a dot at its end. */
const allowedCommands: Record<string, string> = {
  fork: "perl -e 'fork or exit; wait; print \".\"'",
  "sockets of the machine":
    "perl -MSocket -e 'socket(S, $_, 1, 0) or die for 1, 2, 10; print \".\"'",
  "pipes, files and links": "cd /tmp && mkfifo p && ln -s p q && touch f && flock f echo -n .",
  git: "git init -q /tmp/r && cd /tmp/r && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x && git gc -q && echo -n .",
  "a program with many threads": "cd /tmp && rg --threads 4 -q root /etc/passwd && echo -n .",
  "an archive with its owners and times":
    "tar -C /etc -cf - passwd | tar -C /tmp -xf - && echo -n .",
};

test("runs everyday programs under the profile", async () => {
  const harness = await startDockerHarness(engine, { mode: "obedient" });
  const steps = Object.values(allowedCommands).map((command): [string, object] => [
    "Bash",
    { command: `(${command})` },
  ]);
  const { job } = await runJobInContainer(harness, { prompt: toolCallPrompt(...steps) });
  expect(job.outcome?.code).toBe("success");
  const results = toolResultTexts(await readJobMessages(job));
  expect(Object.keys(allowedCommands).map((name, index) => [name, results[index]])).toEqual(
    Object.keys(allowedCommands).map((name) => [name, '"."']),
  );
});

test("lists no call twice, and none that creates a ring, a key or a namespace", () => {
  const { syscalls } = JSON.parse(seccompOption.replace("seccomp=", ""));
  const names: string[] = syscalls[0].names;
  expect(new Set(names).size).toBe(names.length);
  const closed = /^(io_uring|keyctl|add_key|request_key|userfaultfd|unshare|setns|clone|mount|bpf)/;
  expect(names.filter((name) => closed.test(name))).toEqual([]);
});
