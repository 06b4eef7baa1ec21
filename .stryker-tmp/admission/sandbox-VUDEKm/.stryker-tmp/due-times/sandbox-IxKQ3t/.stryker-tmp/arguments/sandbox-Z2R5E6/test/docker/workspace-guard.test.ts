import { describe, expect, test } from "vitest";
import {
  type EntryKind,
  emptyMcpConfig,
  guardWorkspace,
  type WorkspaceFacts,
} from "../../packages/core/src/docker/workspace-guard.ts";

const privateGit = { source: "/private", target: "/workspace/.git", readOnly: false };

function facts(kinds: Record<string, EntryKind>, more: Partial<WorkspaceFacts> = {}) {
  return {
    path: "/w",
    mode: "rw" as const,
    kindOf: (path: string): EntryKind => (path === "/w" ? "folder" : (kinds[path] ?? "absent")),
    git: [privateGit],
    namedByGit: [],
    configFiles: [],
    secretFiles: [],
    empty: { folder: "/empty", file: "/empty-file" },
    ...more,
  };
}

const readOnlyIn = (of: ReturnType<typeof guardWorkspace>) =>
  of.mounts.filter(({ readOnly }) => readOnly).map(({ target }) => target);
describe("workspace guard", () => {
  test("mounts nothing writable in a read-only workspace and hides secrets", () => {
    const guard = guardWorkspace(
      facts(
        { "/w/.env": "file", "/w/state": "folder" },
        {
          mode: "ro",
          secretFiles: ["/w/.env", "/w/state", "/w/none", "/elsewhere"],
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

  test("pins the parent folders of hidden files in a writable workspace", () => {
    const guard = guardWorkspace(
      facts({ "/w/a": "folder", "/w/a/.env": "file" }, { secretFiles: ["/w/a/.env"] }),
    );
    expect(guard.mounts).toContainEqual({
      source: "/w/a",
      target: "/workspace/a",
      readOnly: false,
    });
  });

  test("gives git a private directory and protects claude's settings", () => {
    const guard = guardWorkspace(facts({ "/w/.git": "folder" }));
    expect(guard.mounts).toContainEqual(privateGit);
    expect(guard.mounts.map(({ source }) => source)).not.toContain("/w/.git");
    expect(readOnlyIn(guard)).toEqual(["/workspace/.claude", "/workspace/.mcp.json"]);
    expect(guard.placeholders).toContainEqual({ path: "/w/.mcp.json", content: emptyMcpConfig });
    expect(guard.placeholders).not.toContainEqual({ path: "/w/.git" });
  });

  test("adds a placeholder for the private directory without a repository", () => {
    const guard = guardWorkspace(facts({}));
    expect(guard.placeholders).toContainEqual({ path: "/w/.git" });
    expect(guard.mounts).toContainEqual(privateGit);
  });

  test("mounts files read-only that the operator's git names, whether or not they exist", () => {
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

  test("mounts nothing writable below a read-only folder", () => {
    const kinds: Record<string, EntryKind> = {
      "/w/a": "folder",
      "/w/a/b": "folder",
      "/w/a/b/.env": "file",
    };
    const named = [{ path: "/w/a", kind: "folder" as const }];
    const guard = guardWorkspace(facts(kinds, { secretFiles: ["/w/a/b/.env"], namedByGit: named }));
    expect(readOnlyIn(guard)).toEqual(
      expect.arrayContaining(["/workspace/a", "/workspace/a/b", "/workspace/a/b/.env"]),
    );
  });

  test.each<[string, Record<string, EntryKind>, Partial<WorkspaceFacts>]>([
    ["a protected file", { "/w/.claude": "link" }, {}],
    ["a hidden file", { "/w/.env": "link" }, { secretFiles: ["/w/.env"] }],
    [
      "a parent folder of one",
      { "/w/a": "link", "/w/a/.env": "file" },
      { secretFiles: ["/w/a/.env"] },
    ],
    ["the repository", { "/w/.git": "link" }, {}],
    ["something that is neither file nor folder", { "/w/.mcp.json": "other" }, {}],
  ])("refuses a link in place of %s", (_what, kinds, more) => {
    expect(() => guardWorkspace(facts(kinds, more))).toThrow("could change where it points");
  });
});
