import { expect, test } from "vitest";
import { leftOvers, residentsOf } from "../../packages/core/src/runner/container/residents.ts";

const program = "/usr/local/bin/claude";
const init = { pid: 10, parent: 3, command: "/sbin/docker-init -- /usr/local/bin/herdctl-launch" };
const claude = { pid: 11, parent: 10, command: `${program} -p --verbose` };
const forwarder = { pid: 15, parent: 10, command: "socat TCP-LISTEN:3128" };

function after(...later: { pid: number; parent: number; command: string }[]) {
  const residents = residentsOf([init, claude, forwarder], program);
  if (!residents) return expect.fail("claude is not found");
  return leftOvers([init, claude, forwarder, ...later], residents).map(({ pid }) => pid);
}

test("claude, the first of all and the forwarder with its connections are at home", () => {
  expect(after({ pid: 40, parent: 15, command: "socat TCP-LISTEN:3128" })).toEqual([]);
});

test("a child of claude, and one that lost its parent, are left over with all their children", () => {
  const child = { pid: 40, parent: 11, command: "/bin/bash" };
  const orphan = { pid: 41, parent: 10, command: "socat TCP-LISTEN:3128" };
  const grandchild = { pid: 42, parent: 41, command: program };
  const entered = { pid: 43, parent: 4, command: "sh" };
  expect(after(child, orphan, grandchild, entered)).toEqual([40, 41, 42, 43]);
});

test("before claude is up nobody can be told apart; a child that looks like it is not taken for it", () => {
  const launcher = { pid: 11, parent: 10, command: "/bin/sh /usr/local/bin/herdctl-launch" };
  expect(residentsOf([init, launcher], program)).toBeUndefined();
  const child = { pid: 5, parent: 11, command: `${program} -p --verbose` };
  const residents = residentsOf([child, init, claude], program);
  expect(residents).toEqual({ alone: new Set([11, 10]), families: new Set() });
});
