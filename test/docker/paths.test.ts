import { expect, test } from "vitest";
import { toContainer, toHost } from "../../packages/core/src/runner/container/mounts.ts";

const mounts = [
  { source: "/srv/repo", target: "/workspace", readOnly: false },
  { source: "/srv/repo/.git", target: "/workspace/.git", readOnly: false },
  { source: "/var/cache/x", target: "/cache", readOnly: true },
];

test.each([
  ["/srv/repo", "/workspace"],
  ["/srv/repo/src/a.ts", "/workspace/src/a.ts"],
  ["/srv/repo/.git/config", "/workspace/.git/config"],
  ["/var/cache/x/y", "/cache/y"],
])("a path goes in and comes back: %s as %s", (host, container) => {
  expect(toContainer(host, mounts)).toBe(container);
  expect(toHost(container, mounts)).toBe(host);
});

test.each(["/srv/repository", "/srv", "/srv/repo/../other", "/var/cache"])(
  "%s is not seen in the container",
  (path) => {
    expect(toContainer(path, mounts)).toBeUndefined();
  },
);

test.each(["/tmp/x", "/workspace/../etc", "/workspaces"])("%s is the container's own", (path) => {
  expect(toHost(path, mounts)).toBeUndefined();
});
