import { describe, expect, test } from "vitest";
import {
  type EntryKind,
  guardWorkspace,
  noServers,
  type WorkspaceFacts,
} from "../../packages/core/src/runner/container/workspace-guard.ts";

function facts(kinds: Record<string, EntryKind>, more: Partial<WorkspaceFacts> = {}) {
  return {
    path: "/w",
    mode: "rw" as const,
    kindOf: (path: string): EntryKind => (path === "/w" ? "folder" : (kinds[path] ?? "absent")),
    gitConfig: "",
    belowRepository: false,
    binding: [],
    secret: [],
    empty: { folder: "/empty", file: "/empty-file" },
    ...more,
  };
}

const readOnlyIn = (of: ReturnType<typeof guardWorkspace>) =>
  of.mounts.filter(({ readOnly }) => readOnly).map(({ target }) => target);
const repository = { "/w/.git": "folder", "/w/.git/config": "file" } as const;

describe("what a container may not touch in its workspace", () => {
  test("nothing may be written where the whole is read-only, and secrets stay hidden", () => {
    const guard = guardWorkspace(
      facts(
        { "/w/.env": "file", "/w/state": "folder" },
        {
          mode: "ro",
          secret: ["/w/.env", "/w/state", "/w/none", "/elsewhere"],
        },
      ),
    );
    expect(guard.placeholders).toEqual([]);
    expect(guard.mounts).toEqual([
      { source: "/w", target: "/workspace", readOnly: true },
      { source: "/empty-file", target: "/workspace/.env", readOnly: true },
      { source: "/empty", target: "/workspace/state", readOnly: true },
    ]);
  });

  test("where it may write, the way to what is hidden is pinned", () => {
    const guard = guardWorkspace(
      facts({ "/w/a": "folder", "/w/a/.env": "file" }, { secret: ["/w/a/.env"] }),
    );
    expect(guard.mounts).toContainEqual({
      source: "/w/a",
      target: "/workspace/a",
      readOnly: false,
    });
  });

  test("what git and claude would run is there and cannot be changed", () => {
    const guard = guardWorkspace(facts({ ...repository, "/w/.git/modules": "folder" }));
    expect(readOnlyIn(guard)).toEqual([
      "/workspace/.git/config",
      "/workspace/.git/hooks",
      "/workspace/.git/commondir",
      "/workspace/.git/modules",
      "/workspace/.claude",
      "/workspace/.mcp.json",
    ]);
    expect(guard.placeholders).toContainEqual({ path: "/w/.mcp.json", content: noServers });
  });

  test("hooks and configuration that git is sent to are protected as well", () => {
    const gitConfig = [
      "[core]",
      '  hooksPath = "tools/hooks"',
      "[include]",
      "  path = more",
      "  path = ~/mine",
      "[extensions]",
      "  worktreeConfig = true",
    ].join("\n");
    const guard = guardWorkspace(
      facts(
        {
          ...repository,
          "/w/tools": "folder",
          "/w/tools/hooks": "folder",
          "/w/.git/more": "file",
        },
        { gitConfig },
      ),
    );
    expect(readOnlyIn(guard)).toEqual(
      expect.arrayContaining([
        "/workspace/tools/hooks",
        "/workspace/.git/more",
        "/workspace/.git/config.worktree",
      ]),
    );
  });

  test("below a repository no other may be made; elsewhere it may", () => {
    const below = guardWorkspace(facts({}, { belowRepository: true }));
    expect(below.placeholders).toContainEqual({ path: "/w/.git" });
    expect(guardWorkspace(facts({})).placeholders).not.toContainEqual({ path: "/w/.git" });
  });

  test("a `.git` that leads elsewhere is protected, and said not to work", () => {
    const guard = guardWorkspace(facts({ "/w/.git": "file" }));
    expect(readOnlyIn(guard)).toContain("/workspace/.git");
    expect(guard.warnings).toEqual([expect.stringContaining("git does not work")]);
  });

  test.each<[string, Record<string, EntryKind>, Partial<WorkspaceFacts>]>([
    ["what is to be protected", { "/w/.claude": "link" }, {}],
    ["what is to be hidden", { "/w/.env": "link" }, { secret: ["/w/.env"] }],
    ["the way to it", { "/w/a": "link", "/w/a/.env": "file" }, { secret: ["/w/a/.env"] }],
    ["something that is neither file nor folder", { "/w/.mcp.json": "other" }, {}],
  ])("a link in place of %s is refused", (_what, kinds, more) => {
    expect(() => guardWorkspace(facts(kinds, more))).toThrow("could make it lead elsewhere");
  });
});
