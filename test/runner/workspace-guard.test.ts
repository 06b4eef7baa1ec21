import { describe, expect, test } from "vitest";
import {
  type EntryKind,
  guardWorkspace,
  noServers,
  type WorkspaceFacts,
} from "../../packages/core/src/runner/container/workspace-guard.ts";

const privateGit = { source: "/private", target: "/workspace/.git", readOnly: false };

function facts(kinds: Record<string, EntryKind>, more: Partial<WorkspaceFacts> = {}) {
  return {
    path: "/w",
    mode: "rw" as const,
    kindOf: (path: string): EntryKind => (path === "/w" ? "folder" : (kinds[path] ?? "absent")),
    git: [privateGit],
    namedByGit: [],
    binding: [],
    secret: [],
    empty: { folder: "/empty", file: "/empty-file" },
    ...more,
  };
}

const readOnlyIn = (of: ReturnType<typeof guardWorkspace>) =>
  of.mounts.filter(({ readOnly }) => readOnly).map(({ target }) => target);
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

  test("git sees a private directory, and claude's settings cannot be changed", () => {
    const guard = guardWorkspace(facts({ "/w/.git": "folder" }));
    expect(guard.mounts).toContainEqual(privateGit);
    expect(guard.mounts.map(({ source }) => source)).not.toContain("/w/.git");
    expect(readOnlyIn(guard)).toEqual(["/workspace/.claude", "/workspace/.mcp.json"]);
    expect(guard.placeholders).toContainEqual({ path: "/w/.mcp.json", content: noServers });
    expect(guard.placeholders).not.toContainEqual({ path: "/w/.git" });
  });

  test("where there is no repository, the private directory has a placeholder to lie on", () => {
    const guard = guardWorkspace(facts({}));
    expect(guard.placeholders).toContainEqual({ path: "/w/.git" });
    expect(guard.mounts).toContainEqual(privateGit);
  });

  test("what the operator's git names is read-only, whether or not it is there yet", () => {
    const kinds: Record<string, EntryKind> = {
      "/w/.husky": "folder",
      "/w/.husky/_": "folder",
      "/w/tools": "folder",
      "/w/tools/clean.sh": "file",
    };
    const guard = guardWorkspace(
      facts(kinds, {
        namedByGit: [
          { path: "/w/.husky/_", kind: "folder" },
          { path: "/w/.husky", kind: "folder" },
          { path: "/w/tools/clean.sh", kind: "file" },
          { path: "/w/tools/smudge.sh", kind: "file" },
          { path: "/w/none/of/these.sh", kind: "file" },
        ],
      }),
    );
    expect(readOnlyIn(guard)).toEqual(
      expect.arrayContaining([
        "/workspace/.husky",
        "/workspace/.husky/_",
        "/workspace/tools/clean.sh",
        "/workspace/tools/smudge.sh",
        "/workspace/none",
      ]),
    );
    expect(guard.mounts).toContainEqual({
      source: "/w/tools",
      target: "/workspace/tools",
      readOnly: false,
    });
    expect(guard.placeholders).toEqual(
      expect.arrayContaining([{ path: "/w/tools/smudge.sh", content: "" }, { path: "/w/none" }]),
    );
  });

  test("nothing below a read-only folder is writable", () => {
    const kinds: Record<string, EntryKind> = {
      "/w/a": "folder",
      "/w/a/b": "folder",
      "/w/a/b/.env": "file",
    };
    const named = [{ path: "/w/a", kind: "folder" as const }];
    const guard = guardWorkspace(facts(kinds, { secret: ["/w/a/b/.env"], namedByGit: named }));
    expect(readOnlyIn(guard)).toEqual(
      expect.arrayContaining(["/workspace/a", "/workspace/a/b", "/workspace/a/b/.env"]),
    );
  });

  test.each<[string, Record<string, EntryKind>, Partial<WorkspaceFacts>]>([
    ["what is to be protected", { "/w/.claude": "link" }, {}],
    ["what is to be hidden", { "/w/.env": "link" }, { secret: ["/w/.env"] }],
    ["the way to it", { "/w/a": "link", "/w/a/.env": "file" }, { secret: ["/w/a/.env"] }],
    ["the repository", { "/w/.git": "link" }, {}],
    ["something that is neither file nor folder", { "/w/.mcp.json": "other" }, {}],
  ])("a link in place of %s is refused", (_what, kinds, more) => {
    expect(() => guardWorkspace(facts(kinds, more))).toThrow("could make it lead elsewhere");
  });
});
