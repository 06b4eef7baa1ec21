import { expect, test } from "vitest";
import {
  baselineOf,
  findLeftovers,
} from "../../packages/core/src/runner/containers/container-reuse.ts";

const program = "/usr/local/bin/claude";
const init = { pid: 10, parent: 3, command: "/sbin/docker-init -- /usr/local/bin/herdctl-launch" };
const claude = { pid: 11, parent: 10, command: `${program} -p --verbose` };
const forwarder = { pid: 15, parent: 10, command: "socat TCP-LISTEN:3128" };

function baselineAfter(...later: { pid: number; parent: number; command: string }[]) {
  const residents = baselineOf([init, claude, forwarder], program);
  if (!residents) return expect.fail("claude is not found");
  return findLeftovers([init, claude, forwarder, ...later], residents).map(({ pid }) => pid);
}

test("accepts claude, init and the forwarder with its connections", () => {
  expect(baselineAfter({ pid: 40, parent: 15, command: "socat TCP-LISTEN:3128" })).toEqual([]);
});

test("reports children of claude and orphans with all their descendants as left over", () => {
  const child = { pid: 40, parent: 11, command: "/bin/bash" };
  const orphan = { pid: 41, parent: 10, command: "socat TCP-LISTEN:3128" };
  const grandchild = { pid: 42, parent: 41, command: program };
  const entered = { pid: 43, parent: 4, command: "sh" };
  expect(baselineAfter(child, orphan, grandchild, entered)).toEqual([40, 41, 42, 43]);
});

test("reports nothing before claude runs, and does not mistake a similar child for it", () => {
  const launcher = { pid: 11, parent: 10, command: "/bin/sh /usr/local/bin/herdctl-launch" };
  expect(baselineOf([init, launcher], program)).toBeUndefined();
  const child = { pid: 5, parent: 11, command: `${program} -p --verbose` };
  const residents = baselineOf([child, init, claude], program);
  expect(residents).toEqual({ individualPids: new Set([11, 10]), treeRootPids: new Set() });
});
