import { expect, test } from "vitest";
import { toContainerPath, toHostPath } from "../../packages/core/src/docker/mounts.ts";

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
])("maps the host path %s to %s and back", (host, container) => {
  expect(toContainerPath(host, mounts)).toBe(container);
  expect(toHostPath(container, mounts)).toBe(host);
});

test.each(["/srv/repository", "/srv", "/srv/repo/../other", "/var/cache"])(
  "does not map %s, which the container cannot see",
  (path) => {
    expect(toContainerPath(path, mounts)).toBeUndefined();
  },
);

test.each(["/tmp/x", "/workspace/../etc", "/workspaces"])(
  "keeps %s, which only the container has",
  (path) => {
    expect(toHostPath(path, mounts)).toBeUndefined();
  },
);
